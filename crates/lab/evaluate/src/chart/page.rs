//! A self-contained SVG page: escaped texts, colours that follow the reader's light or dark setting, and a text for every shape.

use std::fmt::Write as _;

/// Height of a line of text, and the width that a character takes at most on average, in pixels.
pub(super) const LINE: f64 = 17.0;
const CHARACTER: f64 = 7.1;
/// The most characters of a name that are shown; the title has the whole name.
const MOST: usize = 46;
/// The same of a sentence.
const MOST_OF_A_SENTENCE: usize = 110;

/// The style of drawings inside another page. Texts have the page's colour.
pub const STYLE: &str = ".chart text{font:13px sans-serif;fill:currentColor}.chart .head{font-size:16px;font-weight:bold}\
.chart .note{fill-opacity:.75}.chart .axis{stroke:currentColor;stroke-opacity:.6;fill:none}\
.chart .grid{stroke:currentColor;stroke-opacity:.15;fill:none}.chart .ring{stroke:currentColor;stroke-width:2;fill:none}\
.chart .dark{fill:#111}.chart .light{fill:#fff}";

/// Rules that a document adds to [`STYLE`].
const DOCUMENT_STYLE: &str = ".chart{color:#222}.page{fill:#fff}.edge{stroke:#fff;stroke-width:1}.hatch{stroke:#767676;stroke-width:1.5}\
.hatched{fill:#eee}@media(prefers-color-scheme:dark){.chart{color:#ececec}.page{fill:#17191c}.edge{stroke:#17191c}.hatch{stroke:#a8a8a8}\
.hatched{fill:#2c2f34}}";

/// A colour that colour-blind readers and grey prints can tell from the others (after Okabe and Ito).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Vermilion,
    Orange,
    Blue,
    /// Bluish green.
    Green,
    /// Sky blue.
    Sky,
    /// Reddish purple.
    Purple,
    Grey,
    /// Hatched, for unknown.
    Hatched,
}

impl Paint {
    /// The SVG colour.
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

    /// The class of text on this colour.
    const fn text(self) -> &'static str {
        match self {
            Self::Blue => "light",
            Self::Hatched => "",
            _ => "dark",
        }
    }
}

/// The part of a text that is at its x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A small circle.
    Dot,
    Circle,
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle that points down.
    Wedge,
    /// A circle that is not filled, in the colour of text.
    Ring,
}

impl Marker {
    /// The shape of a kind by its place in a legend.
    pub(super) const fn of_kind(kind: usize) -> Self {
        [Self::Circle, Self::Square, Self::Triangle, Self::Diamond][kind % 4]
    }
}

/// The body of a drawing. Coordinates are pixels from the upper left corner.
#[derive(Debug, Default)]
pub struct Page {
    body: String,
}

// Writing to a String cannot fail.
impl Page {
    /// A text in one line, with its baseline at `y`. Classes are `head`, `note` or empty.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, content: &str) {
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

    /// A text that is shortened if it is long, with the whole as its title.
    pub fn name(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, content: &str) {
        self.at_most(MOST, (x, y), anchor, class, content);
    }

    /// The same for a sentence that may hold names.
    pub(super) fn sentence(&mut self, x: f64, y: f64, class: &str, content: &str) {
        self.at_most(MOST_OF_A_SENTENCE, (x, y), Anchor::Start, class, content);
    }

