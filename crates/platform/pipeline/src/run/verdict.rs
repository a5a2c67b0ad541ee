//! The verdict on one candidate.

use super::beam::Entry;
use crate::config::Pipeline;
use crate::stages::Stage;
use planforge_contract::TaskVerdict;
use std::ops::Range;

/// The place of a verdict in the order by which the best candidate is chosen, the best first.
pub(crate) const fn rank(verdict: &TaskVerdict) -> u8 {
    match verdict {
        TaskVerdict::Accepted => 0,
        TaskVerdict::Rejected { .. } => 1,
        TaskVerdict::Unsolvable { .. } => 2,
        TaskVerdict::Undecided { .. } => 3,
        TaskVerdict::Failed { .. } => 4,
    }
}

/// The verdict on a candidate after these stages, each with its position among all: a rejection by any stage counts first, then a proof
/// that there is no plan, then the first stage that did not accept.
pub(crate) fn verdict_of<'a>(stages: impl Iterator<Item = (usize, &'a Stage)>, entry: &Entry) -> TaskVerdict {
    let counted = stages.filter(|(position, stage)| entry.counts(*position, stage.label()));
    let found: Vec<TaskVerdict> = counted.filter_map(|(_, stage)| objection(stage, entry)).collect();
    let first = |wanted: u8| found.iter().find(|verdict| rank(verdict) == wanted);
    first(1).or_else(|| first(2)).or_else(|| found.first()).cloned().unwrap_or(TaskVerdict::Accepted)
}

/// The verdict of one stage against a candidate; none if it accepts it or does not decide.
pub(crate) fn objection(stage: &Stage, entry: &Entry) -> Option<TaskVerdict> {
    let definition = stage.definition();
    if !definition.decides() {
        return None;
    }
    match entry.failures.get(stage.label()) {
        Some(failure) => {
            Some(TaskVerdict::Failed { stage: stage.label().to_owned(), failure: failure.clone() })
        }
        None => definition.objection(entry),
    }
}

/// True if a stage outside of these positions rejected the candidate as it is now.
pub(crate) fn is_rejected(pipeline: &Pipeline, entry: &Entry, except: &Range<usize>) -> bool {
    let rejects = |(position, stage): (usize, &Stage)| {
        !except.contains(&position)
            && entry.counts(position, stage.label())
            && stage.definition().rejects(entry)
    };
    pipeline.all_stages().enumerate().any(rejects)
}
