//! Estimates as points with intervals: a row for each thing, a panel for each figure of it.

use super::Style;
use plotters::prelude::*;

/// A value and where it may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// One figure of every row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPanel {
    /// Above it.
    pub title: String,
    /// First and last x.
    pub x: (f64, f64),
    /// Whether x is the logarithm to base 10 of what it says.
    pub powers: bool,
    /// By row; a row may have none.
    pub points: Vec<Option<Estimate>>,
}

/// Pixels of a panel without its names, of the names, of a row, and above and below the rows.
const WIDTH: u32 = 230;
const NAMES: u32 = 130;
const ROW: u32 = 24;
const AROUND: u32 = 90;

/// Draws panels side by side as one SVG document; the names of the rows, from above, stand at the first.
///
/// # Errors
/// What the plotting library says, in words.
pub fn rows_svg(names: &[String], panels: &[RowPanel]) -> Result<String, String> {
    let mut text = String::new();
    {
        let size = (NAMES + WIDTH * panels.len() as u32, AROUND + ROW * names.len().max(1) as u32);
        let page = SVGBackend::with_string(&mut text, size).into_drawing_area();
        page.fill(&WHITE).map_err(|e| e.to_string())?;
        let mut rest = page.clone();
        for (number, panel) in panels.iter().enumerate() {
            let width = if number == 0 { WIDTH + NAMES } else { WIDTH };
            let (area, after) = rest.split_horizontally(width);
            let names = (number == 0).then_some(names);
            draw(&area, names, panel).map_err(|e| format!("{}: {e}", panel.title))?;
            rest = after;
        }
        page.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

fn draw(area: &super::Area<'_>, names: Option<&[String]>, panel: &RowPanel) -> Result<(), super::Failed> {
    let last = panel.points.len().saturating_sub(1) as i32;
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 19))
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(if names.is_some() { NAMES } else { 0 })
        .build_cartesian_2d(panel.x.0..panel.x.1, (0..last).into_segmented())?;
    // The first row stands above.
    let name = |row: &SegmentValue<i32>| match (row, names) {
        (SegmentValue::CenterOf(i), Some(names)) => {
            usize::try_from(last - i).ok().and_then(|i| names.get(i)).cloned().unwrap_or_default()
        }
        _ => String::new(),
    };
    let figure = |x: &f64| match (panel.powers, *x) {
        (true, x) if (x - x.round()).abs() > 1e-9 => String::new(),
        (true, x) if x >= 0.0 => format!("{:.0}", 10f64.powf(x)),
        (true, x) => format!("{:.*}", (-x) as usize, 10f64.powf(x)),
        (false, x) => format!("{x:.1}"),
    };
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.08))
        .x_labels(5)
        .y_labels(panel.points.len().max(1))
        .x_label_formatter(&figure)
        .y_label_formatter(&name)
        .label_style(("sans-serif", 15))
        .draw()?;
    let colour = Style::Number(0).colour();
    for (row, estimate) in panel.points.iter().enumerate() {
        let Some(estimate) = estimate else { continue };
        let at = || SegmentValue::CenterOf(last - row as i32);
        let bar = [(estimate.low, at()), (estimate.high, at())];
        chart.draw_series([PathElement::new(bar, colour.stroke_width(2))])?;
        chart.draw_series([Circle::new((estimate.value, at()), 4, colour.filled())])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_named_once_and_has_its_points() {
        let point = |value: f64| Some(Estimate { value, low: value - 0.1, high: value + 0.1 });
        let panel =
            |title: &str, powers, points| RowPanel { title: title.to_owned(), x: (0.0, 1.0), powers, points };
        let names = ["walks-10", "a<b", "plan"].map(str::to_owned);
        let panels = [
            panel("false accepts", false, vec![point(0.5), None, point(0.2)]),
            panel("ms", true, vec![point(0.1), point(0.3), point(0.9)]),
        ];
        let text = rows_svg(&names, &panels).unwrap();
        assert_eq!(text.matches("<circle").count(), 5);
        for name in ["walks-10", "a&lt;b", "plan", "false accepts", "ms"] {
            assert_eq!(text.matches(&format!("\n{name}\n")).count(), 1, "{name}: {text}");
        }
        assert_eq!(rows_svg(&names, &panels).unwrap(), text);
    }
}
