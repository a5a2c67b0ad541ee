//! Several plans: the cheapest ones, in order.

use crate::classical::budget::CallBudget;
use crate::classical::options::ClassicalPlannerOptions;
use crate::classical::report::{explain, limit_kind, report, unsupported_diagnostic};
use planforge_contract::{PlanDocument, PlanOutcome, SearchStatistics};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::{QualityBound, StopReason, TopKEnd, TopKOptions, TopKOutcome};
use std::num::NonZeroUsize;

/// Searches for the `k` cheapest plans and keeps at most `nodes` states and partial plans. A limit before the
/// last plan returns the limit with the plans found. An answer with fewer plans than `k` means that there are
/// no others.
pub(crate) fn run(
    domain: &Domain,
    problem: &Problem,
    options: &ClassicalPlannerOptions,
    (k, nodes): (u32, Option<u64>),
    budget: &mut CallBudget<'_>,
    sources: &SourceMap,
) -> PlanOutcome {
    let wanted = NonZeroUsize::new(k as usize).unwrap_or(NonZeroUsize::MIN);
    let defaults = TopKOptions::new(wanted);
    let top_k_options = TopKOptions {
        quality: options.quality.map(QualityBound::Times),
        semantics: options.semantics.into(),
        max_nodes: nodes.unwrap_or(defaults.max_nodes),
        ..defaults
    };
    let result = match planforge_planning::top_k(domain, problem, &top_k_options, budget) {
        Ok(result) => result,
        Err(errors) => return PlanOutcome::Unreadable { diagnostics: report(&errors, sources) },
    };
    let statistics = SearchStatistics {
        expanded: Some(result.statistics.expanded),
        evaluated: Some(result.statistics.evaluated),
        generated: Some(result.statistics.generated),
        ground_actions: Some(result.ground_size.0 as u64),
        search: result.method.to_owned(),
    };
    let limit = |reason: StopReason, plans: Vec<PlanDocument>, statistics| {
        let rest = if plans.is_empty() { "" } else { "; they are the cheapest, and there may be others" };
        let found = format!("{} of {wanted} plans had been found", plans.len());
        let message = format!("{reason} was reached when {found}{rest}");
        PlanOutcome::LimitReached { limit: limit_kind(reason), message, plans, statistics }
    };
    let documents = |plans: &[planforge_planning::Plan]| -> Vec<PlanDocument> {
        let document = |plan: &planforge_planning::Plan| PlanDocument {
            steps: plan.step_texts(),
            cost: plan.cost,
            ..PlanDocument::default()
        };
        plans.iter().map(document).collect()
    };
    match result.outcome {
        TopKOutcome::Plans { plans, end: TopKEnd::LimitReached(reason) } => {
            limit(reason, documents(&plans), statistics)
        }
        TopKOutcome::Plans { plans, end: TopKEnd::Enough | TopKEnd::NoMore } => {
            PlanOutcome::Plan { plans: documents(&plans), optimal: true, statistics }
        }
        TopKOutcome::ProvenUnsolvable(why) => {
            PlanOutcome::ProvenUnsolvable { explanation: explain(&why, sources), statistics }
        }
        TopKOutcome::LimitReached(reason) => limit(reason, Vec::new(), statistics),
        TopKOutcome::Unsupported(constructs) => {
            let diagnostics: Vec<Diagnostic> = constructs.iter().map(unsupported_diagnostic).collect();
            PlanOutcome::Unsupported { diagnostics: report(&diagnostics, sources) }
        }
    }
}
