//! A score over rounds or samples: every candidate as a marker that says how it was judged, and the best so far as a line.

use planforge_evaluate::plot::escaped;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How a candidate was judged, for its marker's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// A verifier accepted it.
    Accepted,
    /// A verifier rejected it.
    Rejected,
    /// A verifier could not decide.
    Undecided,
    /// The question could not be asked of it.
    NotComparable,
    /// Nobody judged it.
    Unjudged,
}

impl Judged {
    const ALL: [Self; 5] =
        [Self::Accepted, Self::Rejected, Self::Undecided, Self::NotComparable, Self::Unjudged];

    /// The decision of that name, see `planforge_contract::Decision::name`.
    pub fn of(decision: Option<&str>) -> Self {
        match decision {
            Some("accepted") => Self::Accepted,
            Some("rejected") => Self::Rejected,
            Some("undecided") => Self::Undecided,
            Some("not-comparable") => Self::NotComparable,
            _ => Self::Unjudged,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::Unjudged => "not judged",
        }
    }
}

/// A candidate's score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// Its path, or another name that leads to it.
    pub path: String,
    /// The round or the sample's number.
    pub at: u32,
    /// Its value of the metric; absent where it has none.
    pub value: Option<f64>,
    /// How it was judged.
    pub judged: Judged,
    /// Whether it is the one that the verdict is about.
    pub answer: bool,
}

/// Scores over rounds or samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The metric, in full: `ew.score`.
    pub metric: String,
    /// What `at` counts: `round` or `sample`.
    pub over: &'static str,
    /// Whether low values are good.
    pub lowest: bool,
    /// The candidates with a value, by `at`, then as they came.
    pub points: Vec<Scored>,
    /// Candidates without a value, which are in no line.
    pub without: usize,
    /// The best value so far, after each round or sample that brought one.
    pub best: Vec<(u32, f64)>,
}

impl Curve {
    /// Orders candidates and finds the best so far. A value that is no finite number is none.
    pub fn new(metric: impl Into<String>, over: &'static str, lowest: bool, scored: Vec<Scored>) -> Self {
        let all = scored.len();
        let known = |s: &Scored| s.value.is_some_and(f64::is_finite);
        let mut points: Vec<Scored> = scored.into_iter().filter(known).collect();
        points.sort_by_key(|point| point.at);
        let mut best: Vec<(u32, f64)> = Vec::new();
        for point in &points {
            let Some(value) = point.value else { continue };
            let so_far = match best.last() {
                Some((_, known)) if lowest => known.min(value),
                Some((_, known)) => known.max(value),
                None => value,
            };
            match best.last_mut() {
                Some((at, known)) if *at == point.at => *known = so_far,
                _ => best.push((point.at, so_far)),
            }
        }
        Self { metric: metric.into(), over, lowest, without: all - points.len(), points, best }
    }

    /// Whether there is more than one place to draw a line between.
    pub fn is_worth_drawing(&self) -> bool {
        self.points.first().zip(self.points.last()).is_some_and(|(first, last)| first.at != last.at)
    }
}

/// The style of all curves; texts have the page's own colour.
pub const STYLE: &str = "svg.pf-curve{max-width:100%;height:auto}.pf-curve text{font:12px sans-serif;fill:currentColor}\
.pf-curve .pf-axis{stroke:currentColor;stroke-opacity:.6;fill:none}.pf-curve .pf-grid{stroke:currentColor;stroke-opacity:.15}\
.pf-curve .pf-best{stroke:#0072b2;stroke-width:2;fill:none}.pf-curve .pf-answer{stroke:currentColor;stroke-width:2;fill:none}\
.pf-curve .pf-j0{fill:#009e73}.pf-curve .pf-j1{fill:#d55e00}.pf-curve .pf-j2{fill:#e69f00}.pf-curve .pf-j3{fill:#cc79a7}\
.pf-curve .pf-j4{fill:#999}";

const SIZE: (f64, f64) = (560.0, 240.0);
const MARGIN: (f64, f64, f64, f64) = (16.0, 12.0, 44.0, 56.0);

/// Draws a curve. Candidates at one spot are one marker that says how many they are, so the size has a bound.
pub fn svg(curve: &Curve) -> String {
    let axes = Axes::of(curve);
    let mut out = String::new();
    axes.draw(curve, &mut out);
    let mut line = String::new();
    for (at, value) in &curve.best {
        let (x, y) = (number(axes.x(*at)), number(axes.y(*value)));
        line.push_str(&if line.is_empty() { format!("M{x} {y}") } else { format!("H{x}V{y}") });
    }
    if let Some((at, _)) = curve.best.last() {
        // The best so far stays the best to the end of the axis.
        let end = axes.x(axes.last);
        let reach = if axes.x(*at) < end { format!("H{}", number(end)) } else { String::new() };
        push(
            &mut out,
            &format!("<path class=\"pf-best\" d=\"{line}{reach}\"><title>best so far</title></path>"),
        );
    }
    markers(curve, &axes, &mut out);
    legend(curve, &mut out);
    let title = format!("{} by {}", curve.metric, curve.over);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pf-curve\" role=\"img\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\"><title>{}</title>\n{out}</svg>",
        escaped(&title),
        w = SIZE.0,
        h = SIZE.1,
    )
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

