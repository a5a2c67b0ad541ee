//! The test-time-scaling paper: Table 2 ([`Scaling`]), Table 5 ([`Plans`]), and Fig. 3 to 5 ([`curves`]).
//!
//! Success over samples and over rounds (test-time-scaling paper, Fig. 3 to 5), from the journal of one run:
//! best-of-N for every N up to the number of samples by taking the first N, and success after each round of
//! refinement.

mod domains;
mod plans;

pub use domains::{Scaling, ScalingCell, ScalingRow};
pub use plans::{Plans, PlansCell, PlansRow};

use crate::chart::{Panel, Series, Style, svg};
use crate::results::{
    CandidateMarks, CellResult, CountsAs, Evaluation, OpenReason, TaskCurve, TaskResult, counts_as,
    counts_as_solved,
};
use crate::statistics::{Interval, bootstrap_mean, mean, share_interval};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use serde::Serialize;
use std::collections::BTreeMap;

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;
/// Samples of the bootstrap of a difference.
const RESAMPLES: usize = 2000;

/// A share of tasks, in per cent: averaged over the seeds of a domain first, over the domains last.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rate {
    /// The share.
    pub percent: f64,
    /// The share if every open task that ended counted for it.
    pub percent_if_open: f64,
    /// Wilson's 95 % interval of `percent`, with domains as trials: runs of one domain under several seeds are one trial.
    pub interval: Interval,
    pub domains: usize,
    /// Tasks that ended, over all domains and seeds.
    pub tasks: usize,
    /// Open tasks, by what left them open. Those that did not end are in no other figure.
    pub open: Vec<(OpenReason, usize)>,
    /// The difference to the base method in percentage points; absent for the base itself and if the base has
    /// no figure.
    pub delta: Option<Delta>,
    pub by_domain: BTreeMap<String, f64>,
}

/// A difference to the base method over the domains that both have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delta {
    /// Percentage points.
    pub points: f64,
    /// The 95 % bootstrap interval of the paired differences; a point where no domain differs from another.
    pub interval: Option<Interval>,
    /// Domains that both have.
    pub domains: usize,
}

/// A criterion for written domains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// VAL's Parser accepts it: the paper's success rate.
    Val,
    /// planforge's reader finds no error.
    FrontEnd,
    /// The walk score is 1.
    Walk,
    /// It is the reference domain.
    Same,
    /// The task's plan is valid.
    Plan,
}

impl Criterion {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::Val, Self::FrontEnd, Self::Walk, Self::Same, Self::Plan];

    /// The title of its table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Val => "% of domains that VAL's Parser accepts (the paper's success rate)",
            Self::FrontEnd => "% of domains in which planforge finds no error",
            Self::Walk => "% of domains whose walk score is 1",
            Self::Same => "% of domains that are the reference domain",
            Self::Plan => "% of tasks whose plan is valid",
        }
    }

    const fn column(self) -> &'static str {
        match self {
            Self::Val => "val",
            Self::FrontEnd => "front_end",
            Self::Walk => "walk_1",
            Self::Same => "same_domain",
            Self::Plan => "plan_valid",
        }
    }

    /// The answer of a task; absent if no stage gives one.
    fn of(self, task: &TaskResult) -> Option<CountsAs> {
        let outcome = match self {
            Self::Val => task.domain.val,
            Self::FrontEnd => task.domain.front_end,
            Self::Walk => task.domain.walk,
            Self::Same => task.domain.same,
            Self::Plan => return Some(counts_as_solved(task)),
        };
        outcome.map(|outcome| counts_as(Some(outcome)))
    }
}

impl Delta {
    fn of(rate: &Rate, base: &Rate) -> Option<Self> {
        let shared =
            rate.by_domain.iter().filter_map(|(domain, own)| Some(own - base.by_domain.get(domain)?));
        let differences: Vec<f64> = shared.collect();
        Some(Self {
            points: mean(&differences)?.mean,
            interval: bootstrap_mean(&differences, CONFIDENCE, RESAMPLES, 0),
            domains: differences.len(),
        })
    }
}

