//! `plan`: a plan, its cost, or the reason why there is none.

use crate::answers::{Findings, plan_in_words};
use crate::call::{Call, TextArgument};
use crate::codes::use_case_failure;
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::{Failure, PlanDocument, SearchStatistics};
use planforge_app::pddl::plan::{PlanRequest, PlanSearch, plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) struct Plan;

/// A task to plan for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanArguments {
    /// The domain.
    domain: TextArgument,
    /// The problem.
    problem: TextArgument,
    /// True to find a cheapest plan and prove it, which takes longer.
    #[serde(default)]
    optimal: bool,
    #[serde(default)]
    limits: LimitArguments,
}

/// The result of the search.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanAnswer {
    /// plan, proven-unsolvable, exhausted (no plan found, not a proof), limit-reached, unsupported, or unreadable.
    outcome: String,
    /// The plan in IPC form: one ground action a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<String>,
    /// Steps of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<usize>,
    /// Cost of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// True if the plan is proven cheapest.
    optimal: bool,
    /// Reasons why there is no plan: what can never become true, or the limit that was reached.
    why_not: Vec<String>,
    /// The plan in sentences: the result of its validation, and what each of the first 200 steps changes. Facts read as in
    /// `sentences.toml` beside the domain's file, else by their names.
    in_words: Vec<String>,
    #[serde(flatten)]
    findings: Findings,
    /// About the search.
    statistics: SearchStatistics,
}

impl ToolKind for Plan {
    type Arguments = PlanArguments;
    type Answer = PlanAnswer;
    const NAME: &'static str = "plan";
    const TITLE: &'static str = "Find a plan";
    const DESCRIPTION: &'static str = "Searches a plan for a PDDL domain and problem. Returns the plan with its cost, or says why there is none: \
         the goal can never become true (and which part of it), a limit was reached, or the texts have mistakes.";

    fn call(call: &Call, arguments: PlanArguments) -> Result<PlanAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let texts = call.texts(&limits);
        let request = PlanRequest {
            domain: texts.read("domain", &arguments.domain)?,
            problem: texts.read("problem", &arguments.problem)?,
            search: if arguments.optimal { PlanSearch::Optimal } else { PlanSearch::Any },
            in_words: Some(texts.sentences(&arguments.domain)),
            limits: limits.remaining(),
            nodes: Some(limits.nodes),
        };
        let result = plan(&call.context, &request).map_err(|error| use_case_failure(&error))?;
        call.check_cancelled()?;
        let report = result.report();
        let best = report.plans.first();
        Ok(PlanAnswer {
            plan: best.map(PlanDocument::to_ipc),
            steps: best.map(|plan| plan.steps.len()),
            cost: best.and_then(|plan| plan.cost),
            outcome: report.outcome,
            optimal: report.optimal,
            why_not: report.explanation,
            in_words: plan_in_words(result.told),
            findings: Findings::new(report.diagnostics),
            statistics: report.statistics,
        })
    }
}
