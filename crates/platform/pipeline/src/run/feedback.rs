//! What plugins that may ask a model are shown of a candidate, and told that earlier stages said of it.

use super::beam::Entry;
use super::context::Context;
use super::path::unmarked;
use crate::config::{FeedbackSource, Stage};
use planforge_contract::{Candidate, PlanOutcome};
use planforge_plugin_sdk::feedback::{self as words, NoPlan};

/// The candidate as plugins see it that may ask a model. What the environment said stays out unless the pipeline declares
/// it, and then it is told in words that are made for it.
pub(super) fn seen(context: &Context<'_>, entry: &Entry) -> Candidate {
    match context.pipeline.feedback {
        Some(FeedbackSource::Environment) => entry.with_feedback_alone(),
        None => entry.without_environment(),
    }
}

/// What the stages that the file names said of the candidate, in that order.
pub(super) fn said<'l>(
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
        match context.pipeline.stage(label) {
            Some(Stage::Translate(_)) => {
                let written = entry.written.iter().rev().find(|w| unmarked(&w.stage) == label);
                said.extend(written.and_then(|w| words::reply(&w.diagnostics)));
            }
            // A planner has the candidate's own texts alone to go by.
            Some(Stage::Plan(_)) => said.extend(entry.plans.get(label).and_then(unplanned)),
            _ => said.extend(candidate.assessments.get(label).into_iter().flat_map(|a| a.feedback.clone())),
        }
    }
    said
}

/// As [`said`], for a stage that writes: with why the last replies could not be used.
pub(super) fn for_writer<'l>(
    context: &Context<'_>,
    labels: impl IntoIterator<Item = &'l String>,
    entry: &Entry,
) -> Vec<String> {
    let mut told = said(context, labels, entry);
    if !entry.unusable.is_empty() {
        told.push(words::unusable(&entry.unusable));
    }
    told
}

/// Why there is no plan; nothing where there is one.
fn unplanned(outcome: &PlanOutcome) -> Option<String> {
    let clauses = |explanation: &[String]| -> Vec<_> {
        explanation.iter().map(|clause| (clause.clone(), None)).collect()
    };
    Some(match outcome {
        PlanOutcome::Plan { .. } => return None,
        PlanOutcome::ProvenUnsolvable { explanation, .. } => match explanation.is_empty() {
            true => words::no_plan(NoPlan::Proven, &[]),
            false => words::no_plan(NoPlan::Unreachable, &clauses(explanation)),
        },
        PlanOutcome::Exhausted { explanation, .. } => {
            words::no_plan(NoPlan::Exhausted, &clauses(explanation))
        }
        PlanOutcome::LimitReached { message, .. } => words::no_plan(NoPlan::Limit(message), &[]),
        PlanOutcome::Unsupported { diagnostics } => {
            let constructs: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
            words::no_plan(NoPlan::Unsupported(&constructs.join("; ")), &[])
        }
        PlanOutcome::Unreadable { diagnostics } => {
            words::lines("The planner cannot read the domain and the problem.".to_owned(), diagnostics)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{LimitKind, PlanDocument, SearchStatistics};

    #[test]
    fn every_outcome_without_a_plan_is_told_and_none_as_another() {
        let statistics = SearchStatistics::default;
        let why = || vec!["(lit c) can never hold".to_owned()];
        let outcomes = [
            PlanOutcome::ProvenUnsolvable { explanation: why(), statistics: statistics() },
            PlanOutcome::ProvenUnsolvable { explanation: Vec::new(), statistics: statistics() },
            PlanOutcome::Exhausted { explanation: why(), statistics: statistics() },
            PlanOutcome::LimitReached {
                limit: LimitKind::Nodes,
                message: "1000 nodes were expanded".into(),
                plans: Vec::new(),
                statistics: statistics(),
            },
            PlanOutcome::Unsupported { diagnostics: Vec::new() },
            PlanOutcome::Unreadable { diagnostics: Vec::new() },
        ];
        let told: Vec<String> = outcomes.iter().map(|outcome| unplanned(outcome).unwrap()).collect();
        assert!(
            told[0].contains("this is proven") && told[0].contains("(lit c) can never hold."),
            "{told:#?}"
        );
        assert!(told[1].contains("Every state"), "{told:#?}");
        assert!(told[2].contains("proves nothing") && told[2].contains("(lit c)"), "{told:#?}");
        assert!(told[3].contains("1000 nodes"), "{told:#?}");
        let distinct: std::collections::BTreeSet<&String> = told.iter().collect();
        assert_eq!(distinct.len(), told.len(), "{told:#?}");
        let plans = vec![PlanDocument::default()];
        assert_eq!(unplanned(&PlanOutcome::Plan { plans, optimal: false, statistics: statistics() }), None);
    }
}
