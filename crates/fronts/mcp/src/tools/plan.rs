//! `plan`: a plan, its cost, or the reason why there is none.

use crate::answers::{Findings, plan_in_words};
use crate::call::{Call, CallHost, TextArgument};
use crate::limits::LimitArguments;
use crate::tool::ToolKind;
use planforge_contract::{
    Failure, JsonObject, PlanDocument, PlanLimits, PlanOutcome, PlanRequest, ReportedDiagnostic,
    SearchStatistics,
};
use planforge_plugin_common::judging::reports::PlanReport;
use planforge_plugin_common::judging::{NamedText, TaskTexts, limit_outcome};
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
        let mut limits = call.limits(arguments.limits)?;
        let reader = call.texts(&limits);
        let domain = reader.read("domain", &arguments.domain)?;
        let problem = reader.read("problem", &arguments.problem)?;
        let (domain_text, problem_text) = (domain.text.clone(), problem.text.clone());
        let mut texts = TaskTexts::read(domain, Some(problem));
        let found = texts.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &texts.sources)).collect();
        if texts.has_errors() {
            let report = PlanReport::new(PlanOutcome::Unreadable { diagnostics: found }, Vec::new());
            return Ok(answer(report, Vec::new()));
        }
        let request = PlanRequest {
            domain: domain_text.unwrap_or_default(),
            problem: problem_text.unwrap_or_default(),
            limits: PlanLimits {
                time_ms: Some(limits.remaining_ms()),
                memory_bytes: Some(limits.memory_bytes),
                nodes: Some(limits.nodes),
            },
            k: 1,
            ..PlanRequest::default()
        };
        let search = if arguments.optimal { "astar" } else { "greedy" };
        let options = JsonObject::from_iter([("search".to_owned(), search.into())]);
        let host = CallHost { call, limits: &limits };
        let outcome = call.backend.plan(options, &host, &request).or_else(limit_outcome)?;
        call.check_cancelled()?;
        let report = PlanReport::new(outcome, found);
        let mut in_words = Vec::new();
        if let Some(plan) = report.plans.first().map(PlanDocument::to_ipc) {
            let (source, _) = texts.add(NamedText::new("plan", plan.as_str()));
            if let Some(validated) = texts.validate_plan(source, &plan, &mut limits) {
                in_words = plan_in_words(&validated, &reader.wording(&arguments.domain, &mut texts));
            }
        }
        Ok(answer(report, in_words))
    }
}

fn answer(report: PlanReport, in_words: Vec<String>) -> PlanAnswer {
    let plan = report.plans.first();
    PlanAnswer {
        outcome: report.outcome,
        plan: plan.map(PlanDocument::to_ipc),
        steps: plan.map(|plan| plan.steps.len()),
        cost: plan.and_then(|plan| plan.cost),
        optimal: report.optimal,
        why_not: report.explanation,
        in_words,
        findings: Findings::of_reported(report.diagnostics),
        statistics: report.statistics,
    }
}
