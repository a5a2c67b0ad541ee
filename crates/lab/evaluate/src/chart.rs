//! Charts as SVG: lines with bands or error bars, stacked bars and columns, and points over sizes.
//!
//! The workspace draws charts with [`Page`] instead of a plotting library. plotters, which drew some of them before, cannot give a shape a
//! `<title>` (shown when it is pointed at), a description for screen readers, a hatched area, or colours that follow the reader's light or
//! dark setting.

mod page;

pub use page::{Anchor, Marker, Page, Paint, STYLE, escaped};

use page::{LINE, name_width, sentence_width, shorten, steps, text_width, ticks};

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
    svg_with_notes(panels, columns, &[])
}

/// As [`svg`], with notes below the panels, a line each.
pub fn svg_with_notes(panels: &[Panel], columns: usize, notes: &[String]) -> String {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns).max(1);
    let size = if panels.len() == 1 { ALONE } else { IN_GRID };
    let mut page = Page::default();
    for (place, panel) in panels.iter().enumerate() {
        let corner = (size.0 * (place % columns) as f64, size.1 * (place / columns) as f64);
        draw(&mut page, panel, corner, size);
    }
    let title = panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>().join("; ");
    let description = panels.iter().map(describe_lines).collect::<Vec<_>>().join("\n");
    let widest = notes.iter().map(|note| 2.0 * MARGIN + sentence_width(note)).fold(0.0, f64::max);
    let (width, mut below) = ((size.0 * columns as f64).max(widest), size.1 * rows as f64);
    for note in notes {
        below += LINE + 4.0;
        page.sentence(MARGIN, below, "note", note);
    }
    let height = if notes.is_empty() { below } else { below + MARGIN };
    page.finish(width, height, &title, &description)
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
fn describe_lines(panel: &Panel) -> String {
    let lines = panel.series.iter().filter_map(|series| {
        let points: Vec<String> = series.points.iter().map(|(x, y)| format!("{x} {y:.3}")).collect();
        Some(format!("{}: {}", series.label.as_ref()?, points.join(", ")))
    });
    let lines: Vec<String> = lines.collect();
    format!("{}, {} over {}. {}", panel.title, panel.y_label, panel.x_label, lines.join("; "))
}

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
const POINTS_PLOT: (f64, f64) = (600.0, 320.0);

/// Draws points as one SVG document.
pub fn points_svg(figure: &Points) -> String {
    let mut page = Page::default();
    let left = MARGIN + 62.0;
    let widest =
        figure.notes.iter().map(|note| sentence_width(note)).fold(1.3 * text_width(&figure.title), f64::max);
    let width = (left + POINTS_PLOT.0 + 2.0 * MARGIN).max(2.0 * MARGIN + widest);
    page.text(MARGIN, MARGIN + LINE, Anchor::Start, "head", &figure.title);
    let top = 10.0 + legend(&mut page, MARGIN, MARGIN + LINE + 14.0, width - 2.0 * MARGIN, &figure.kinds);
    let bottom = top + POINTS_PLOT.1;
    let mut sizes: Vec<f64> = figure.points.iter().map(|point| point.x).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let x = place(&sizes, left);
    let y = |value: f64| bottom - POINTS_PLOT.1 * value / 100.0;
    for tick in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
        page.line("grid", (left, y(tick)), (left + POINTS_PLOT.0, y(tick)));
        page.text(left - 6.0, y(tick) + 4.5, Anchor::End, "", &format!("{tick:.0}"));
    }
    page.line("axis", (left, bottom), (left + POINTS_PLOT.0, bottom));
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
                let right = x(point.x) < left + POINTS_PLOT.0 / 2.0;
                let (by, anchor) = if right { (9.0, Anchor::Start) } else { (-9.0, Anchor::End) };
                page.text(x(point.x) + by, y(*value) - 6.0, anchor, "", &point.name);
            }
        }
    }
    page.upwards(MARGIN + 12.0, (top + bottom) / 2.0, &figure.y_label);
    page.text(left + POINTS_PLOT.0 / 2.0, bottom + 8.0 + 2.0 * LINE, Anchor::Middle, "", &figure.x_label);
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
        left + POINTS_PLOT.0 * (0.06 + 0.88 * share)
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

/// A part of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Place of its kind in the legend.
    pub kind: usize,
    /// The value: of a row in per cent, of a column a count.
    pub value: f64,
    /// Number of things.
    pub count: u64,
}

/// A bar that lies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StackedRow {
    pub name: String,
    /// A heading above it, where it begins a group.
    pub heading: Option<String>,
    /// Number of things it is made of.
    pub of: u64,
    /// From left to right.
    pub parts: Vec<Part>,
}

/// Rows of stacked bars, in per cent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stacked {
    /// Above the figure.
    pub title: String,
    /// Below the axis.
    pub x_label: String,
    /// The legend.
    pub kinds: Vec<(&'static str, Paint)>,
    /// From above.
    pub rows: Vec<StackedRow>,
}

