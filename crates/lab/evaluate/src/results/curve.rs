//! Success of a task over samples and over rounds, from the journal of its run.

use super::baseline::is_empty_domain;
use super::judges::Judges;
use super::replies::findings;
use crate::history::{MadeCandidate, TaskHistory};
use planforge_contract::Decision;
use planforge_planning::walk::harmonic_mean;
use serde::{Deserialize, Serialize};

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
}

/// A task's success over samples and rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskCurve {
    /// For N = 1, 2, ...: the candidate that ranks first among the first N samples. Unusable samples count as
    /// samples.
    pub best_of: Vec<CandidateMarks>,
    /// For N = 1, 2, ...: whether any of the first N samples is accepted by planforge's reader. What ranking can reach at most.
    pub any_of: Vec<bool>,
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
        }
    }
}

impl TaskCurve {
    /// Reads a task; nothing where it has neither samples nor rounds.
    pub(crate) fn of(task: &TaskHistory, judges: &Judges) -> Option<Self> {
        let (best_of, any_of) = over_samples(task, judges);
        let lines = task.lines();
        let last = lines.iter().flat_map(|line| line.rounds.iter().map(|(number, _)| *number)).max();
        let after = |rounds: u32| {
            let marks: Vec<CandidateMarks> = lines
                .iter()
                .filter_map(|line| Some(CandidateMarks::of(line.after(rounds)?, judges)))
                .collect();
            CandidateMarks::mean(&marks)
        };
        let after: Vec<CandidateMarks> = last.map(|last| (0..=last).map(after).collect()).unwrap_or_default();
        (!best_of.is_empty() || !after.is_empty()).then_some(Self { best_of, any_of, after })
    }
}

/// The samples of the first writer outside refinement, and the marks of the first N of them.
fn over_samples(task: &TaskHistory, judges: &Judges) -> (Vec<CandidateMarks>, Vec<bool>) {
    let Some(writer) = judges.writers.iter().find(|writer| {
        task.candidates
            .iter()
            .any(|made| made.stage == **writer && made.round == 0 && made.candidate.lineage.len() == 1)
    }) else {
        return (Vec::new(), Vec::new());
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
    ((1..=count).map(best).collect(), (1..=count).map(any).collect())
}

/// The index of the candidate that ranks first, as a select stage ranks: by the first metric that all of them
/// have, else by the last, where candidates without a value come last. Ties go to the earlier.
fn best_index(group: &[&MadeCandidate], judges: &Judges) -> Option<usize> {
    let values = |metric: &String| group.iter().map(|made| value(made, metric)).collect::<Vec<_>>();
    let mut all = judges.ranked_by.iter().map(values);
    let complete = all.clone().find(|values| values.iter().all(Option::is_some));
    let better = |a: f64, b: f64| if judges.ranked_low { a < b } else { a > b };
    let mut best = None;
    for (at, value) in complete.or(all.next_back()).unwrap_or_default().into_iter().enumerate() {
        let Some(value) = value else { continue };
        if best.is_none_or(|(_, known)| better(value, known)) {
            best = Some((at, value));
        }
    }
    best.map(|(at, _)| at).or((!group.is_empty()).then_some(0))
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
