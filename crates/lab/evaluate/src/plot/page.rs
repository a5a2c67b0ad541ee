//! A page of SVG that needs nothing beside it: texts are escaped, colours follow the reader's light or dark setting, and everything
//! that is drawn says in words what it is.

use std::fmt::Write as _;

/// Height of a line of text, and the width that a character takes at most on average, in pixels.
pub(super) const LINE: f64 = 17.0;
const CHARACTER: f64 = 7.1;
/// The most characters of a name that are shown; the whole name is said when it is pointed at.
const MOST: usize = 46;
/// The same of a sentence.
const MOST_OF_A_SENTENCE: usize = 110;

const STYLE: &str = ".page { fill: #ffffff; } text { font: 13px sans-serif; fill: #222222; } .head { font-size: 16px; font-weight: bold; } \
.note { fill: #595959; } .axis { stroke: #767676; fill: none; } .grid { stroke: #d9d9d9; fill: none; } .dark { fill: #111111; } .light { fill: #ffffff; } \
.edge { stroke: #ffffff; stroke-width: 1; } .hatch { stroke: #767676; stroke-width: 1.5; } .hatched { fill: #eeeeee; } \
@media (prefers-color-scheme: dark) { .page { fill: #17191c; } text { fill: #ececec; } .note { fill: #b4b4b4; } .axis { stroke: #9a9a9a; } \
.grid { stroke: #3a3d42; } .edge { stroke: #17191c; } .hatch { stroke: #a8a8a8; } .hatched { fill: #2c2f34; } .dark { fill: #111111; } \
.light { fill: #ffffff; } }";

/// A colour of a legend. Told apart by colour-blind readers and in grey (after Okabe and Ito); the last two carry a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Vermilion.
    Vermilion,
    /// Orange.
    Orange,
    /// Blue.
    Blue,
    /// Bluish green.
    Green,
    /// Sky blue.
    Sky,
    /// Reddish purple.
    Purple,
    /// Grey.
    Grey,
    /// Hatched: nothing is known.
    Hatched,
}

impl Paint {
    pub(super) const fn fill(self) -> &'static str {
        match self {
            Self::Vermilion => "#d55e00",
            Self::Orange => "#e69f00",
            Self::Blue => "#0072b2",
            Self::Green => "#009e73",
            Self::Sky => "#56b4e9",
            Self::Purple => "#cc79a7",
            Self::Grey => "#999999",
            Self::Hatched => "url(#unknown)",
        }
    }

    /// The class of text that stands on it.
    const fn text(self) -> &'static str {
        match self {
            Self::Blue => "light",
            Self::Hatched => "",
            _ => "dark",
        }
    }
}

/// Where a text stands at its x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A page on its way.
#[derive(Debug, Default)]
pub(super) struct Page {
    body: String,
}

