//! Panels in a grid, each with lines, bands and error bars over two linear axes.

use super::page::{Anchor, LINE, Marker, Page, Paint, shorten, text_width, ticks};

/// A line of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend; lines without a name are not listed.
    pub label: Option<String>,
    /// Its colour and width.
    pub style: Style,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
    /// A shaded band behind the line: x, lower and upper y.
    pub band: Vec<(f64, f64, f64)>,
    /// Half the height of the error bar at each point; empty for no bars.
    pub errors: Vec<f64>,
}

/// The colour and width of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// One among many: thin and grey.
    #[default]
    Grey,
    /// The line that the chart is about: thick and red.
    Red,
    /// One among few: the colour of this number, with markers.
    Number(usize),
}

impl Style {
    const fn paint(self) -> Paint {
        const COLOURS: [Paint; 6] =
            [Paint::Blue, Paint::Vermilion, Paint::Green, Paint::Purple, Paint::Orange, Paint::Sky];
        match self {
            Self::Grey => Paint::Grey,
            Self::Red => Paint::Vermilion,
            Self::Number(number) => COLOURS[number % COLOURS.len()],
        }
    }

    const fn width(self) -> f64 {
        match self {
            Self::Grey => 1.0,
            Self::Red => 3.0,
            Self::Number(_) => 2.0,
        }
    }

    const fn band_opacity(self) -> f64 {
        match self {
            Self::Grey => 0.12,
            Self::Red | Self::Number(_) => 0.25,
        }
    }
}

/// One chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// The text above it.
    pub title: String,
    /// The text below the x axis.
    pub x_label: String,
    /// The text beside the y axis.
    pub y_label: String,
    /// First and last x.
    pub x: (f64, f64),
    /// Lowest and highest y.
    pub y: (f64, f64),
    /// The lines, drawn in this order.
    pub series: Vec<Series>,
    /// True for a legend at the right: for lines that fall.
    pub legend_right: bool,
}

/// Width and height of a panel in pixels: alone on its page, and in a grid.
const ALONE: (f64, f64) = (760.0, 480.0);
const IN_GRID: (f64, f64) = (380.0, 280.0);

/// Draws panels in rows of `columns` as one SVG document.
pub fn svg(panels: &[Panel], columns: usize) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns).max(1);
    let size = if panels.len() == 1 { ALONE } else { IN_GRID };
    let mut page = Page::default();
    for (place, panel) in panels.iter().enumerate() {
        let corner = (size.0 * (place % columns) as f64, size.1 * (place / columns) as f64);
        draw(&mut page, panel, corner, size);
    }
    let title = panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>().join("; ");
    let description = panels.iter().map(describe).collect::<Vec<_>>().join("\n");
    page.finish(size.0 * columns as f64, size.1 * rows as f64, &title, &description)
}

/// The area inside the axes of a panel.
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Area {
    /// The pixel of a point. Points outside the ranges are drawn on the border.
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |value: f64, (low, high): (f64, f64)| {
            if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
        };
        let across = self.left + (self.right - self.left) * share(x, self.x);
        (across, self.bottom - (self.bottom - self.top) * share(y, self.y))
    }
}

fn draw(page: &mut Page, panel: &Panel, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let area = Area {
        left: x + 58.0,
        right: x + width - 16.0,
        top: y + 36.0,
        bottom: y + height - 48.0,
        x: panel.x,
        y: panel.y,
    };
    page.name(x + width / 2.0, y + 22.0, Anchor::Middle, "head", &panel.title);
    for tick in ticks(panel.y, 6) {
        let (_, at) = area.place((panel.x.0, tick));
        page.line("grid", (area.left, at), (area.right, at));
        page.text(area.left - 6.0, at + 4.5, Anchor::End, "", &format!("{tick:.1}"));
    }
    for tick in ticks(panel.x, 8) {
        let (at, _) = area.place((tick, panel.y.0));
        page.line("grid", (at, area.top), (at, area.bottom));
        page.text(at, area.bottom + LINE, Anchor::Middle, "", &format!("{tick:.0}"));
    }
    page.line("axis", (area.left, area.top), (area.left, area.bottom));
    page.line("axis", (area.left, area.bottom), (area.right, area.bottom));
    page.text(f64::midpoint(area.left, area.right), y + height - 12.0, Anchor::Middle, "", &panel.x_label);
    page.upwards(x + 18.0, f64::midpoint(area.top, area.bottom), &panel.y_label);
    for series in &panel.series {
        draw_series(page, series, &area);
    }
    draw_legend(page, panel, &area);
}