impl Rate {
    /// Of cells of one method; nothing where a task has no answer at all, or no task ended.
    fn of(cells: &[&CellResult], count: impl Fn(&TaskResult) -> Option<CountsAs>) -> Option<Self> {
        let mut domains: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        let mut open: BTreeMap<&'static str, (OpenReason, usize)> = BTreeMap::new();
        let mut tasks = 0;
        for cell in cells {
            for task in &cell.tasks {
                let counts = count(task)?;
                let is_ended = !matches!(counts, CountsAs::Open(OpenReason::Unfinished));
                tasks += usize::from(is_ended);
                let (low, high) = match counts {
                    CountsAs::For => (100.0, 100.0),
                    CountsAs::Against => (0.0, 0.0),
                    CountsAs::Open(why) => {
                        let name = OpenReason::ALL
                            .iter()
                            .find(|(known, ..)| *known == why)
                            .map_or("", |(_, letter, _)| letter);
                        open.entry(name).or_insert((why, 0)).1 += 1;
                        (0.0, 100.0)
                    }
                };
                if !is_ended {
                    continue;
                }
                let domain = domains.entry(&cell.key.suite).or_default();
                domain.0.push(low);
                domain.1.push(high);
            }
        }
        let average = |values: &[f64]| mean(values).map_or(0.0, |m| m.mean);
        let by_domain: BTreeMap<String, f64> =
            domains.iter().map(|(name, (low, _))| ((*name).to_owned(), average(low))).collect();
        let high: Vec<f64> = domains.values().map(|(_, high)| average(high)).collect();
        let percent = mean(&by_domain.values().copied().collect::<Vec<_>>())?.mean;
        let share = share_interval(percent / 100.0, by_domain.len() as f64, CONFIDENCE);
        Some(Self {
            percent,
            percent_if_open: average(&high),
            interval: Interval { low: 100.0 * share.low, high: 100.0 * share.high },
            domains: by_domain.len(),
            tasks,
            open: open.into_values().collect(),
            delta: None,
            by_domain,
        })
    }
}

/// A point of a curve over tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// N or T.
    pub x: u32,
    /// The share of tasks.
    pub share: f64,
    /// Its 95 % interval, with domains as trials.
    pub interval: Interval,
    /// Tasks that have a value here.
    pub tasks: usize,
}

/// A curve of one pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The pipeline, as `PIPELINE@MODEL` where the matrix has models.
    pub pipeline: String,
    /// `samples` or `rounds`.
    pub over: &'static str,
    /// The criterion of success: `front end`, `any of N (front end)`, `VAL`, `walk score 1`, `same domain`, `same problem`; or `right above
    /// wrong`, the share of pairs of samples that are ranked rightly.
    pub criterion: &'static str,
    /// The points, by ascending x.
    pub points: Vec<CurvePoint>,
}

/// A criterion's name and where it lies.
type CurveCriterion = (&'static str, fn(&CandidateMarks) -> Option<f64>);
const CRITERIA: [CurveCriterion; 5] = [
    ("VAL", |m| m.val),
    ("front end", |m| Some(m.front_end)),
    ("walk score 1", |m| m.walk),
    ("same domain", |m| m.same),
    ("same problem", |m| m.same_problem),
];

/// The curves of an evaluation, in the order of its pipelines. A task whose refinement ended early keeps its
/// last value; a task with fewer samples is left out beyond them.
pub fn curves(evaluation: &Evaluation) -> Vec<Curve> {
    let mut all = Vec::new();
    for column in &evaluation.columns {
        let cells: Vec<&CellResult> =
            evaluation.cells.iter().filter(|cell| column.holds(&cell.key)).collect();
        let mut push = |over, criterion, values: &Values<'_>, length| {
            let points: Vec<CurvePoint> =
                (0..length).filter_map(|at| point(&cells, over, at, values)).collect();
            if !points.is_empty() {
                all.push(Curve { pipeline: column.name(), over, criterion, points });
            }
        };
        let tasks = || cells.iter().flat_map(|cell| &cell.tasks).filter_map(|task| task.curve.as_ref());
        let samples = tasks().map(|curve| curve.best_of.len()).max().unwrap_or(0);
        let rounds = tasks().map(|curve| curve.after.len()).max().unwrap_or(0);
        for (name, pick) in CRITERIA {
            push("samples", name, &|curve, at| curve.best_of.get(at).map(pick), samples);
        }
        let any =
            |curve: &TaskCurve, at: usize| curve.any_of.get(at).map(|any| Some(f64::from(u8::from(*any))));
        push("samples", "any of N (front end)", &any, samples);
        // Over the tasks that have a right and a wrong sample.
        let ranking = |curve: &TaskCurve, at: usize| curve.ranking.get(at).copied().flatten().map(Some);
        push("samples", "right above wrong", &ranking, samples);
        for (name, pick) in CRITERIA {
            let value = |curve: &TaskCurve, at: usize| curve.after.get(at).or(curve.after.last()).map(pick);
            push("rounds", name, &value, rounds);
        }
    }
    all
}

/// A task's value at a place of a curve: the outer option is absent if the task ends before it, the inner one
/// if nothing judged it.
type Values<'a> = dyn Fn(&TaskCurve, usize) -> Option<Option<f64>> + 'a;