    fn at_most(&mut self, most: usize, (x, y): (f64, f64), anchor: Anchor, class: &str, content: &str) {
        let shown = cut(content, most);
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

    /// A filled rectangle with a title.
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

    /// A straight line of class `axis` or `grid`.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (round(from.0), round(from.1), round(to.0), round(to.1));
        let _ =
            writeln!(self.body, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }

    /// Points joined by a line.
    pub fn polyline(&mut self, points: &[(f64, f64)], paint: Paint, width: f64) {
        let (points, stroke) = (corners(points), paint.fill());
        let _ = writeln!(
            self.body,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>"
        );
    }

    /// A filled outline that other things shine through.
    pub(super) fn band(&mut self, outline: &[(f64, f64)], paint: Paint, opacity: f64) {
        let (points, fill) = (corners(outline), paint.fill());
        let _ =
            writeln!(self.body, "<polygon points=\"{points}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>");
    }

    /// A marker around a point, with a title.
    pub fn marker(&mut self, (x, y): (f64, f64), marker: Marker, paint: Paint, title: &str) {
        let (fill, title) = (paint.fill(), escaped(title));
        let circle = |class: &str, radius: f64, fill: &str| {
            let (x, y) = (round(x), round(y));
            format!(
                "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{fill}><title>{title}</title></circle>"
            )
        };
        let polygon = |offsets: &[(f64, f64)]| {
            let points: Vec<(f64, f64)> = offsets.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
            let points = corners(&points);
            format!(
                "<polygon class=\"edge\" points=\"{points}\" fill=\"{fill}\"><title>{title}</title></polygon>"
            )
        };
        let filled = format!(" fill=\"{fill}\"");
        let drawn = match marker {
            Marker::Dot => circle("edge", 3.0, &filled),
            Marker::Circle => circle("edge", 5.0, &filled),
            Marker::Ring => circle("ring", 9.0, ""),
            Marker::Square => polygon(&[(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)]),
            Marker::Triangle => polygon(&[(0.0, -6.0), (6.0, 5.0), (-6.0, 5.0)]),
            Marker::Diamond => polygon(&[(0.0, -7.0), (6.0, 0.0), (0.0, 7.0), (-6.0, 0.0)]),
            Marker::Wedge => polygon(&[(-6.0, -5.0), (6.0, -5.0), (0.0, 6.0)]),
        };
        let _ = writeln!(self.body, "{drawn}");
    }

    /// A legend in rows of at most `width` pixels. Returns the y below it.
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

    /// Appends the shapes of another page, on top of the present ones.
    pub(super) fn append(&mut self, other: Self) {
        self.body += &other.body;
    }

    /// The drawing as a document.
    pub(super) fn finish(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let (width, height) = (round(width.ceil()), round(height.ceil()));
        let (title, description) = (escaped(title), escaped(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n<desc>{description}</desc>\n<style>{STYLE}{DOCUMENT_STYLE}</style>\n\
             <defs><pattern id=\"unknown\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
             <rect class=\"hatched\" width=\"6\" height=\"6\"/><line class=\"hatch\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.body
        )
    }

    /// The drawing as an element of another page, which has [`STYLE`].
    pub fn finish_inside(self, width: f64, height: f64, title: &str) -> String {
        let (width, height, title) = (round(width), round(height), escaped(title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\"><title>{title}</title>\n{}</svg>",
            self.body
        )
    }
}

/// The greatest width of a text, in pixels.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { CHARACTER } else { 2.0 * CHARACTER }).sum()
}

/// The width of a name as [`Page::name`] shows it.
pub(super) fn name_width(name: &str) -> f64 {
    text_width(&shorten(name))
}

/// The width of a sentence as [`Page::sentence`] shows it.
pub(super) fn sentence_width(sentence: &str) -> f64 {
    text_width(&cut(sentence, MOST_OF_A_SENTENCE))
}

/// A name cut to the length that charts show.
pub(super) fn shorten(name: &str) -> String {
    cut(name, MOST)
}

fn cut(name: &str, most: usize) -> String {
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

fn corners(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{},{}", round(*x), round(*y))).collect();
    points.join(" ")
}

/// Escapes a text for XML and replaces characters that XML cannot hold.
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

/// Round values inside a range, at most `most` of them.
pub(super) fn ticks((low, high): (f64, f64), most: u32) -> Vec<f64> {
    let span = high - low;
    if span.is_nan() || span <= 0.0 || !span.is_finite() {
        return vec![low];
    }
    let power = 10f64.powf((span / f64::from(most)).log10().floor());
    let count = |step: f64| (high / step + 1e-9).floor() - (low / step - 1e-9).ceil() + 1.0;
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|m| m * power);
    let step = steps.into_iter().find(|step| count(*step) <= f64::from(most)).unwrap_or(span);
    let first = (low / step - 1e-9).ceil();
    (0..count(step) as u32).map(|i| (first + f64::from(i)) * step + 0.0).collect()
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
    fn ticks_are_round_and_inside_the_range() {
        for (range, expected) in [
            ((0.0, 1.0), vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            ((3.0, 17.0), vec![5.0, 10.0, 15.0]),
            ((-0.3, 1.0), vec![0.0, 0.5, 1.0]),
            ((2.0, 2.0), vec![2.0]),
        ] {
            let found = ticks(range, 6);
            assert_eq!(found.len(), expected.len(), "{range:?}: {found:?}");
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{range:?}: {found:?}");
        }
    }

    #[test]
    fn text_is_escaped() {
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