fn draw_series(page: &mut Page, series: &Series, area: &Area) {
    let (paint, width) = (series.style.paint(), series.style.width());
    if !series.band.is_empty() {
        let lower = series.band.iter().map(|band| (band.0, band.1));
        let upper = series.band.iter().rev().map(|band| (band.0, band.2));
        let outline: Vec<(f64, f64)> = lower.chain(upper).map(|point| area.place(point)).collect();
        page.band(&outline, paint, series.style.band_opacity());
    }
    let points: Vec<(f64, f64)> = series.points.iter().map(|point| area.place(*point)).collect();
    page.polyline(&points, paint, width);
    for (&(x, y), &error) in series.points.iter().zip(&series.errors).filter(|(_, error)| **error > 0.0) {
        page.polyline(&[area.place((x, y - error)), area.place((x, y + error))], paint, width);
    }
    if matches!(series.style, Style::Number(_)) {
        for (&at, &(x, y)) in points.iter().zip(&series.points) {
            let name = series.label.as_deref().map_or(String::new(), |label| format!("{label}: "));
            page.marker(at, Marker::Dot, paint, &format!("{name}{x} {y:.3}"));
        }
    }
}

fn draw_legend(page: &mut Page, panel: &Panel, area: &Area) {
    let listed: Vec<(String, Style)> =
        panel.series.iter().filter_map(|s| Some((shorten(s.label.as_ref()?), s.style))).collect();
    let width = listed.iter().map(|(label, _)| text_width(label)).fold(0.0, f64::max) + 36.0;
    let left = if panel.legend_right { (area.right - width).max(area.left) } else { area.left + 8.0 };
    for (row, (label, style)) in listed.iter().enumerate() {
        let y = area.top + 12.0 + LINE * row as f64;
        page.polyline(&[(left, y), (left + 18.0, y)], style.paint(), style.width());
        page.text(left + 24.0, y + 4.5, Anchor::Start, "", label);
    }
}

/// The points of the named lines in words.
fn describe(panel: &Panel) -> String {
    let lines = panel.series.iter().filter_map(|series| {
        let points: Vec<String> = series.points.iter().map(|(x, y)| format!("{x} {y:.3}")).collect();
        Some(format!("{}: {}", series.label.as_ref()?, points.join(", ")))
    });
    let lines: Vec<String> = lines.collect();
    format!("{}, {} over {}. {}", panel.title, panel.y_label, panel.x_label, lines.join("; "))
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
        let text = svg(&[panel("<Omissions>")], 1);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        assert_eq!(text.matches("<polygon").count(), 1, "the band");
        assert_eq!(text.matches("<polyline").count(), 4, "two lines, one bar and one legend mark");
        for word in ["&lt;Omissions&gt;", "terms removed", "share", ">mean<"] {
            assert!(text.contains(word), "{word}");
        }
        assert_eq!(svg(&[panel("<Omissions>")], 1), text, "the same figure, the same bytes");
    }

    #[test]
    fn panels_stand_in_a_grid() {
        let text = svg(&[panel("a"), panel("b"), panel("c")], 2);
        assert!(text.contains("width=\"760\" height=\"560\""), "{}", &text[..200]);
    }

    #[test]
    fn values_outside_the_ranges_stay_inside_the_panel() {
        let mut outside = panel("a");
        outside.series[1].points = vec![(-5.0, f64::INFINITY), (20.0, -3.0)];
        outside.x = (1.0, 1.0);
        let text = svg(&[outside], 1);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    }
}