const BAR: f64 = 22.0;
const BAR_ROW: f64 = 30.0;
const BARS_WIDTH: f64 = 560.0;
const TICKS: [f64; 6] = [0.0, 20.0, 40.0, 60.0, 80.0, 100.0];

/// Draws rows of bars as one SVG document.
pub fn stacked_svg(figure: &Stacked) -> String {
    let mut page = Page::default();
    let names = figure.rows.iter().map(|row| name_width(&row.name)).fold(60.0, f64::max);
    let left = MARGIN + names + 10.0;
    let most = figure.rows.iter().map(|row| row.of).max().unwrap_or(0);
    let right = text_width(&format!("n = {most}")) + 12.0;
    let width = (left + BARS_WIDTH + right + MARGIN).max(2.0 * MARGIN + 1.3 * text_width(&figure.title));
    page.text(MARGIN, MARGIN + LINE, Anchor::Start, "head", &figure.title);
    let mut y = page.legend(MARGIN, MARGIN + LINE + 14.0, width - 2.0 * MARGIN, &figure.kinds);
    let mut bars = Page::default();
    for row in &figure.rows {
        if let Some(heading) = &row.heading {
            bars.name(MARGIN, y + LINE, Anchor::Start, "note", heading);
            y += LINE + 8.0;
        }
        // Between headings alone, so that no line runs through a name.
        for tick in TICKS {
            let x = left + BARS_WIDTH * tick / 100.0;
            page.line("grid", (x, y), (x, y + BAR_ROW));
        }
        bar(&mut bars, row, &figure.kinds, left, y + (BAR_ROW - BAR) / 2.0);
        y += BAR_ROW;
    }
    for tick in TICKS {
        let x = left + BARS_WIDTH * tick / 100.0;
        page.text(x, y + 4.0 + LINE, Anchor::Middle, "", &format!("{tick:.0}"));
    }
    page.append(bars);
    page.line("axis", (left, y + 4.0), (left + BARS_WIDTH, y + 4.0));
    page.text(left + BARS_WIDTH / 2.0, y + 8.0 + 2.0 * LINE, Anchor::Middle, "", &figure.x_label);
    let description =
        figure.rows.iter().map(|row| describe_row(row, &figure.kinds)).collect::<Vec<_>>().join("\n");
    page.finish(width, y + 8.0 + 2.0 * LINE + MARGIN, &figure.title, &description)
}