// Writing to a String cannot fail.
impl Page {
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, content: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, shown) = (round(x), round(y), escaped(content));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{shown}</text>"
        );
    }

    /// A text that is shortened where it is long; then the whole is said when it is pointed at.
    pub(super) fn name(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, content: &str) {
        self.at_most(MOST, (x, y), anchor, class, content);
    }

    /// The same for a sentence that may hold names.
    pub(super) fn sentence(&mut self, x: f64, y: f64, class: &str, content: &str) {
        self.at_most(MOST_OF_A_SENTENCE, (x, y), Anchor::Start, class, content);
    }

    fn at_most(&mut self, most: usize, (x, y): (f64, f64), anchor: Anchor, class: &str, content: &str) {
        let shown = shortened(content, most);
        if shown == content {
            return self.text(x, y, anchor, class, content);
        }
        let _ = write!(self.body, "<g><title>{}</title>", escaped(content));
        self.text(x, y, anchor, class, &shown);
        self.body.push_str("</g>\n");
    }

    /// A text that runs upwards, centred.
    pub(super) fn upwards(&mut self, x: f64, y: f64, content: &str) {
        let (x, y, shown) = (round(x), round(y), escaped(content));
        let _ = writeln!(
            self.body,
            "<text transform=\"translate({x} {y}) rotate(-90)\" text-anchor=\"middle\">{shown}</text>"
        );
    }

    /// A filled area with what it says.
    pub(super) fn area(&mut self, x: f64, y: f64, width: f64, height: f64, paint: Paint, says: &str) {
        let (x, y, width, height) = (round(x), round(y), round(width), round(height));
        let (fill, says) = (paint.fill(), escaped(says));
        let _ = writeln!(
            self.body,
            "<rect class=\"edge\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"><title>{says}</title></rect>"
        );
    }

    /// A figure on an area.
    pub(super) fn on(&mut self, x: f64, y: f64, paint: Paint, content: &str) {
        self.text(x, y, Anchor::Middle, paint.text(), content);
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (round(from.0), round(from.1), round(to.0), round(to.1));
        let _ =
            writeln!(self.body, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }

    /// Points joined by a line.
    pub(super) fn joined(&mut self, points: &[(f64, f64)], paint: Paint) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", round(*x), round(*y))).collect();
        let (points, stroke) = (points.join(" "), paint.fill());
        let _ = writeln!(
            self.body,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\"/>"
        );
    }

    /// A marker whose form is told by its number, with what it says.
    pub(super) fn marker(&mut self, at: (f64, f64), form: usize, paint: Paint, says: &str) {
        let (x, y, fill, says) = (at.0, at.1, paint.fill(), escaped(says));
        let corners = |corners: &[(f64, f64)]| {
            let all: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{},{}", round(x + dx), round(y + dy))).collect();
            format!("<polygon class=\"edge\" points=\"{}\" fill=\"{fill}\"", all.join(" "))
        };
        let drawn = match form % 4 {
            0 => format!(
                "<circle class=\"edge\" cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"{fill}\"",
                round(x),
                round(y)
            ),
            1 => corners(&[(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)]),
            2 => corners(&[(0.0, -6.0), (6.0, 5.0), (-6.0, 5.0)]),
            _ => corners(&[(0.0, -7.0), (6.0, 0.0), (0.0, 7.0), (-6.0, 0.0)]),
        };
        let element = if form.is_multiple_of(4) { "circle" } else { "polygon" };
        let _ = writeln!(self.body, "{drawn}><title>{says}</title></{element}>");
    }

    /// The kinds in rows that are at most so wide. Returns where the next thing may stand.
    pub(super) fn legend(&mut self, x: f64, y: f64, width: f64, kinds: &[(&str, Paint)]) -> f64 {
        let (mut at, mut row) = (x, y);
        for (name, paint) in kinds {
            let needed = 22.0 + text_width(name) + 16.0;
            if at > x && at + needed > x + width {
                (at, row) = (x, row + LINE + 4.0);
            }
            self.area(at, row, 14.0, 14.0, *paint, name);
            self.text(at + 20.0, row + 12.0, Anchor::Start, "", name);
            at += needed;
        }
        row + LINE + 10.0
    }

    /// Puts another page on top.
    pub(super) fn append(&mut self, other: Self) {
        self.body += &other.body;
    }

    /// The document.
    pub(super) fn finish(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let (width, height) = (round(width.ceil()), round(height.ceil()));
        let (title, description) = (escaped(title), escaped(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title>{title}</title>\n<desc>{description}</desc>\n<style>{STYLE}</style>\n\
             <defs><pattern id=\"unknown\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <rect class=\"hatched\" width=\"6\" height=\"6\"/><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// How wide a text is at most, in pixels.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { CHARACTER } else { 2.0 * CHARACTER }).sum()
}

/// How wide a name is as it is shown.
pub(super) fn name_width(name: &str) -> f64 {
    text_width(&shortened(name, MOST))
}

/// How wide a sentence is as it is shown.
pub(super) fn sentence_width(sentence: &str) -> f64 {
    text_width(&shortened(sentence, MOST_OF_A_SENTENCE))
}

fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['\u{2026}']).collect()
}

/// Two digits behind the point at most, so that the bytes do not depend on the last bit.
fn round(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text as XML has it. Characters that XML cannot hold are replaced.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            // Marks that turn the direction of what follows would rearrange the figure.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Round steps of an axis from 0 to at least `highest`, some four to six of them.
pub(super) fn steps(highest: f64) -> Vec<f64> {
    let highest = highest.max(1.0);
    let power = 10f64.powf((highest / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| highest / s <= 6.0);
    let step = step.unwrap_or(10.0 * power).max(1.0);
    let count = (highest / step).ceil() as u32;
    (0..=count).map(|i| f64::from(i) * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_steps_and_reach_the_highest() {
        for (highest, last, count) in
            [(0.0, 1.0, 2), (3.0, 3.0, 4), (7.0, 8.0, 5), (100.0, 100.0, 6), (1919.0, 2000.0, 5)]
        {
            let found = steps(highest);
            assert_eq!((found.last().copied(), found.len()), (Some(last), count), "{highest}: {found:?}");
        }
    }

    #[test]
    fn text_is_data() {
        assert_eq!(
            escaped("</text><script>\"&\u{1b}\u{202e}"),
            "&lt;/text&gt;&lt;script&gt;&quot;&amp;\u{fffd}\u{fffd}"
        );
        let mut page = Page::default();
        page.name(0.0, 0.0, Anchor::Start, "", &"x<".repeat(60));
        let drawn = page.finish(10.0, 10.0, "<t>", "d");
        assert!(drawn.contains("<title>&lt;t&gt;</title>") && drawn.contains('\u{2026}'));
        assert_eq!(drawn.matches("x&lt;").count(), 60 + 22, "the whole once, and what is shown");
    }
}
