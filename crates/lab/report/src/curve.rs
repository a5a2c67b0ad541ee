//! A score over rounds or samples: a marker for every candidate, by its decision, and a line for the best score so far.

use planforge_evaluate::chart::{Anchor, Marker, Page, Paint};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The decision on a candidate, which gives its marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateDecision {
    /// A verifier accepted it.
    Accepted,
    /// A verifier rejected it.
    Rejected,
    /// A verifier could not decide.
    Undecided,
    /// It cannot be compared with the reference.
    NotComparable,
    /// No verifier judged it.
    Unjudged,
}

impl CandidateDecision {
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

    const fn marker(self) -> (Marker, Paint) {
        match self {
            Self::Accepted => (Marker::Triangle, Paint::Green),
            Self::Rejected => (Marker::Square, Paint::Vermilion),
            Self::Undecided => (Marker::Diamond, Paint::Orange),
            Self::NotComparable => (Marker::Wedge, Paint::Purple),
            Self::Unjudged => (Marker::Circle, Paint::Grey),
        }
    }
}

/// A candidate's score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoredCandidate {
    /// Its path, or another name that leads to it.
    pub path: String,
    /// The round or the sample's number.
    pub at: u32,
    /// Its value of the metric; absent where it has none.
    pub value: Option<f64>,
    /// The decision.
    pub judged: CandidateDecision,
    /// True if it is the one that the verdict is about.
    pub answer: bool,
}

/// Scores over rounds or samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The metric, in full: `ew.score`.
    pub metric: String,
    /// The unit of `at`: `round` or `sample`.
    pub over: &'static str,
    /// True if low values are good.
    pub lowest: bool,
    /// The candidates with a value, by `at`, then as they came.
    pub points: Vec<ScoredCandidate>,
    /// Candidates without a value, which are in no line.
    pub without: usize,
    /// The best value so far, after each round or sample that has one.
    pub best: Vec<(u32, f64)>,
}

impl Curve {
    /// Orders candidates and finds the best so far. Values that are not finite are left out.
    pub fn new(
        metric: impl Into<String>,
        over: &'static str,
        lowest: bool,
        scored: Vec<ScoredCandidate>,
    ) -> Self {
        let all = scored.len();
        let known = |s: &ScoredCandidate| s.value.is_some_and(f64::is_finite);
        let mut points: Vec<ScoredCandidate> = scored.into_iter().filter(known).collect();
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

    /// True if there is more than one place to draw a line between.
    pub fn is_worth_drawing(&self) -> bool {
        self.points.first().zip(self.points.last()).is_some_and(|(first, last)| first.at != last.at)
    }
}

const SIZE: (f64, f64) = (560.0, 240.0);
const MARGIN: (f64, f64, f64, f64) = (16.0, 12.0, 44.0, 56.0);

/// Draws a curve. Candidates at one spot share a marker with their number, which bounds the size.
pub fn svg(curve: &Curve) -> String {
    let axes = Axes::of(curve);
    let mut page = Page::default();
    axes.draw(curve, &mut page);
    // The line runs in steps, and to the end of the axis: the best so far stays the best.
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (at, value) in &curve.best {
        let (x, y) = (axes.x(*at), axes.y(*value));
        line.extend(line.last().map(|before| (x, before.1)));
        line.push((x, y));
    }
    line.extend(line.last().map(|last| (axes.x(axes.last), last.1)));
    page.polyline(&line, Paint::Blue, 2.0);
    markers(curve, &axes, &mut page);
    legend(curve, &mut page);
    page.finish_inside(SIZE.0, SIZE.1, &format!("{} by {}", curve.metric, curve.over))
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

    fn draw(&self, curve: &Curve, page: &mut Page) {
        let (left, right) = (MARGIN.3, SIZE.0 - MARGIN.1);
        let (top, bottom) = (self.y(self.high), self.y(self.low));
        for step in 0..=4 {
            let share = f64::from(step) / 4.0;
            let value = self.low * (1.0 - share) + self.high * share;
            let y = self.y(value);
            page.line("grid", (left, y), (right, y));
            page.text(left - 6.0, y + 4.0, Anchor::End, "", &short(value));
        }
        page.line("axis", (left, top), (left, bottom));
        page.line("axis", (left, bottom), (right, bottom));
        let span = self.last - self.first;
        let every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|e| span / e <= 12);
        let every = every.unwrap_or((span / 12).max(1));
        for at in (self.first..=self.last).step_by(every as usize) {
            page.text(self.x(at), bottom + 16.0, Anchor::Middle, "", &at.to_string());
        }
        page.text(right, bottom + 32.0, Anchor::End, "", curve.over);
        page.name(left, bottom + 32.0, Anchor::Start, "", &curve.metric);
    }
}

