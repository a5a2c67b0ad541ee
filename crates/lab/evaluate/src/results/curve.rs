//! Success of a task over samples and over rounds, from the journal of its run.

use super::baseline::is_empty_domain;
use super::judges::Judges;
use super::replies::findings;
use crate::history::{MadeCandidate, TaskHistory};
use planforge_contract::Decision;
use planforge_planning::walk::harmonic_mean;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Marks of a candidate. planforge's own reader marks every candidate; the other marks exist where a stage
/// judged it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CandidateMarks {
    /// 1 where planforge finds no error in it; the share of such candidates where several are refined.
    pub front_end: f64,
    /// The same for VAL's Parser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val: Option<f64>,
    /// The same for a walk score of 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<f64>,
    /// The same for being the reference domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<f64>,
    /// The same for being the reference problem up to the names of objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_problem: Option<f64>,
}

/// A task's success over samples and rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskCurve {
    /// For N = 1, 2, ...: the candidate that ranks first among the first N samples. Unusable samples count as
    /// samples.
    pub best_of: Vec<CandidateMarks>,
    /// For N = 1, 2, ...: whether any of the first N samples is accepted by planforge's reader. What ranking can reach at most.
    pub any_of: Vec<bool>,
    /// For N = 1, 2, ...: the share of pairs of a sample that is the reference and one that is not, among the first N, in which the former
    /// ranks higher; a tie is half. Absent where there is no such pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Option<f64>>,
    /// For T = 0, 1, ...: the candidates that are refined, after T rounds.
    pub after: Vec<CandidateMarks>,
}

impl CandidateMarks {
    fn of(made: &MadeCandidate, judges: &Judges) -> Self {
        let one = |yes: bool| if yes { 1.0 } else { 0.0 };
        let said = |label: &Option<String>| made.assessments.get(label.as_ref()?);
        let decided = |decision: &Decision| match decision {
            Decision::Accepted => Some(1.0),
            Decision::Rejected => Some(0.0),
            Decision::Undecided { .. } | Decision::NotComparable { .. } => None,
        };
        let walk = said(&judges.walk).and_then(|walk| {
            let metric = |name: &str| walk.metrics.get(name).copied();
            Some(harmonic_mean(metric("reference_to_candidate")?, metric("candidate_to_reference")?))
        });
        // A copy of the interface has no errors and is not a success.
        let empty = made.patch.domain.as_deref().is_some_and(is_empty_domain);
        let val = said(&judges.val).and_then(|val| val.metrics.get("val_accepts")).copied();
        Self {
            front_end: one(!empty && findings(made).is_some_and(|(errors, _)| errors == 0)),
            val: val.map(|accepts| if empty { 0.0 } else { accepts }),
            walk: walk.map(|score| one(score >= 1.0)),
            same: said(&judges.same_domain).and_then(|same| decided(&same.decision)),
            same_problem: said(&judges.equivalent).and_then(|same| decided(&same.decision)),
        }
    }

    /// The mean; a figure that some member lacks is left out.
    fn mean(all: &[Self]) -> Self {
        let n = all.len().max(1) as f64;
        let of = |pick: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = all.iter().filter_map(pick).collect();
            (values.len() == all.len() && !all.is_empty()).then(|| values.iter().sum::<f64>() / n)
        };
        Self {
            front_end: all.iter().map(|m| m.front_end).sum::<f64>() / n,
            val: of(|m| m.val),
            walk: of(|m| m.walk),
            same: of(|m| m.same),
            same_problem: of(|m| m.same_problem),
        }
    }
}

impl TaskCurve {
    /// Reads a task; nothing where it has neither samples nor rounds.
    pub(crate) fn of(task: &TaskHistory, judges: &Judges) -> Option<Self> {
        let mut curve = over_samples(task, judges);
        let lines = task.lines();
        let last = lines.iter().flat_map(|line| line.rounds.iter().map(|(number, _)| *number)).max();
        let after = |rounds: u32| {
            let marks: Vec<CandidateMarks> = lines
                .iter()
                .filter_map(|line| Some(CandidateMarks::of(line.after(rounds)?, judges)))
                .collect();
            CandidateMarks::mean(&marks)
        };
        curve.after = last.map(|last| (0..=last).map(after).collect()).unwrap_or_default();
        (!curve.best_of.is_empty() || !curve.after.is_empty()).then_some(curve)
    }
}