/// A point over all tasks that come so far; none where a task among them has no value, for those that have one are not like the others.
fn point(cells: &[&CellResult], over: &str, at: usize, value: &Values<'_>) -> Option<CurvePoint> {
    let mut suites: Vec<(&str, Vec<f64>)> = Vec::new();
    for cell in cells {
        for value in cell.tasks.iter().filter_map(|task| value(task.curve.as_ref()?, at)) {
            let value = value?;
            match suites.iter_mut().find(|(suite, _)| *suite == cell.key.suite) {
                Some((_, values)) => values.push(value),
                None => suites.push((&cell.key.suite, vec![value])),
            }
        }
    }
    if suites.is_empty() {
        return None;
    }
    let means: Vec<f64> =
        suites.iter().map(|(_, values)| values.iter().sum::<f64>() / values.len() as f64).collect();
    let share = means.iter().sum::<f64>() / means.len() as f64;
    let x = u32::try_from(at).unwrap_or(u32::MAX);
    Some(CurvePoint {
        x: if over == "samples" { x.saturating_add(1) } else { x },
        share,
        interval: share_interval(share, means.len() as f64, 0.95),
        tasks: suites.iter().map(|(_, values)| values.len()).sum(),
    })
}

/// The curves as CSV, JSON and two figures: over samples (Fig. 3, right) and over rounds (Fig. 3, left; Fig. 4 and 5).
///
/// # Errors
/// `study.plot`.
pub fn curve_files(curves: &[Curve]) -> Result<Vec<Artefact>, Failure> {
    let columns = ["pipeline", "over", "criterion", "x", "share", "low", "high", "tasks"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for curve in curves {
        for point in &curve.points {
            let four = |value: f64| format!("{value:.4}");
            table.row([
                curve.pipeline.clone(),
                curve.over.to_owned(),
                curve.criterion.to_owned(),
                point.x.to_string(),
                four(point.share),
                four(point.interval.low),
                four(point.interval.high),
                point.tasks.to_string(),
            ]);
        }
    }
    let mut files = vec![Artefact::new("curves.csv", table.csv()), Artefact::json("curves.json", &curves)?];
    for (over, name, title, x_label) in [
        ("samples", "curves_samples.svg", "Success of the best of N samples", "N, samples"),
        ("rounds", "curves_rounds.svg", "Success after T rounds", "T, rounds"),
    ] {
        let own: Vec<&Curve> = curves.iter().filter(|curve| curve.over == over).collect();
        if !own.is_empty() {
            files.push(Artefact::new(name, svg(&[panel(&own, title, x_label)], 1)));
        }
    }
    Ok(files)
}

fn panel(curves: &[&Curve], title: &str, x_label: &str) -> Panel {
    let series = curves.iter().enumerate().map(|(number, curve)| Series {
        label: Some(format!("{}: {}", curve.pipeline, curve.criterion)),
        style: Style::Number(number),
        points: curve.points.iter().map(|p| (f64::from(p.x), p.share)).collect(),
        band: Vec::new(),
        errors: Vec::new(),
    });
    let xs = || curves.iter().flat_map(|curve| &curve.points).map(|point| f64::from(point.x));
    let (first, last) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    Panel {
        title: title.to_owned(),
        x_label: x_label.to_owned(),
        y_label: "share of tasks".to_owned(),
        // A single point has no extent.
        x: (first, if last > first { last } else { first + 1.0 }),
        y: (0.0, 1.0),
        series: series.collect(),
        legend_right: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::history::tests::JournalBuilder;
    use crate::results::Judges;
    use planforge_contract::{Decision, FailureClass};

    const GOOD: &str = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))";
    const BAD: &str = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (q) :effect (not (p))))";

    fn judges() -> Judges {
        Judges {
            writers: vec!["domain".to_owned(), "update".to_owned()],
            ranked_by: vec!["candidate.log_likelihood".to_owned()],
            ..Judges::default()
        }
    }

    fn shares(marks: &[CandidateMarks]) -> Vec<f64> {
        marks.iter().map(|m| m.front_end).collect()
    }

    #[test]
    fn the_best_of_the_first_n_is_the_one_that_ranks_first_among_them() {
        let journal = JournalBuilder::new();
        journal.failed("s.p01", "s.p01/domain/0", FailureClass::Reply);
        journal.made("s.p01", "domain/2", BAD, Some(-1.0));
        journal.made("s.p01", "domain/1", GOOD, Some(-5.0));
        journal.made("s.p01", "domain/3", GOOD, Some(-0.5));
        let task = &History::read(&journal.0).unwrap().tasks[0];
        let curve = TaskCurve::of(task, &judges()).unwrap();
        assert_eq!(shares(&curve.best_of), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(curve.any_of, [false, true, true, true]);
        assert!(curve.after.is_empty());
        let low = Judges { ranked_low: true, ..judges() };
        assert_eq!(shares(&TaskCurve::of(task, &low).unwrap().best_of), [0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_group_in_which_one_lacks_the_value_is_ranked_by_the_next_metric() {
        let journal = JournalBuilder::new();
        for (descent, domain, likelihood, errors) in
            [("domain/0", GOOD, None, 0.0), ("domain/1", BAD, Some(-1.0), 1.0)]
        {
            let path = journal.made("s.p01", descent, domain, likelihood);
            let mut assessment = planforge_contract::Assessment::new(Decision::Accepted, "");
            assessment.metrics.insert("quality".to_owned(), -errors);
            journal.assessed("s.p01", "pddl", &path, &assessment);
        }
        let task = &History::read(&journal.0).unwrap().tasks[0];
        let best = |judges: &Judges| shares(&TaskCurve::of(task, judges).unwrap().best_of);
        // Without a second metric the one without a value comes last.
        assert_eq!(best(&judges()), [1.0, 0.0]);
        let mut otherwise = judges();
        otherwise.ranked_by.push("pddl.quality".to_owned());
        assert_eq!(best(&otherwise), [1.0, 1.0]);
    }

    #[test]
    fn right_samples_that_rank_above_wrong_ones_are_counted_in_pairs() {
        let journal = JournalBuilder::new();
        let samples = [(-1.0, Decision::Accepted), (-2.0, Decision::Rejected), (-3.0, Decision::Accepted)];
        for (number, (likelihood, decision)) in samples.into_iter().enumerate() {
            let path = journal.made("s.p01", &format!("domain/{number}"), GOOD, Some(likelihood));
            journal.assessed("s.p01", "same", &path, &planforge_contract::Assessment::new(decision, ""));
        }
        let task = &History::read(&journal.0).unwrap().tasks[0];
        let ranking = |judges: &Judges| TaskCurve::of(task, judges).unwrap().ranking;
        let domain = Judges { same_domain: Some("same".to_owned()), ..judges() };
        assert_eq!(ranking(&domain), [None, Some(1.0), Some(0.5)]);
        let problem = Judges { equivalent: Some("same".to_owned()), ranked_low: true, ..judges() };
        assert_eq!(ranking(&problem), [None, Some(0.0), Some(0.5)]);
        let unranked = Judges { ranked_by: Vec::new(), ..domain };
        assert_eq!(ranking(&unranked), [None, None, None]);
    }

    #[test]
    fn a_point_that_some_task_lacks_is_left_out() {
        let known = |val| CandidateMarks { front_end: 1.0, val, ..CandidateMarks::default() };
        let mut cell = crate::results::bare("s", "p", 1, 2);
        cell.tasks[0].curve =
            Some(TaskCurve { best_of: vec![known(Some(1.0)), known(Some(0.0))], ..TaskCurve::default() });
        cell.tasks[1].curve =
            Some(TaskCurve { best_of: vec![known(None), known(Some(1.0))], ..TaskCurve::default() });
        let evaluation = Evaluation::new(vec![1], &std::collections::BTreeMap::new(), vec![cell]);
        let all = curves(&evaluation);
        let of = |criterion| {
            let curve = all.iter().find(|curve| curve.criterion == criterion).unwrap();
            curve.points.iter().map(|p| (p.x, p.share, p.tasks)).collect::<Vec<_>>()
        };
        assert_eq!(of("VAL"), [(2, 0.5, 2)]);
        assert_eq!(of("front end"), [(1, 1.0, 2), (2, 1.0, 2)]);
        assert!(!all.iter().any(|curve| curve.criterion == "walk score 1"));
    }

    #[test]
    fn rounds_are_followed_for_each_candidate_that_is_refined() {
        let journal = JournalBuilder::new();
        let one = journal.made("s.p01", "domain/0", BAD, Some(-1.0));
        let other = journal.made("s.p01", "domain/1", GOOD, Some(-2.0));
        let better = journal.made("s.p01", "domain/0 update#1/0", GOOD, None);
        let worse = journal.made("s.p01", "domain/1 update#2/0", BAD, None);
        journal.round("s.p01", &one, 1, Some(&better));
        journal.round("s.p01", &other, 1, None);
        journal.round("s.p01", &other, 2, Some(&worse));
        let task = &History::read(&journal.0).unwrap().tasks[0];
        let curve = TaskCurve::of(task, &judges()).unwrap();
        assert_eq!(shares(&curve.after), [0.5, 1.0, 0.5]);
    }
}