struct Axes {
    first: u32,
    last: u32,
    low: f64,
    high: f64,
}

impl Axes {
    fn of(curve: &Curve) -> Self {
        let values = || curve.points.iter().filter_map(|point| point.value);
        let (mut low, mut high) =
            values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if !low.is_finite() || !high.is_finite() || (low >= 0.0 && high <= 1.0) {
            (low, high) = (0.0, 1.0);
        } else if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let first = curve.points.first().map_or(0, |point| point.at);
        let last = curve.points.last().map_or(0, |point| point.at);
        Self { first, last, low, high }
    }

    fn x(&self, at: u32) -> f64 {
        let width = SIZE.0 - MARGIN.1 - MARGIN.3;
        let span = f64::from(self.last - self.first);
        let share = if span > 0.0 { f64::from(at - self.first) / span } else { 0.5 };
        MARGIN.3 + width * (0.03 + 0.94 * share)
    }

    fn y(&self, value: f64) -> f64 {
        let height = SIZE.1 - MARGIN.0 - MARGIN.2 - 22.0;
        // Halves first: the difference of two huge numbers may be no number.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        MARGIN.0 + height * (1.0 - share)
    }

    fn draw(&self, curve: &Curve, out: &mut String) {
        let (left, right) = (MARGIN.3, SIZE.0 - MARGIN.1);
        let bottom = self.y(self.low);
        for step in 0..=4 {
            let share = f64::from(step) / 4.0;
            let value = self.low * (1.0 - share) + self.high * share;
            let y = number(self.y(value));
            let line =
                format!("<line class=\"pf-grid\" x1=\"{left}\" y1=\"{y}\" x2=\"{right}\" y2=\"{y}\"/>");
            push(out, &line);
            text(out, left - 6.0, self.y(value) + 4.0, "end", &short(value));
        }
        let (b, top) = (number(bottom), number(self.y(self.high)));
        push(out, &format!("<path class=\"pf-axis\" d=\"M{left} {top}V{b}H{right}\"/>"));
        let span = self.last - self.first;
        let every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|e| span / e <= 12);
        let every = every.unwrap_or((span / 12).max(1));
        for at in (self.first..=self.last).step_by(every as usize) {
            text(out, self.x(at), bottom + 16.0, "middle", &at.to_string());
        }
        text(out, right, bottom + 32.0, "end", curve.over);
        text(out, left, bottom + 32.0, "start", &clipped(&curve.metric));
    }
}

/// One marker for all candidates of one decision at one spot.
fn markers(curve: &Curve, axes: &Axes, out: &mut String) {
    let mut spots: BTreeMap<(u32, i64, Judged), Vec<&Scored>> = BTreeMap::new();
    for point in &curve.points {
        let y = (axes.y(point.value.unwrap_or_default()) * 2.0).round();
        spots.entry((point.at, y as i64, point.judged)).or_default().push(point);
    }
    for ((at, _, judged), points) in &spots {
        let (x, y) = (axes.x(*at), axes.y(points[0].value.unwrap_or_default()));
        let value = short(points[0].value.unwrap_or_default());
        let who = match points.as_slice() {
            [only] => only.path.clone(),
            many => format!("{} candidates, the first {}", many.len(), many[0].path),
        };
        let says = format!("{} {at}: {value}, {} ({who})", curve.over, judged.name());
        marker(out, (x, y), *judged, &says);
        if points.iter().any(|point| point.answer) {
            let (x, y) = (number(x), number(y));
            push(
                out,
                &format!(
                    "<circle class=\"pf-answer\" cx=\"{x}\" cy=\"{y}\" r=\"9\"><title>the answer</title></circle>"
                ),
            );
        }
    }
}