fn bar(page: &mut Page, row: &StackedRow, kinds: &[(&'static str, Paint)], left: f64, y: f64) {
    let middle = y + BAR / 2.0 + 4.5;
    page.name(left - 10.0, middle, Anchor::End, "", &row.name);
    let mut x = left;
    for part in &row.parts {
        let Some((kind, paint)) = kinds.get(part.kind) else { continue };
        let width = BARS_WIDTH * part.value / 100.0;
        if width <= 0.0 {
            continue;
        }
        let says = format!("{}: {kind} {:.1} % ({} of {})", row.name, part.value, part.count, row.of);
        page.area(x, y, width, BAR, *paint, &says);
        let figure = format!("{:.1}", part.value);
        if width > text_width(&figure) + 4.0 {
            page.on(x + width / 2.0, middle, *paint, &figure);
        }
        x += width;
    }
    page.text(left + BARS_WIDTH + 8.0, middle, Anchor::Start, "note", &format!("n = {}", row.of));
}

fn describe_row(row: &StackedRow, kinds: &[(&'static str, Paint)]) -> String {
    let heading = row.heading.as_ref().map_or(String::new(), |heading| format!("{heading}. "));
    let parts = row.parts.iter().filter(|part| part.count > 0);
    let parts: Vec<String> =
        parts.filter_map(|part| Some(format!("{} {:.1} %", kinds.get(part.kind)?.0, part.value))).collect();
    format!("{heading}{} (n = {}): {}", row.name, row.of, parts.join(", "))
}

/// A panel of columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnPanel {
    /// Above it.
    pub title: String,
    /// From left to right: the text below a column, and its parts from below.
    pub columns: Vec<(String, Vec<Part>)>,
    /// A remark below the panel about values outside the columns.
    pub note: String,
}

/// Panels of stacked columns, one below the other, with one scale for all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Columns {
    /// Above the figure.
    pub title: String,
    /// Below the lowest axis.
    pub x_label: String,
    /// Beside the axes.
    pub y_label: String,
    /// The legend.
    pub kinds: Vec<(&'static str, Paint)>,
    /// From above.
    pub panels: Vec<ColumnPanel>,
}

const PANEL: f64 = 170.0;
const COLUMN: f64 = 26.0;

/// Draws panels of columns as one SVG document.
pub fn columns_svg(figure: &Columns) -> String {
    let mut page = Page::default();
    let places = figure.panels.iter().map(|panel| panel.columns.len()).max().unwrap_or(0).max(16);
    let left = MARGIN + 70.0;
    let plot = COLUMN * places as f64 + 12.0;
    let longest = |panel: &ColumnPanel| name_width(&panel.title).max(text_width(&panel.note));
    let words = figure.panels.iter().map(longest).fold(1.3 * text_width(&figure.title), f64::max);
    let width = (left + plot).max(MARGIN + words).max(560.0) + MARGIN;
    page.text(MARGIN, MARGIN + LINE, Anchor::Start, "head", &figure.title);
    let mut y = page.legend(MARGIN, MARGIN + LINE + 14.0, width - 2.0 * MARGIN, &figure.kinds);
    let height = |column: &(String, Vec<Part>)| column.1.iter().map(|part| part.value).sum::<f64>();
    let columns = figure.panels.iter().flat_map(|panel| &panel.columns);
    let ticks = steps(columns.map(height).fold(0.0, f64::max));
    for panel in &figure.panels {
        y = self::panel(&mut page, figure, panel, &ticks, (left, y, plot));
    }
    page.text(left + plot / 2.0, y + LINE, Anchor::Middle, "", &figure.x_label);
    let described: Vec<String> =
        figure.panels.iter().map(|panel| describe_column_panel(panel, &figure.kinds)).collect();
    page.finish(width, y + LINE + MARGIN, &figure.title, &described.join("\n"))
}

/// Draws a panel below y and returns the y below it.
fn panel(
    page: &mut Page,
    figure: &Columns,
    panel: &ColumnPanel,
    ticks: &[f64],
    (left, top, plot): (f64, f64, f64),
) -> f64 {
    page.name(left, top + LINE, Anchor::Start, "", &panel.title);
    let (top, bottom) = (top + LINE + 12.0, top + LINE + 12.0 + PANEL);
    let highest = ticks.last().copied().unwrap_or(1.0);
    let scale = |value: f64| PANEL * value / highest;
    for &tick in ticks {
        let y = bottom - scale(tick);
        page.line("grid", (left, y), (left + plot, y));
        page.text(left - 6.0, y + 4.5, Anchor::End, "", &format!("{tick:.0}"));
    }
    page.upwards(MARGIN + 12.0, (top + bottom) / 2.0, &figure.y_label);
    for (place, (name, parts)) in panel.columns.iter().enumerate() {
        let x = left + 6.0 + COLUMN * place as f64;
        let mut y = bottom;
        for part in parts.iter().filter(|part| part.value > 0.0) {
            let Some((kind, paint)) = figure.kinds.get(part.kind) else { continue };
            y -= scale(part.value);
            let says = format!("{} {name}: {kind}, {} of {}", figure.x_label, part.count, panel.title);
            page.area(x + 2.0, y, COLUMN - 4.0, scale(part.value), *paint, &says);
        }
        page.text(x + COLUMN / 2.0, bottom + LINE, Anchor::Middle, "", name);
    }
    page.line("axis", (left, bottom), (left + plot, bottom));
    if panel.note.is_empty() {
        return bottom + LINE + 12.0;
    }
    page.text(left, bottom + 2.0 * LINE + 2.0, Anchor::Start, "note", &panel.note);
    bottom + 2.0 * LINE + 14.0
}

fn describe_column_panel(panel: &ColumnPanel, kinds: &[(&'static str, Paint)]) -> String {
    let column = |(name, parts): &(String, Vec<Part>)| {
        let parts: Vec<String> = parts
            .iter()
            .filter(|part| part.count > 0)
            .filter_map(|part| Some(format!("{} {}", part.count, kinds.get(part.kind)?.0)))
            .collect();
        (!parts.is_empty()).then(|| format!("{name}: {}", parts.join(", ")))
    };
    let columns: Vec<String> = panel.columns.iter().filter_map(column).collect();
    format!("{}. {}. {}", panel.title, columns.join("; "), panel.note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_panel(title: &str) -> Panel {
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
        let text = svg(&[line_panel("<Omissions>")], 1);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        assert_eq!(text.matches("<polygon").count(), 1, "the band");
        assert_eq!(text.matches("<polyline").count(), 4, "two lines, one bar and one legend mark");
        for word in ["&lt;Omissions&gt;", "terms removed", "share", ">mean<"] {
            assert!(text.contains(word), "{word}");
        }
        assert_eq!(svg(&[line_panel("<Omissions>")], 1), text, "the same figure, the same bytes");
    }

    #[test]
    fn panels_stand_in_a_grid() {
        let text = svg(&[line_panel("a"), line_panel("b"), line_panel("c")], 2);
        assert!(text.contains("width=\"760\" height=\"560\""), "{}", &text[..200]);
    }

    #[test]
    fn values_outside_the_ranges_stay_inside_the_panel() {
        let mut outside = line_panel("a");
        outside.series[1].points = vec![(-5.0, f64::INFINITY), (20.0, -3.0)];
        outside.x = (1.0, 1.0);
        let text = svg(&[outside], 1);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    }
}
