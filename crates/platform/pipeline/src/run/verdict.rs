//! The verdict on one candidate.

use super::beam::{Entry, StageOutcome};
use crate::config::Pipeline;
use crate::stages::Stage;
use planforge_record::TaskVerdict;

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

/// The verdict on a candidate after these stages, by their results about its current versions: a rejection by any stage counts first, then
/// a proof that there is no plan, then the first stage that did not accept.
pub(crate) fn verdict_of<'a>(stages: impl IntoIterator<Item = &'a Stage>, entry: &Entry) -> TaskVerdict {
    let current = stages.into_iter().filter(|stage| entry.has_current_result(stage.label()));
    let found: Vec<TaskVerdict> = current.filter_map(|stage| objection(stage, entry)).collect();
    let first = |wanted: u8| found.iter().find(|verdict| rank(verdict) == wanted);
    first(1).or_else(|| first(2)).or_else(|| found.first()).cloned().unwrap_or(TaskVerdict::Accepted)
}

/// The verdict of one stage against a candidate; none if it accepts it or does not decide.
pub(crate) fn objection(stage: &Stage, entry: &Entry) -> Option<TaskVerdict> {
    let definition = stage.definition();
    if !definition.decides() {
        return None;
    }
    match entry.outcome(stage.label()) {
        Some(StageOutcome::Failed(failure)) => {
            Some(TaskVerdict::Failed { stage: stage.label().to_owned(), failure: failure.clone() })
        }
        _ => definition.objection(entry),
    }
}

/// True if a stage, except those, rejected the candidate as it is now.
pub(crate) fn is_rejected(pipeline: &Pipeline, entry: &Entry, except: impl Fn(&Stage) -> bool) -> bool {
    let rejects =
        |stage: &Stage| entry.has_current_result(stage.label()) && stage.definition().rejects(entry);
    pipeline.all_stages().any(|stage| rejects(stage) && !except(stage))
}