fn marker(out: &mut String, (x, y): (f64, f64), judged: Judged, says: &str) {
    let class = Judged::ALL.iter().position(|one| *one == judged).unwrap_or_default();
    let says = escaped(says);
    let polygon = |corners: &[(f64, f64)]| {
        let points: Vec<String> =
            corners.iter().map(|(dx, dy)| format!("{},{}", number(x + dx), number(y + dy))).collect();
        format!(
            "<polygon class=\"pf-j{class}\" points=\"{}\"><title>{says}</title></polygon>",
            points.join(" ")
        )
    };
    let drawn = match judged {
        Judged::Accepted => polygon(&[(0.0, -6.0), (6.0, 5.0), (-6.0, 5.0)]),
        Judged::Rejected => polygon(&[(-5.0, -5.0), (5.0, -5.0), (5.0, 5.0), (-5.0, 5.0)]),
        Judged::Undecided => polygon(&[(0.0, -6.5), (6.0, 0.0), (0.0, 6.5), (-6.0, 0.0)]),
        Judged::NotComparable => polygon(&[(-6.0, -5.0), (6.0, -5.0), (0.0, 6.0)]),
        Judged::Unjudged => {
            let (x, y) = (number(x), number(y));
            format!(
                "<circle class=\"pf-j{class}\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\"><title>{says}</title></circle>"
            )
        }
    };
    push(out, &drawn);
}

/// The decisions that there are, and the line.
fn legend(curve: &Curve, out: &mut String) {
    let y = SIZE.1 - 8.0;
    let mut x = MARGIN.3;
    let line = number(y - 4.0);
    push(out, &format!("<path class=\"pf-best\" d=\"M{} {line}H{}\"/>", number(x), number(x + 18.0)));
    text(out, x + 24.0, y, "start", "best so far");
    x += 104.0;
    for judged in Judged::ALL {
        if curve.points.iter().any(|point| point.judged == judged) {
            marker(out, (x + 6.0, y - 4.0), judged, judged.name());
            text(out, x + 16.0, y, "start", judged.name());
            x += 28.0 + 7.0 * judged.name().len() as f64;
        }
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let (x, y, content) = (number(x), number(y), escaped(content));
    push(out, &format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>"));
}

fn clipped(name: &str) -> String {
    if name.chars().count() <= 48 {
        return name.to_owned();
    }
    name.chars().take(47).chain(['\u{2026}']).collect()
}

/// Three digits that count.
fn short(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 100_000.0 || value.abs() < 0.001) {
        return format!("{value:.2e}");
    }
    number(value)
}

/// Two digits behind the point at most, so that the bytes do not depend on the last bit.
fn number(value: f64) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(at: u32, value: Option<f64>, judged: Judged) -> Scored {
        Scored { path: format!("t/edit#{at}/<0>"), at, value, judged, answer: value == Some(1.0) }
    }

    fn curve(lowest: bool) -> Curve {
        let points = vec![
            scored(2, Some(0.25), Judged::Rejected),
            scored(1, Some(0.5), Judged::Rejected),
            scored(1, Some(0.5), Judged::Rejected),
            scored(3, Some(1.0), Judged::Accepted),
            scored(3, None, Judged::Undecided),
            scored(4, Some(f64::NAN), Judged::NotComparable),
        ];
        Curve::new("ew.score", "round", lowest, points)
    }

    #[test]
    fn the_best_so_far_never_gets_worse_and_what_has_no_value_is_counted() {
        assert_eq!(curve(false).best, [(1, 0.5), (2, 0.5), (3, 1.0)]);
        assert_eq!(curve(true).best, [(1, 0.5), (2, 0.25), (3, 0.25)]);
        assert_eq!((curve(false).points.len(), curve(false).without), (4, 2));
        assert!(curve(false).is_worth_drawing());
        assert!(
            !Curve::new("m", "round", false, vec![scored(0, Some(1.0), Judged::Unjudged)]).is_worth_drawing()
        );
    }

    #[test]
    fn candidates_at_one_spot_are_one_marker() {
        let drawn = svg(&curve(false));
        assert!(drawn.contains("2 candidates, the first t/edit#1/&lt;0&gt;"), "{drawn}");
        assert_eq!(drawn.matches("pf-j1").count(), 2 + 1, "two spots and the legend");
        assert_eq!(drawn.matches("class=\"pf-answer\"").count(), 1);
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn ten_thousand_candidates_and_strange_values_are_drawn_in_bounds() {
        let many = |i: u32| scored(i % 80, Some(f64::from(i % 1000) / 999.0), Judged::Rejected);
        assert!(svg(&Curve::new("m", "sample", false, (0..10_000).map(many).collect())).len() < 3_000_000);
        for values in [vec![f64::MAX, f64::MIN], vec![7.0, 7.0], vec![-1.0, 1e-300], vec![]] {
            let points =
                values.iter().zip(0..).map(|(v, at)| scored(at, Some(*v), Judged::Unjudged)).collect();
            let drawn = svg(&Curve::new("m", "round", false, points));
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{values:?}: {drawn}");
        }
    }
}
