//! Charts as SVG: panels in a grid, lines with bands or error bars; estimates in rows; stacked bars and columns; points over sizes.

mod page;
mod points;
mod rows;
mod stacked;

pub use page::Paint;
pub use page::escaped;
pub use points::{Point, Points, points_svg};
pub use rows::{Estimate, RowPanel, rows_svg};
pub use stacked::{ColumnPanel, Columns, Part, Stacked, StackedRow, columns_svg, stacked_svg};

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// A line of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend; one without a name is not listed.
    pub label: Option<String>,
    /// How it is drawn.
    pub style: Style,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
    /// A shaded band behind the line: x, lower and upper y.
    pub band: Vec<(f64, f64, f64)>,
    /// Half the height of the error bar at each point; no bars where it is empty.
    pub errors: Vec<f64>,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// One among many: thin and grey.
    #[default]
    Grey,
    /// What the chart is about: thick and red.
    Red,
    /// One among few: a colour of its own by number, with markers.
    Number(usize),
}

/// Told apart in colour and in grey (after Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

impl Style {
    fn colour(self) -> RGBColor {
        match self {
            Self::Grey => RGBColor(150, 150, 150),
            Self::Red => RGBColor(200, 30, 30),
            Self::Number(number) => COLOURS[number % COLOURS.len()],
        }
    }
    fn width(self) -> u32 {
        match self {
            Self::Grey => 1,
            Self::Red => 3,
            Self::Number(_) => 2,
        }
    }
    fn band(self) -> f64 {
        match self {
            Self::Grey => 0.12,
            Self::Red | Self::Number(_) => 0.25,
        }
    }
}

/// One chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Below the x axis.
    pub x_label: String,
    /// Beside the y axis.
    pub y_label: String,
    /// First and last x.
    pub x: (f64, f64),
    /// Lowest and highest y.
    pub y: (f64, f64),
    /// The lines, drawn in this order.
    pub series: Vec<Series>,
    /// Whether the legend stands at the right: for lines that fall.
    pub legend_right: bool,
}

/// Width and height of a panel in pixels: alone on its page, and in a grid.
const ALONE: (u32, u32) = (760, 480);
const IN_GRID: (u32, u32) = (380, 280);

/// Draws panels in rows of `columns` as one SVG document.
///
/// # Errors
/// What the plotting library says, in words: a range without extent, for example.
pub fn svg(panels: &[Panel], columns: usize) -> Result<String, String> {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns).max(1);
    let size = if panels.len() == 1 { ALONE } else { IN_GRID };
    let mut text = String::new();
    {
        let page = SVGBackend::with_string(&mut text, (size.0 * columns as u32, size.1 * rows as u32))
            .into_drawing_area();
        page.fill(&WHITE).map_err(|e| e.to_string())?;
        for (area, panel) in page.split_evenly((rows, columns)).iter().zip(panels) {
            draw(area, panel).map_err(|e| format!("{}: {e}", panel.title))?;
        }
        page.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Failed = Box<dyn std::error::Error>;

fn draw(area: &Area<'_>, panel: &Panel) -> Result<(), Failed> {
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 17))
        .margin(10)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(panel.x.0..panel.x.1, panel.y.0..panel.y.1)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.08))
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .x_labels(8)
        .y_labels(6)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.1}"))
        .label_style(("sans-serif", 13))
        .draw()?;
    for series in &panel.series {
        line(&mut chart, series)?;
    }
    if panel.series.iter().any(|s| s.label.is_some()) {
        let position =
            if panel.legend_right { SeriesLabelPosition::UpperRight } else { SeriesLabelPosition::UpperLeft };
        chart
            .configure_series_labels()
            .position(position)
            .background_style(WHITE.mix(0.8))
            .label_font(("sans-serif", 13))
            .draw()?;
    }
    Ok(())
}

fn line(chart: &mut Chart<'_, '_>, series: &Series) -> Result<(), Failed> {
    let colour = series.style.colour();
    let stroke = colour.stroke_width(series.style.width());
    if !series.band.is_empty() {
        let lower = series.band.iter().map(|b| (b.0, b.1));
        let upper = series.band.iter().rev().map(|b| (b.0, b.2));
        let outline: Vec<(f64, f64)> = lower.chain(upper).collect();
        chart.draw_series([Polygon::new(outline, colour.mix(series.style.band()))])?;
    }
    let drawn = chart.draw_series(LineSeries::new(series.points.iter().copied(), stroke))?;
    if let Some(label) = &series.label {
        drawn.label(label).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], stroke));
    }
    let bars = series.points.iter().zip(&series.errors).filter(|(_, e)| **e > 0.0);
    chart.draw_series(bars.map(|(&(x, y), &e)| PathElement::new([(x, y - e), (x, y + e)], stroke)))?;
    if matches!(series.style, Style::Number(_)) {
        chart.draw_series(series.points.iter().map(|&point| Circle::new(point, 2, colour.filled())))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(title: &str) -> Panel {
        Panel {
            title: title.to_owned(),
            x_label: "terms removed".to_owned(),
            y_label: "share".to_owned(),
            x: (0.0, 10.0),
            y: (0.0, 1.0),
            legend_right: true,
            series: vec![
                Series { points: vec![(0.0, 0.0), (10.0, 0.9)], ..Series::default() },
                Series {
                    label: Some("mean".to_owned()),
                    style: Style::Red,
                    points: vec![(0.0, 0.1), (10.0, 0.5)],
                    band: vec![(0.0, 0.1, 0.2), (10.0, 0.5, 0.7)],
                    errors: vec![0.0, 0.05],
                },
            ],
        }
    }

    #[test]
    fn a_chart_has_its_lines_band_bars_and_words() {
        let text = svg(&[panel("<Omissions>")], 1).unwrap();
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        // Two lines, one bar and one legend mark; the band is a polygon.
        assert_eq!(text.matches("<polygon").count(), 1);
        for word in ["&lt;Omissions&gt;", "terms removed", "share", "mean"] {
            assert!(text.contains(word), "{word}");
        }
        assert_eq!(svg(&[panel("<Omissions>")], 1).unwrap(), text, "the same figure, the same bytes");
    }

    #[test]
    fn panels_stand_in_a_grid() {
        let text = svg(&[panel("a"), panel("b"), panel("c")], 2).unwrap();
        assert!(text.contains("width=\"760\" height=\"560\""), "{}", &text[..200]);
    }
}
