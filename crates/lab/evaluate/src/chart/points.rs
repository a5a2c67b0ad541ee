//! Points over a logarithmic axis: with a line through the means of each kind, or with their names.

use super::page::{Anchor, LINE, Marker, Page, Paint, sentence_width, text_width};

/// A point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// The name in the title of its markers.
    pub name: String,
    /// Its x, above 0.
    pub x: f64,
    /// By kind, in per cent.
    pub values: Vec<f64>,
}

/// Points of several kinds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Points {
    /// Above the figure.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// The unit of x in the description.
    pub x_unit: &'static str,
    /// Beside the axis.
    pub y_label: String,
    /// True if each point has its name beside it; otherwise a line joins the means.
    pub named: bool,
    /// The legend; each kind has its own marker.
    pub kinds: Vec<(&'static str, Paint)>,
    pub points: Vec<Point>,
    /// Below the figure, a line each.
    pub notes: Vec<String>,
}

const MARGIN: f64 = 16.0;
const PLOT: (f64, f64) = (600.0, 320.0);

/// Draws points as one SVG document.
pub fn points_svg(figure: &Points) -> String {
    let mut page = Page::default();
    let left = MARGIN + 62.0;
    let widest =
        figure.notes.iter().map(|note| sentence_width(note)).fold(1.3 * text_width(&figure.title), f64::max);
    let width = (left + PLOT.0 + 2.0 * MARGIN).max(2.0 * MARGIN + widest);
    page.text(MARGIN, MARGIN + LINE, Anchor::Start, "head", &figure.title);
    let top = 10.0 + legend(&mut page, MARGIN, MARGIN + LINE + 14.0, width - 2.0 * MARGIN, &figure.kinds);
    let bottom = top + PLOT.1;
    let mut sizes: Vec<f64> = figure.points.iter().map(|point| point.x).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let x = place(&sizes, left);
    let y = |value: f64| bottom - PLOT.1 * value / 100.0;
    for tick in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
        page.line("grid", (left, y(tick)), (left + PLOT.0, y(tick)));
        page.text(left - 6.0, y(tick) + 4.5, Anchor::End, "", &format!("{tick:.0}"));
    }
    page.line("axis", (left, bottom), (left + PLOT.0, bottom));
    let mut free = f64::NEG_INFINITY;
    for size in &sizes {
        let (at, name) = (x(*size), format!("{size}"));
        page.line("axis", (at, bottom), (at, bottom + 4.0));
        // Labels that would overlap the one before are left out; their ticks stay.
        if at - text_width(&name) / 2.0 > free {
            page.text(at, bottom + 4.0 + LINE, Anchor::Middle, "", &name);
            free = at + text_width(&name) / 2.0;
        }
    }
    for (kind, (name, paint)) in figure.kinds.iter().enumerate() {
        let means = sizes.iter().filter_map(|size| Some((x(*size), y(mean(&figure.points, *size, kind)?))));
        let means: Vec<(f64, f64)> = means.collect();
        if means.len() > 1 && !figure.named {
            page.polyline(&means, *paint, 2.0);
        }
        for point in &figure.points {
            let Some(value) = point.values.get(kind) else { continue };
            let says = format!("{}: {name} {value:.1} %", point.name);
            page.marker((x(point.x), y(*value)), Marker::of_kind(kind), *paint, &says);
            if figure.named {
                // On the side that has room.
                let right = x(point.x) < left + PLOT.0 / 2.0;
                let (by, anchor) = if right { (9.0, Anchor::Start) } else { (-9.0, Anchor::End) };
                page.text(x(point.x) + by, y(*value) - 6.0, anchor, "", &point.name);
            }
        }
    }
    page.upwards(MARGIN + 12.0, (top + bottom) / 2.0, &figure.y_label);
    page.text(left + PLOT.0 / 2.0, bottom + 8.0 + 2.0 * LINE, Anchor::Middle, "", &figure.x_label);
    let mut below = bottom + 8.0 + 2.0 * LINE;
    for note in &figure.notes {
        below += LINE + 4.0;
        page.sentence(MARGIN, below, "note", note);
    }
    let described = figure.points.iter().map(|point| describe_point(point, figure)).collect::<Vec<_>>();
    page.finish(width, below + MARGIN, &figure.title, &described.join("\n"))
}

/// The x of a size on a logarithmic axis, with room at both ends; a single size is in the middle.
fn place(sizes: &[f64], left: f64) -> impl Fn(f64) -> f64 {
    let (low, high) = (sizes.first().copied().unwrap_or(1.0), sizes.last().copied().unwrap_or(1.0));
    let (low, high) = (low.max(f64::MIN_POSITIVE).ln(), high.max(f64::MIN_POSITIVE).ln());
    move |size| {
        let share = if high > low { (size.ln() - low) / (high - low) } else { 0.5 };
        left + PLOT.0 * (0.06 + 0.88 * share)
    }
}

fn mean(points: &[Point], size: f64, kind: usize) -> Option<f64> {
    let here = points.iter().filter(|point| point.x == size).filter_map(|point| point.values.get(kind));
    let values: Vec<f64> = here.copied().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The kinds with their forms.
fn legend(page: &mut Page, x: f64, y: f64, width: f64, kinds: &[(&'static str, Paint)]) -> f64 {
    let (mut at, mut row) = (x, y);
    for (form, (name, paint)) in kinds.iter().enumerate() {
        let needed = 22.0 + text_width(name) + 16.0;
        if at > x && at + needed > x + width {
            (at, row) = (x, row + LINE + 4.0);
        }
        page.marker((at + 7.0, row + 7.0), Marker::of_kind(form), *paint, name);
        page.text(at + 20.0, row + 12.0, Anchor::Start, "", name);
        at += needed;
    }
    row + LINE + 10.0
}

fn describe_point(point: &Point, figure: &Points) -> String {
    let values: Vec<String> = figure
        .kinds
        .iter()
        .zip(&point.values)
        .map(|((name, _), value)| format!("{name} {value:.1} %"))
        .collect();
    format!("{} ({} {}): {}", point.name, point.x, figure.x_unit, values.join(", "))
}
