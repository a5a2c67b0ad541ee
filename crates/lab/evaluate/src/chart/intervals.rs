//! Estimates as points with intervals: a row for each thing, a panel for each figure of it.

use super::page::{Anchor, LINE, Marker, Page, Paint, name_width, ticks};

/// A value with the interval in which it may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalPoint {
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

/// One figure of every row.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPanel {
    /// The text above it.
    pub title: String,
    /// First and last x.
    pub x: (f64, f64),
    /// True if x is the logarithm to base 10 of the value.
    pub powers: bool,
    /// By row; absent for rows without the figure.
    pub points: Vec<Option<IntervalPoint>>,
}

/// Pixels of a panel, between panels, of a row, and above and below the rows.
const WIDTH: f64 = 200.0;
const GAP: f64 = 30.0;
const ROW: f64 = 24.0;
const ABOVE: f64 = 44.0;
const BELOW: f64 = 36.0;

/// Draws panels side by side as one SVG document, with the names of the rows, from above, at the left.
pub fn rows_svg(names: &[String], panels: &[RowPanel]) -> String {
    let mut page = Page::default();
    let names_end = 16.0 + names.iter().map(|name| name_width(name)).fold(60.0, f64::max);
    let bottom = ABOVE + ROW * names.len().max(1) as f64;
    let middle = |row: usize| ABOVE + ROW * (row as f64 + 0.5);
    for (row, name) in names.iter().enumerate() {
        page.name(names_end, middle(row) + 4.5, Anchor::End, "", name);
    }
    for (number, panel) in panels.iter().enumerate() {
        let left = names_end + 16.0 + (WIDTH + GAP) * number as f64;
        let (low, high) = panel.x;
        let x = |value: f64| {
            let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
            left + WIDTH * share
        };
        page.name(left + WIDTH / 2.0, 24.0, Anchor::Middle, "head", &panel.title);
        for tick in ticks(panel.x, 5) {
            let Some(label) = label(tick, panel.powers) else { continue };
            page.line("grid", (x(tick), ABOVE), (x(tick), bottom));
            page.text(x(tick), bottom + LINE, Anchor::Middle, "", &label);
        }
        page.line("axis", (left, bottom), (left + WIDTH, bottom));
        for (row, estimate) in panel.points.iter().enumerate() {
            let Some(estimate) = estimate else { continue };
            let y = middle(row);
            page.polyline(&[(x(estimate.low), y), (x(estimate.high), y)], Paint::Blue, 2.0);
            let says = format!("{} {}", names.get(row).map_or("", String::as_str), describe(estimate, panel));
            page.marker((x(estimate.value), y), Marker::Circle, Paint::Blue, says.trim());
        }
    }
    let width = names_end + 16.0 + (WIDTH + GAP) * panels.len() as f64;
    let described: Vec<String> = panels.iter().map(|panel| describe_panel(names, panel)).collect();
    let title = panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>().join("; ");
    page.finish(width, bottom + BELOW, &title, &described.join("\n"))
}

/// The text of a tick; of powers of ten the whole ones only.
fn label(tick: f64, powers: bool) -> Option<String> {
    match (powers, tick) {
        (true, x) if (x - x.round()).abs() > 1e-9 => None,
        (true, x) if x >= 0.0 => Some(format!("{:.0}", 10f64.powf(x))),
        (true, x) => Some(format!("{:.*}", (-x) as usize, 10f64.powf(x))),
        (false, x) => Some(format!("{x:.1}")),
    }
}

fn describe(estimate: &IntervalPoint, panel: &RowPanel) -> String {
    let [value, low, high] = [estimate.value, estimate.low, estimate.high]
        .map(|x| if panel.powers { 10f64.powf(x) } else { x })
        .map(|x| format!("{x:.3}"));
    if low == high { value } else { format!("{value} [{low}, {high}]") }
}

fn describe_panel(names: &[String], panel: &RowPanel) -> String {
    let rows = names.iter().zip(&panel.points);
    let rows: Vec<String> = rows
        .filter_map(|(name, estimate)| Some(format!("{name} {}", describe(estimate.as_ref()?, panel))))
        .collect();
    format!("{}: {}", panel.title, rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_named_once_and_has_its_points() {
        let point = |value: f64| Some(IntervalPoint { value, low: value - 0.1, high: value + 0.1 });
        let panel =
            |title: &str, powers, points| RowPanel { title: title.to_owned(), x: (0.0, 1.0), powers, points };
        let names = ["walks-10", "a<b", "plan"].map(str::to_owned);
        let panels = [
            panel("false accepts", false, vec![point(0.5), None, point(0.2)]),
            panel("ms", true, vec![point(0.1), point(0.3), point(0.9)]),
        ];
        let text = rows_svg(&names, &panels);
        assert_eq!(text.matches("<circle").count(), 5);
        for name in ["walks-10", "a&lt;b", "plan", "false accepts", "ms"] {
            assert_eq!(text.matches(&format!(">{name}</text>")).count(), 1, "{name}: {text}");
        }
        assert_eq!(rows_svg(&names, &panels), text);
    }
}
