//! The sheet as SVG. Every text is escaped, colours are tints for light and dark pages, and titles hold long
//! names in full.

use super::shape::{
    Block, Cell, FillPaint, Form, GAP, LINE, MOST_OF_A_NAME, MOST_OF_WORDS, Mark, PADDING, Placed, Shape,
    Sheet, Thing, WORDS_LINE, mark_width, more_text, place, shorten,
};
use planforge_evaluate::chart::escaped;
use planforge_pipeline::Colour;
use std::fmt::Write as _;

/// The style of all pictures. Texts have the page's own colour, so that they can be read on light and dark pages.
pub const STYLE: &str = "svg.pf-picture{max-width:100%;height:auto}\
.pf-picture text{font:12px sans-serif;fill:currentColor}\
.pf-picture .pf-w{font-size:10.5px}.pf-picture .pf-l{font-size:10px;fill-opacity:.75}.pf-picture .pf-h{font-weight:bold}\
.pf-picture .pf-dark{fill:#111}.pf-picture .pf-light{fill:#fff}\
.pf-picture rect{fill:currentColor;fill-opacity:.07;stroke:currentColor;stroke-opacity:.55}\
.pf-picture .pf-p{fill-opacity:.03;stroke-opacity:.4}.pf-picture .pf-m{stroke:none;fill-opacity:.1}\
.pf-picture .pf-f{fill-opacity:1}\
.pf-picture .pf-t{stroke:currentColor;stroke-width:3}\
.pf-picture .pf-c0{fill:#0072b2;stroke:#0072b2;fill-opacity:.22;stroke-opacity:1}\
.pf-picture .pf-c1{fill:#e69f00;stroke:#e69f00;fill-opacity:.28;stroke-opacity:1}\
.pf-picture .pf-c2{fill:#009e73;stroke:#009e73;fill-opacity:.22;stroke-opacity:1}\
.pf-picture .pf-c3{fill:#d55e00;stroke:#d55e00;fill-opacity:.25;stroke-opacity:1}\
.pf-picture .pf-c4{fill:#cc79a7;stroke:#cc79a7;fill-opacity:.28;stroke-opacity:1}\
.pf-picture .pf-c5{fill:#56b4e9;stroke:#56b4e9;fill-opacity:.28;stroke-opacity:1}\
.pf-picture .pf-c6{fill:#f0e442;stroke:#b8ad20;fill-opacity:.35;stroke-opacity:1}\
.pf-picture .pf-c7{fill:#999;stroke:#999;fill-opacity:.3;stroke-opacity:1}\
.pf-picture .pf-m{stroke:none}";

/// Draws a sheet.
pub(super) fn svg(sheet: &Sheet, title: &str) -> String {
    let (parts, width, height) = place(sheet);
    let mut out = Out { body: String::new() };
    for part in &parts {
        out.part(part);
    }
    let (width, height) = (number(width.ceil().max(1.0)), number(height.ceil().max(1.0)));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pf-picture\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\"><title>{}</title>\n{}</svg>",
        escaped(title),
        out.body
    )
}

struct Out {
    body: String,
}

// Writing to a String cannot fail.
impl Out {
    fn part(&mut self, part: &Placed<'_>) {
        let (left, top) = (GAP, part.y);
        match &part.block {
            Block::Row { title, shapes, table } => {
                if let Some(title) = title {
                    self.text(left, top + PADDING + LINE - 4.0, "", title, MOST_OF_A_NAME * 2);
                }
                for (x, y, shape) in shapes {
                    self.shape(left + x, top + y, shape);
                }
                if *table {
                    let y = number(top + part.height - 1.5);
                    let (from, to) = (number(left), number(left + part.width));
                    let _ = writeln!(
                        self.body,
                        "<line class=\"pf-t\" x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\"/>"
                    );
                }
            }
            Block::Grid(cells) => {
                for ((x, y), size, cell, shape) in cells {
                    self.cell(left + x, top + y, *size, cell, shape);
                }
            }
            Block::Words(marks) => self.words(left, top, marks),
        }
    }

    fn shape(&mut self, x: f64, y: f64, shape: &Shape<'_>) {
        match &shape.form {
            Form::More(count) => {
                self.text(x + PADDING, y + PADDING + LINE - 4.0, "pf-l", &more_text(*count), 40)
            }
            Form::Pile { base, tops } => {
                for (dx, dy, top) in tops {
                    self.shape(x + dx, y + dy, top);
                }
                self.shape(x, y + shape.height - base.height, base);
            }
            Form::Thing { thing, words, inside } => {
                let class = class_of(thing);
                self.rect(x, y, (shape.width, shape.height), &class, Some(3));
                let centred = inside.is_empty() && !thing.place;
                let at = if centred { x + shape.width / 2.0 } else { x + PADDING };
                let anchor = if centred { Some("middle") } else { None };
                self.anchored_text((at, y + PADDING + LINE - 4.0), anchor, "", &thing.label, MOST_OF_A_NAME);
                self.words(x, y, words);
                for (dx, dy, inner) in inside {
                    self.shape(x + dx, y + dy, inner);
                }
            }
        }
    }

