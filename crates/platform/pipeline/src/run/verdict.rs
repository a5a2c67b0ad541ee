//! The verdict on one candidate.

use super::beam::{Entry, StageOutcome};
use crate::config::{FeedbackSource, Pipeline};
use crate::stages::Stage;
use planforge_contract::FailureClass;
use planforge_record::TaskVerdict;

/// The place of a verdict in the order by which the best candidate is chosen, the best first.
pub(crate) const fn rank(verdict: &TaskVerdict) -> u8 {
    match verdict {
        TaskVerdict::Accepted => 0,
        TaskVerdict::Rejected { .. } => 1,
        TaskVerdict::Unsolvable { .. } => 2,
        TaskVerdict::Undecided { .. } => 3,
        TaskVerdict::Unusable { .. } => 4,
        TaskVerdict::Failed { .. } => 5,
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

/// True if the method itself accepts a candidate: at least one verify stage accepted it, and no stage objects. Stages that measure do
/// not count. Assessments that depend on the environment count only with `feedback = "environment"`, which makes the environment
/// part of the method. So the reference never chooses.
pub(crate) fn is_accepted_by_method(pipeline: &Pipeline, entry: &Entry) -> bool {
    let environment = pipeline.feedback == Some(FeedbackSource::Environment);
    let counts = |stage: &&Stage| {
        let label = stage.label();
        stage.definition().decides()
            && entry.has_current_result(label)
            && (environment || !entry.is_from_environment(label))
    };
    let mut accepted = false;
    pipeline.all_stages().filter(counts).all(|stage| {
        accepted |= matches!(entry.outcome(stage.label()), Some(StageOutcome::Assessed { .. }));
        objection(stage, entry).is_none()
    }) && accepted
}

/// The place of a candidate among those that are left at the end, the best first, chosen without the reference: by the place that the
/// last select or budget stage gave it, then by the verdict of the method's own stages. Assessments that depend on the
/// environment count only if they were made inside a refine or budget stage with `feedback = "environment"`.
pub(crate) fn place_at_end(pipeline: &Pipeline, entry: &Entry) -> (usize, u8) {
    let environment = pipeline.feedback == Some(FeedbackSource::Environment);
    let is_own = |stage: &&Stage| {
        let label = stage.label();
        !entry.is_from_environment(label) || (environment && pipeline.around(label).is_some())
    };
    (entry.place, rank(&verdict_of(pipeline.all_stages().filter(is_own), entry)))
}

/// The verdict of one stage against a candidate; none if it accepts it or does not decide.
pub(crate) fn objection(stage: &Stage, entry: &Entry) -> Option<TaskVerdict> {
    let definition = stage.definition();
    if !definition.decides() {
        return None;
    }
    match entry.outcome(stage.label()) {
        Some(StageOutcome::Failed(failure)) => {
            let (label, failure) = (stage.label().to_owned(), failure.clone());
            // A model that plans has answered; a critic's unusable reply says nothing about the candidate.
            let is_answer = failure.class == FailureClass::Reply && matches!(stage, Stage::Plan(_));
            Some(match is_answer {
                true => TaskVerdict::Unusable { stage: label, failure },
                false => TaskVerdict::Failed { stage: label, failure },
            })
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
