//! A domain, a problem with it, or a plan with both, checked.

use super::Sentences;
use crate::context::Context;
use crate::error::Error;
use crate::files::refuse_part_of_run;
use crate::inputs::{Findings, Inputs, Source};
use crate::limits::{RequestLimits, WorkLimits};
use crate::status::{Status, of_stop};
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::gantt;
use planforge_pddl::Number;
pub use planforge_planning::task::Atom;
pub use planforge_planning::{
    FailedCondition, FailingStep, Phase, PreferenceResult, Schedule, ValidationReport,
};
use planforge_planning::{ValidationDecision, ValidationOptions};
use planforge_plugin_common::judging::reports::PreferenceVerdict;
pub use planforge_plugin_common::judging::reports::ValidateReport;
pub use planforge_plugin_common::telling::ToldPlan;
use planforge_plugin_common::telling::tell_plan;
use serde::{Serialize, Serializer};
use std::path::Path;

/// Texts to check.
#[derive(Debug, Clone)]
pub struct ValidateRequest {
    /// The domain.
    pub domain: Source,
    /// The problem.
    pub problem: Option<Source>,
    /// The plan; needs a problem. Without it, domain and problem are checked.
    pub plan: Option<Source>,
    /// The sentences, if the plan is told too.
    pub in_words: Option<Sentences>,
    /// Least time between actions that interfere, for a plan with times [default: 0.001].
    pub epsilon: Option<f64>,
    /// Limits on executing the plan.
    pub limits: RequestLimits,
}

/// The verdict. Its JSON form is [`ValidateResult::report`].
#[derive(Debug, Clone)]
pub struct ValidateResult {
    /// accepted, rejected or undecided.
    pub decision: &'static str,
    /// The execution of the plan; `None` without a plan, or if a text cannot be used.
    pub validation: Option<ValidationReport>,
    /// The plan in sentences, if that was requested and it was executed; none for a plan that was executed by its times.
    pub told: Option<ToldPlan>,
    /// Findings about the texts; errors and warnings alone if a plan was judged.
    pub findings: Findings,
    /// Negative for texts or a plan that are rejected, else what left it undecided.
    pub status: Status,
}

impl ValidateResult {
    /// The verdict as a document.
    pub fn report(&self) -> ValidateReport {
        let valid = self.validation.as_ref().filter(|report| report.is_valid());
        let schedule = self.validation.as_ref().and_then(|report| report.schedule.as_ref());
        let preferences = self.validation.as_ref().map(|report| report.preferences.as_slice());
        ValidateReport {
            makespan: schedule.map(|schedule| schedule.makespan.to_f64()),
            epsilon: schedule.map(|schedule| schedule.epsilon.to_f64()),
            preferences: PreferenceVerdict::all(preferences.unwrap_or_default()),
            valid: self.decision == "accepted",
            decision: self.decision.to_owned(),
            diagnostics: self.findings.reported(),
            cost: valid.and_then(|report| report.cost),
        }
    }
}

impl Serialize for ValidateResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report().serialize(serializer)
    }
}

/// Checks a domain, a domain and a problem, or a plan for both, which is executed step by step.
///
/// # Errors
/// None: texts that cannot be used have a verdict too.
pub fn validate(context: &Context, request: &ValidateRequest) -> Result<ValidateResult, Error> {
    let mut limits = request.limits.start(context);
    let mut inputs = Inputs::read(context, &request.domain, request.problem.as_ref());
    let validation = match (&request.problem, &request.plan) {
        (Some(_), Some(plan)) => execute(context, &mut inputs, request, plan, &mut limits),
        (Some(_), None) => {
            // A domain and a problem are good if planning and plan validation accept them.
            if !inputs.unreadable {
                inputs.texts.check_task();
            }
            None
        }
        _ => None,
    };
    let verdict = verdict(&inputs, validation.as_ref());
    let told = request.in_words.as_ref().map(|sentences| {
        let wording = sentences.read(context, &request.domain, &mut inputs);
        let report = validation.as_ref().filter(|report| report.schedule.is_none());
        report.map(|report| tell_plan(report, &wording))
    });
    let findings = match request.plan {
        Some(_) => inputs.into_findings_of_result(),
        None => inputs.into_findings(),
    };
    let (status, decision) = verdict;
    Ok(ValidateResult { decision, validation, told: told.flatten(), findings, status })
}

/// The result of executing a plan. `None`: a text cannot be used.
pub(super) fn result_of_plan(inputs: Inputs, validation: Option<ValidationReport>) -> ValidateResult {
    let (status, decision) = verdict(&inputs, validation.as_ref());
    let findings = inputs.into_findings_of_result();
    ValidateResult { decision, validation, told: None, findings, status }
}

/// The verdict on texts that were read and, with a plan, on its execution.
pub(super) fn verdict(inputs: &Inputs, validation: Option<&ValidationReport>) -> (Status, &'static str) {
    match validation.map(|report| &report.decision) {
        None => of_reading(inputs),
        Some(ValidationDecision::Valid) => (Status::Good, "accepted"),
        Some(ValidationDecision::Invalid) => (Status::Negative, "rejected"),
        Some(ValidationDecision::Unsupported(_)) => (Status::Undecided, "undecided"),
        Some(ValidationDecision::LimitReached(reason)) => (of_stop(*reason), "undecided"),
    }
}

fn of_reading(inputs: &Inputs) -> (Status, &'static str) {
    let status = inputs.status();
    let decision = match status {
        Status::Good => "accepted",
        Status::Negative => "rejected",
        _ => "undecided",
    };
    (status, decision)
}

/// Executes the plan. `None` if a text cannot be used: that says nothing about the plan.
fn execute(
    context: &Context,
    inputs: &mut Inputs,
    request: &ValidateRequest,
    plan: &Source,
    limits: &mut WorkLimits,
) -> Option<ValidationReport> {
    let (source, text) = inputs.load_plan(context, plan);
    let text = text.filter(|_| !inputs.unreadable)?;
    let standard = ValidationOptions::default();
    let epsilon = request.epsilon.map_or(standard.epsilon, Number::from_f64);
    inputs.texts.validate_plan(source, &text, &ValidationOptions { epsilon, time: true }, limits)
}

/// The Gantt chart of a plan that was executed by its times, as text.
///
/// # Errors
/// A plan without times.
pub fn gantt_text(result: &ValidateResult) -> Result<String, Error> {
    schedule(result).map(gantt::text)
}

/// The Gantt chart of a plan that was executed by its times, as SVG.
///
/// # Errors
/// A plan without times.
pub fn gantt_svg(result: &ValidateResult) -> Result<String, Error> {
    schedule(result).map(gantt::svg)
}

/// Writes the Gantt chart of a plan that was executed by its times: as SVG or, into any other file, as text.
///
/// # Errors
/// A plan without times, a file that cannot be written.
pub fn write_gantt(context: &Context, result: &ValidateResult, path: &Path) -> Result<(), Error> {
    let schedule = schedule(result)?;
    let svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    let chart = if svg { gantt::svg(schedule) } else { gantt::text(schedule) };
    let to = context.path(path);
    refuse_part_of_run(&to)?;
    Ok(std::fs::write(to, chart).map_err(|error| {
        let message = format!("{} cannot be written: {error}", path.display());
        Failure::new(FailureClass::System, "cli.unwritable-file", message)
    })?)
}

fn schedule(result: &ValidateResult) -> Result<&Schedule, Error> {
    let schedule = result.validation.as_ref().and_then(|report| report.schedule.as_ref());
    schedule
        .ok_or_else(|| Error::usage("the plan was not executed by its times, so it has no Gantt chart", None))
}