    /// A cell: its fill, its name in small letters, how high it is, and what is in it.
    fn cell(&mut self, x: f64, y: f64, size: (f64, f64), cell: &Cell, shape: &Shape<'_>) {
        let mut on = "";
        match cell.fill.as_ref().map(|fill| fill.paint) {
            Some(FillPaint::Named(r, g, b)) => {
                let light = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b) > 140_000;
                on = if light { " pf-dark" } else { " pf-light" };
                let (x, y) = (number(x), number(y));
                let (width, height) = (number(size.0), number(size.1));
                let _ = writeln!(
                    self.body,
                    "<rect class=\"pf-f\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" style=\"fill:#{r:02x}{g:02x}{b:02x}\"/>"
                );
            }
            Some(FillPaint::Palette(colour)) => self.rect(x, y, size, colour_class(colour), None),
            None => self.rect(x, y, size, "pf-p", None),
        }
        let Form::Thing { thing, words, inside } = &shape.form else { return };
        if let Some((value, text)) = &cell.height {
            // Higher is darker; the number does not depend on colour.
            if let Some(value) = value.filter(|value| *value > 0.0) {
                let opacity = number(0.45 * value / (value + 2.0));
                let (x, y, w, h) = (number(x), number(y), number(size.0), number(size.1));
                let _ = writeln!(
                    self.body,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" style=\"fill-opacity:{opacity}\"/>"
                );
            }
            let place = (x + size.0 - PADDING, y + PADDING + LINE - 4.0);
            self.anchored_text(place, Some("end"), &format!("pf-h{on}"), text, 6);
        }
        let says = match &cell.fill {
            Some(fill) => format!("{}: {}", thing.label, fill.name),
            None => thing.label.clone(),
        };
        let _ = write!(self.body, "<g><title>{}</title>", escaped(&says));
        self.text(x + PADDING, y + PADDING + LINE - 5.0, &format!("pf-l{on}"), &thing.label, MOST_OF_A_NAME);
        self.body.push_str("</g>\n");
        self.words(x, y, words);
        for (dx, dy, inner) in inside {
            self.shape(x + dx, y + dy, inner);
        }
    }

    fn words(&mut self, x: f64, y: f64, marks: &[(f64, f64, &Mark)]) {
        for (dx, dy, mark) in marks {
            let class = match mark.colour {
                Some(colour) => format!("{} pf-m", colour_class(colour)),
                None => "pf-m".to_owned(),
            };
            self.rect(x + dx, y + dy + 1.0, (mark_width(mark), WORDS_LINE - 2.0), &class, Some(2));
            self.text(x + dx + 3.0, y + dy + WORDS_LINE - 4.0, "pf-w", &mark.text, MOST_OF_WORDS);
        }
    }

    fn rect(&mut self, x: f64, y: f64, size: (f64, f64), class: &str, round: Option<u32>) {
        let (x, y, width, height) = (number(x), number(y), number(size.0), number(size.1));
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let round = round.map_or(String::new(), |r| format!(" rx=\"{r}\""));
        let _ = writeln!(
            self.body,
            "<rect{class} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{round}/>"
        );
    }

    fn text(&mut self, x: f64, y: f64, class: &str, content: &str, most: usize) {
        self.anchored_text((x, y), None, class, content, most);
    }

    fn anchored_text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Option<&str>,
        class: &str,
        content: &str,
        most: usize,
    ) {
        let shown = shorten(content, most);
        let (x, y) = (number(x), number(y));
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let anchor = anchor.map_or(String::new(), |anchor| format!(" text-anchor=\"{anchor}\""));
        let whole =
            if shown == content { String::new() } else { format!("<title>{}</title>", escaped(content)) };
        let _ =
            writeln!(self.body, "<text{class} x=\"{x}\" y=\"{y}\"{anchor}>{whole}{}</text>", escaped(&shown));
    }
}

fn class_of(thing: &Thing) -> String {
    match (thing.colour, thing.place) {
        (Some(colour), _) => colour_class(colour).to_owned(),
        (None, true) => "pf-p".to_owned(),
        (None, false) => String::new(),
    }
}

const fn colour_class(colour: Colour) -> &'static str {
    match colour {
        Colour::Blue => "pf-c0",
        Colour::Orange => "pf-c1",
        Colour::Green => "pf-c2",
        Colour::Red => "pf-c3",
        Colour::Purple => "pf-c4",
        Colour::Sky => "pf-c5",
        Colour::Yellow => "pf-c6",
        Colour::Grey => "pf-c7",
    }
}

/// Two digits behind the point at most, so that the bytes do not depend on the last bit.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
