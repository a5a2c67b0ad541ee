//! `validate`: a plan executed step by step.

use crate::answers::{Findings, UnmetCondition, plan_in_words};
use crate::call::{Call, TextArgument};
use crate::codes::use_case_failure;
use crate::limits::{CallLimits, LimitArguments};
use crate::tools::ToolKind;
use planforge_app::contract::Failure;
use planforge_app::pddl::validate::{ValidateRequest, ValidateResult, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
