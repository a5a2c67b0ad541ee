//! Shares as stacked bars, a row for each thing; and counts as stacked columns, a panel for each thing.

use super::page::{Anchor, LINE, Page, Paint, name_width, steps, text_width};

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

const MARGIN: f64 = 16.0;
const BAR: f64 = 22.0;
const ROW: f64 = 30.0;
const PLOT: f64 = 560.0;
const TICKS: [f64; 6] = [0.0, 20.0, 40.0, 60.0, 80.0, 100.0];

/// Draws rows of bars as one SVG document.
pub fn stacked_svg(figure: &Stacked) -> String {
    let mut page = Page::default();
    let names = figure.rows.iter().map(|row| name_width(&row.name)).fold(60.0, f64::max);
    let left = MARGIN + names + 10.0;
    let most = figure.rows.iter().map(|row| row.of).max().unwrap_or(0);
    let right = text_width(&format!("n = {most}")) + 12.0;
    let width = (left + PLOT + right + MARGIN).max(2.0 * MARGIN + 1.3 * text_width(&figure.title));
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
            let x = left + PLOT * tick / 100.0;
            page.line("grid", (x, y), (x, y + ROW));
        }
        bar(&mut bars, row, &figure.kinds, left, y + (ROW - BAR) / 2.0);
        y += ROW;
    }
    for tick in TICKS {
        let x = left + PLOT * tick / 100.0;
        page.text(x, y + 4.0 + LINE, Anchor::Middle, "", &format!("{tick:.0}"));
    }
    page.append(bars);
    page.line("axis", (left, y + 4.0), (left + PLOT, y + 4.0));
    page.text(left + PLOT / 2.0, y + 8.0 + 2.0 * LINE, Anchor::Middle, "", &figure.x_label);
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
        let width = PLOT * part.value / 100.0;
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
    page.text(left + PLOT + 8.0, middle, Anchor::Start, "note", &format!("n = {}", row.of));
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
        figure.panels.iter().map(|panel| describe_panel(panel, &figure.kinds)).collect();
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

fn describe_panel(panel: &ColumnPanel, kinds: &[(&'static str, Paint)]) -> String {
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
