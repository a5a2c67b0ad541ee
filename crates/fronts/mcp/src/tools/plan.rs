//! `plan`: a plan, its cost, or the reason why there is none. `validate`: a plan executed step by step.

use crate::answers::{Findings, UnmetCondition, plan_in_words, use_case_failure};
use crate::call::{Call, TextArgument};
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::{Failure, PlanDocument, SearchStatistics};
use planforge_app::pddl::plan::{PlanRequest, PlanSearch, plan};
use planforge_app::pddl::validate::{ValidateRequest, ValidateResult, validate};
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
            search: if arguments.optimal { PlanSearch::Optimal } else { PlanSearch::First },
            in_words: Some(texts.sentences(&arguments.domain)),
            limits: limits.remaining(),
            nodes: Some(limits.nodes),
            threads: None,
            report_plans: false,
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

pub(crate) struct Validate;

/// A task and a plan for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidateArguments {
    /// The domain.
    domain: TextArgument,
    /// The problem.
    problem: TextArgument,
    /// The plan: one ground action a line, such as `(move a b)`. Empty is the plan without steps.
    plan: TextArgument,
    #[serde(default)]
    limits: LimitArguments,
}

/// The verdict on a plan.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValidateAnswer {
    /// True only for `accepted`.
    valid: bool,
    /// accepted, rejected, or undecided: a limit was reached, or a construct is not executed.
    decision: &'static str,
    /// Steps of the plan.
    steps: usize,
    /// Cost of a valid plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// The first step that cannot be executed, with what would make it executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_step: Option<FailingStepAnswer>,
    /// Parts of the goal that do not hold after the last step.
    missing_goals: Vec<UnmetCondition>,
    /// The same in sentences: the result, what each of the first 200 steps changes, and why the plan is refused. Facts read as in
    /// `sentences.toml` beside the domain's file, else by their names.
    in_words: Vec<String>,
    #[serde(flatten)]
    findings: Findings,
}

/// The first step that cannot be executed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailingStepAnswer {
    /// Its number, from 1.
    number: usize,
    /// The step as the plan has it.
    step: String,
    /// Its conditions that do not hold; empty if the step itself cannot be read.
    conditions: Vec<UnmetCondition>,
}

impl ToolKind for Validate {
    type Arguments = ValidateArguments;
    type Answer = ValidateAnswer;
    const NAME: &'static str = "validate";
    const TITLE: &'static str = "Validate a plan";
    const DESCRIPTION: &'static str = "Executes a plan step by step in a PDDL domain and problem. If it is invalid, returns the first step that \
         cannot be executed, which of its conditions do not hold and what would make them true, or the goals that are missed.";

    fn call(call: &Call, arguments: ValidateArguments) -> Result<ValidateAnswer, Failure> {
        let limits = CallLimits::new(arguments.limits)?;
        let texts = call.texts(&limits);
        let request = ValidateRequest {
            domain: texts.read("domain", &arguments.domain)?,
            problem: Some(texts.read("problem", &arguments.problem)?),
            plan: Some(texts.read("plan", &arguments.plan)?),
            in_words: Some(texts.sentences(&arguments.domain)),
            epsilon: None,
            limits: limits.remaining(),
        };
        let result = validate(&call.context, &request).map_err(|error| use_case_failure(&error))?;
        call.check_cancelled()?;
        Ok(answer(result))
    }
}

fn answer(result: ValidateResult) -> ValidateAnswer {
    let report = result.validation.as_ref();
    let unmet = |conditions: &[_]| conditions.iter().map(UnmetCondition::of).collect();
    // A plan that was not executed because of a text is not accepted.
    let decision = report.map_or("rejected", |_| result.decision);
    ValidateAnswer {
        valid: decision == "accepted",
        decision,
        steps: report.map_or(0, |report| report.steps),
        cost: report.filter(|report| report.is_valid()).and_then(|report| report.cost),
        failing_step: report.and_then(|report| report.failing_step.as_ref()).map(|step| FailingStepAnswer {
            number: step.index + 1,
            step: step.text.clone(),
            conditions: unmet(&step.conditions),
        }),
        missing_goals: report.map(|report| unmet(&report.missing_goals)).unwrap_or_default(),
        findings: Findings::new(result.findings.reported()),
        in_words: plan_in_words(result.told),
    }
}