/// The curves over the first N samples of the first writer outside refinement.
fn over_samples(task: &TaskHistory, judges: &Judges) -> TaskCurve {
    let Some(writer) = judges.writers.iter().find(|writer| {
        task.candidates
            .iter()
            .any(|made| made.stage == **writer && made.round == 0 && made.candidate.lineage.len() == 1)
    }) else {
        return TaskCurve::default();
    };
    let sampled =
        |made: &&MadeCandidate| made.stage == *writer && made.round == 0 && made.candidate.lineage.len() == 1;
    let sample = |made: &MadeCandidate| made.candidate.lineage.first().map_or(0, |step| step.sample);
    let mut samples: Vec<(u32, &MadeCandidate)> =
        task.candidates.iter().filter(sampled).map(|m| (sample(m), m)).collect();
    samples.sort_by_key(|(number, _)| *number);
    // A sample that broke has the number of its place in its path.
    let prefix = format!("{}/{writer}/", task.task);
    let broke = task.failed.iter().filter_map(|(path, _)| path.strip_prefix(&prefix)?.parse::<u32>().ok());
    let count = samples.iter().map(|(number, _)| *number).chain(broke).max().map_or(0, |last| last + 1);
    let marks: Vec<(u32, &MadeCandidate, CandidateMarks)> =
        samples.into_iter().map(|(number, made)| (number, made, CandidateMarks::of(made, judges))).collect();
    let first = |n: u32| marks.iter().filter(move |(number, ..)| *number < n);
    let best = |n: u32| {
        let group: Vec<&MadeCandidate> = first(n).map(|(_, made, _)| *made).collect();
        let at = best_index(&group, judges);
        at.and_then(|at| first(n).nth(at)).map(|(.., marks)| *marks).unwrap_or_default()
    };
    let any = |n: u32| first(n).any(|(.., marks)| marks.front_end > 0.5);
    let ranking = |n: u32| {
        let group: Vec<_> = first(n).map(|(_, made, marks)| (*made, *marks)).collect();
        ranks_right(&group, judges)
    };
    TaskCurve {
        best_of: (1..=count).map(best).collect(),
        any_of: (1..=count).map(any).collect(),
        ranking: (1..=count).map(ranking).collect(),
        after: Vec::new(),
    }
}

/// See [`TaskCurve::ranking`].
fn ranks_right(group: &[(&MadeCandidate, CandidateMarks)], judges: &Judges) -> Option<f64> {
    let made: Vec<&MadeCandidate> = group.iter().map(|(made, _)| *made).collect();
    let ranks = rank_values(&made, judges)?;
    let of = |wanted: f64| {
        let same = group.iter().map(|(_, marks)| marks.same.or(marks.same_problem));
        let wanted = same.zip(&ranks).filter(|(same, _)| *same == Some(wanted));
        wanted.map(|(_, rank)| *rank).collect::<Vec<Option<f64>>>()
    };
    let (right, wrong) = (of(1.0), of(0.0));
    let pairs = right.iter().flat_map(|right| wrong.iter().map(move |wrong| right.partial_cmp(wrong)));
    let wins: Vec<f64> = pairs
        .map(|order| match order {
            Some(Ordering::Greater) => 1.0,
            Some(Ordering::Less) => 0.0,
            Some(Ordering::Equal) | None => 0.5,
        })
        .collect();
    (!wins.is_empty()).then(|| wins.iter().sum::<f64>() / wins.len() as f64)
}

/// The index of the candidate that ranks first. Ties go to the earlier.
fn best_index(group: &[&MadeCandidate], judges: &Judges) -> Option<usize> {
    let ranks = rank_values(group, judges).unwrap_or_else(|| vec![None; group.len()]);
    let better = |at: usize, best: usize| ranks.get(at) > ranks.get(best);
    (0..group.len()).reduce(|best, at| if better(at, best) { at } else { best })
}

/// The values by which a select stage ranks, higher ones first: of the first metric that all candidates have, else of the last, where a
/// candidate without a value comes last.
fn rank_values(group: &[&MadeCandidate], judges: &Judges) -> Option<Vec<Option<f64>>> {
    let sign = if judges.ranked_low { -1.0 } else { 1.0 };
    let values = |metric: &String| -> Vec<Option<f64>> {
        group.iter().map(|made| value(made, metric).map(|value| sign * value)).collect()
    };
    let mut all = judges.ranked_by.iter().map(values);
    let complete = all.clone().find(|values| values.iter().all(Option::is_some));
    complete.or(all.next_back())
}

fn value(made: &MadeCandidate, metric: &str) -> Option<f64> {
    let candidate = &made.candidate;
    match metric.split_once('.')? {
        ("candidate", "log_likelihood") => candidate.log_likelihood,
        ("candidate", "mean_log_likelihood") => {
            let tokens = candidate.tokens.filter(|tokens| *tokens > 0)?;
            Some(candidate.log_likelihood? / tokens as f64)
        }
        (stage, name) => made.assessments.get(stage)?.metrics.get(name).copied(),
    }
}