/// One marker for all candidates with the same decision at the same spot.
fn markers(curve: &Curve, axes: &Axes, page: &mut Page) {
    let mut spots: BTreeMap<(u32, i64, CandidateDecision), Vec<&ScoredCandidate>> = BTreeMap::new();
    for point in &curve.points {
        let y = (axes.y(point.value.unwrap_or_default()) * 2.0).round();
        spots.entry((point.at, y as i64, point.judged)).or_default().push(point);
    }
    for ((at, _, judged), points) in &spots {
        let place = (axes.x(*at), axes.y(points[0].value.unwrap_or_default()));
        let value = short(points[0].value.unwrap_or_default());
        let names = match points.as_slice() {
            [only] => only.path.clone(),
            many => format!("{} candidates, the first {}", many.len(), many[0].path),
        };
        let title = format!("{} {at}: {value}, {} ({names})", curve.over, judged.name());
        let (marker, paint) = judged.marker();
        page.marker(place, marker, paint, &title);
        if points.iter().any(|point| point.answer) {
            page.marker(place, Marker::Ring, paint, "the answer");
        }
    }
}

/// The line and the decisions that occur.
fn legend(curve: &Curve, page: &mut Page) {
    let y = SIZE.1 - 8.0;
    let mut x = MARGIN.3;
    page.polyline(&[(x, y - 4.0), (x + 18.0, y - 4.0)], Paint::Blue, 2.0);
    page.text(x + 24.0, y, Anchor::Start, "", "best so far");
    x += 104.0;
    for judged in CandidateDecision::ALL {
        if curve.points.iter().any(|point| point.judged == judged) {
            let (marker, paint) = judged.marker();
            page.marker((x + 6.0, y - 4.0), marker, paint, judged.name());
            page.text(x + 16.0, y, Anchor::Start, "", judged.name());
            x += 28.0 + 7.0 * judged.name().len() as f64;
        }
    }
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

    fn scored(at: u32, value: Option<f64>, judged: CandidateDecision) -> ScoredCandidate {
        ScoredCandidate { path: format!("t/edit#{at}/<0>"), at, value, judged, answer: value == Some(1.0) }
    }

    fn curve(lowest: bool) -> Curve {
        let points = vec![
            scored(2, Some(0.25), CandidateDecision::Rejected),
            scored(1, Some(0.5), CandidateDecision::Rejected),
            scored(1, Some(0.5), CandidateDecision::Rejected),
            scored(3, Some(1.0), CandidateDecision::Accepted),
            scored(3, None, CandidateDecision::Undecided),
            scored(4, Some(f64::NAN), CandidateDecision::NotComparable),
        ];
        Curve::new("ew.score", "round", lowest, points)
    }

    #[test]
    fn the_best_so_far_never_gets_worse_and_missing_values_are_counted() {
        assert_eq!(curve(false).best, [(1, 0.5), (2, 0.5), (3, 1.0)]);
        assert_eq!(curve(true).best, [(1, 0.5), (2, 0.25), (3, 0.25)]);
        assert_eq!((curve(false).points.len(), curve(false).without), (4, 2));
        assert!(curve(false).is_worth_drawing());
        assert!(
            !Curve::new("m", "round", false, vec![scored(0, Some(1.0), CandidateDecision::Unjudged)])
                .is_worth_drawing()
        );
    }

    #[test]
    fn candidates_at_one_spot_are_one_marker() {
        let drawn = svg(&curve(false));
        assert!(drawn.contains("2 candidates, the first t/edit#1/&lt;0&gt;"), "{drawn}");
        assert_eq!(drawn.matches("#d55e00").count(), 2 + 1, "two spots and the legend");
        assert_eq!(drawn.matches("class=\"ring\"").count(), 1);
        insta::assert_snapshot!(drawn);
    }

    #[test]
    fn ten_thousand_candidates_and_strange_values_are_drawn_in_bounds() {
        let many = |i: u32| scored(i % 80, Some(f64::from(i % 1000) / 999.0), CandidateDecision::Rejected);
        assert!(svg(&Curve::new("m", "sample", false, (0..10_000).map(many).collect())).len() < 3_000_000);
        for values in [vec![f64::MAX, f64::MIN], vec![7.0, 7.0], vec![-1.0, 1e-300], vec![]] {
            let points = values
                .iter()
                .zip(0..)
                .map(|(v, at)| scored(at, Some(*v), CandidateDecision::Unjudged))
                .collect();
            let drawn = svg(&Curve::new("m", "round", false, points));
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{values:?}: {drawn}");
        }
    }
}
