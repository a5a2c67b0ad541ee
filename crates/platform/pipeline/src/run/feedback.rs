//! What plugins that may ask a model are shown of a candidate, and told that earlier stages said of it.

use super::beam::Entry;
use super::context::Context;
use crate::config::FeedbackSource;
use planforge_contract::Candidate;
use planforge_plugin_sdk::feedback as phrases;

/// The candidate as plugins see it that may ask a model. What the environment said stays out unless the pipeline declares
/// it, and then it is told in words that are made for it.
pub(crate) fn seen(context: &Context<'_>, entry: &Entry) -> Candidate {
    match context.pipeline.feedback {
        Some(FeedbackSource::Environment) => entry.with_feedback_alone(),
        None => entry.without_environment(),
    }
}

/// What the stages that the file names said of the candidate, in that order.
pub(crate) fn said<'l>(
    context: &Context<'_>,
    labels: impl IntoIterator<Item = &'l String>,
    entry: &Entry,
) -> Vec<String> {
    let mut labels = labels.into_iter().peekable();
    if labels.peek().is_none() {
        return Vec::new();
    }
    let candidate = seen(context, entry);
    let mut said = Vec::new();
    for label in labels {
        if let Some(stage) = context.pipeline.stage(label) {
            said.extend(stage.definition().feedback(entry, &candidate));
        }
    }
    said
}

/// As [`said`], for a stage that writes: with why the last replies could not be used.
pub(crate) fn for_writer<'l>(
    context: &Context<'_>,
    labels: impl IntoIterator<Item = &'l String>,
    entry: &Entry,
) -> Vec<String> {
    let mut told = said(context, labels, entry);
    if !entry.unusable.is_empty() {
        told.push(phrases::unusable(&entry.unusable));
    }
    told
}
