//! The candidate and the feedback as plugins that may ask a model see them.

use super::beam::Entry;
use super::context::Context;
use crate::config::FeedbackSource;
use planforge_contract::Candidate;
use planforge_plugin_sdk::feedback as phrases;

/// The candidate as plugins that may ask a model see it. Results of the environment are left out, unless the
/// pipeline declares such feedback; then only the feedback made for models stays.
pub(crate) fn visible_candidate(context: &Context<'_>, entry: &Entry) -> Candidate {
    match context.pipeline.feedback {
        Some(FeedbackSource::Environment) => entry.with_feedback_alone(),
        None => entry.without_environment(),
    }
}

/// The feedback of the stages with these labels on the candidate, in that order.
pub(crate) fn stage_feedback<'l>(
    context: &Context<'_>,
    labels: impl IntoIterator<Item = &'l String>,
    entry: &Entry,
) -> Vec<String> {
    let mut labels = labels.into_iter().peekable();
    if labels.peek().is_none() {
        return Vec::new();
    }
    let candidate = visible_candidate(context, entry);
    let mut said = Vec::new();
    for label in labels {
        if let Some(stage) = context.pipeline.stage(label) {
            said.extend(stage.definition().feedback(entry, &candidate));
        }
    }
    said
}

/// As [`stage_feedback`], for a stage that writes: with the reasons why the last replies could not be used.
pub(crate) fn writer_feedback<'l>(
    context: &Context<'_>,
    labels: impl IntoIterator<Item = &'l String>,
    entry: &Entry,
) -> Vec<String> {
    let mut told = stage_feedback(context, labels, entry);
    if !entry.unusable.is_empty() {
        told.push(phrases::unusable(&entry.unusable));
    }
    told
}
