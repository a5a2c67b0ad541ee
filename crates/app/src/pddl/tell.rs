//! A plan, a refusal or a difference of domains in sentences.

use super::Sentences;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::{Inputs, Source};
use crate::limits::RequestLimits;
use crate::status::{Status, of_stop};
use planforge_diagnostics::Diagnostic;
use planforge_planning::{ValidationDecision, ValidationOptions, Validator, normalize, parse_plan};
pub use planforge_plugin_common::telling::ToldPlan;
use planforge_plugin_common::telling::{PlanWords, add_reasons, tell_differences, tell_plan};
use planforge_plugin_sdk::wording::Wording;
use serde::{Serialize, Serializer};
use serde_json::json;

/// What to tell about a domain.
#[derive(Debug, Clone)]
pub struct TellRequest {
    /// The domain.
    pub domain: Source,
    /// What is told.
    pub subject: TellSubject,
    /// The sentences for facts.
    pub sentences: Sentences,
    /// Limits on executing the plan.
    pub limits: RequestLimits,
}

/// What is told.
#[derive(Debug, Clone)]
pub enum TellSubject {
    /// What a plan does, or why it fails.
    Plan {
        /// The problem.
        problem: Source,
        /// The plan.
        plan: Source,
    },
    /// The differences to this domain.
    Differences(Source),
}

/// Sentences.
#[derive(Debug, Clone)]
pub enum TellResult {
    /// A plan in sentences.
    Plan {
        /// The sentences.
        told: Box<ToldPlan>,
        /// The verdict about the plan.
        status: Status,
    },
    /// The differences, a sentence each.
    Differences(Vec<String>),
}

impl TellResult {
    /// Negative for an invalid plan and for domains that differ.
    pub fn status(&self) -> Status {
        match self {
            Self::Plan { status, .. } => *status,
            Self::Differences(told) if told.is_empty() => Status::Good,
            Self::Differences(_) => Status::Negative,
        }
    }
}

impl Serialize for TellResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plan { told, .. } => told.serialize(serializer),
            Self::Differences(told) => json!({ "differences": told }).serialize(serializer),
        }
    }
}

/// Tells a plan or differences.
///
/// # Errors
/// Texts that cannot be used.
pub fn tell(context: &Context, request: &TellRequest) -> Result<TellResult, Error> {
    let problem = match &request.subject {
        TellSubject::Plan { problem, .. } => Some(problem),
        TellSubject::Differences(_) => None,
    };
    let mut inputs = Inputs::read(context, &request.domain, problem);
    let wording = request.sentences.read(context, &request.domain, &mut inputs);
    let told = match &request.subject {
        TellSubject::Plan { plan, .. } => plan_in_words(context, request, &mut inputs, plan, &wording),
        TellSubject::Differences(other) => differences(context, request, &mut inputs, other, &wording),
    };
    let status = inputs.status();
    let findings = inputs.into_findings();
    let Some(told) = told else {
        return Err(Error::findings(status, findings.diagnostics, findings.sources));
    };
    context.findings(&findings.diagnostics, &findings.sources);
    Ok(told)
}

/// `None` if a text cannot be used.
fn plan_in_words(
    context: &Context,
    request: &TellRequest,
    inputs: &mut Inputs,
    plan: &Source,
    wording: &Wording,
) -> Option<TellResult> {
    let (source, text) = inputs.load_plan(context, plan);
    let (Some(text), Some(domain), Some(problem), Status::Good) =
        (text, &inputs.texts.domain, &inputs.texts.problem, inputs.status())
    else {
        return None;
    };
    let plan = parse_plan(&text, source);
    if plan.diagnostics.iter().any(Diagnostic::is_error) {
        inputs.texts.diagnostics.extend(plan.diagnostics);
        return None;
    }
    let task = match normalize(domain, problem) {
        Ok(task) => task,
        Err(diagnostics) => {
            inputs.texts.diagnostics.extend(diagnostics);
            return None;
        }
    };
    let options = ValidationOptions { time: true, ..ValidationOptions::default() };
    let report = Validator::new(task).validate_with(&plan, &options, &mut request.limits.start(context));
    let status = match &report.decision {
        ValidationDecision::Valid => Status::Good,
        ValidationDecision::Invalid => Status::Negative,
        ValidationDecision::Unsupported(_) => Status::Undecided,
        ValidationDecision::LimitReached(reason) => {
            // The sentence names the kind of limit, this one its size and place.
            inputs.texts.diagnostics.extend(report.diagnostics.iter().cloned());
            of_stop(*reason)
        }
    };
    let mut told = tell_plan(&report, wording);
    add_reasons(&mut told, &report, domain, problem.goal.as_ref(), &PlanWords::ENGLISH);
    Some(TellResult::Plan { told: Box::new(told), status })
}

/// `None` if a text cannot be used.
fn differences(
    context: &Context,
    request: &TellRequest,
    inputs: &mut Inputs,
    other: &Source,
    wording: &Wording,
) -> Option<TellResult> {
    let (source, text) = inputs.load(context, other);
    let read = text.map(|text| planforge_pddl::parse_domain(&text, source));
    let other_domain = read.map(|parsed| {
        inputs.texts.diagnostics.extend(parsed.diagnostics);
        parsed.value
    });
    let (Some(domain), Some(other_domain), Status::Good) =
        (&inputs.texts.domain, other_domain, inputs.status())
    else {
        return None;
    };
    let names = (&*request.domain.name(), &*other.name());
    Some(TellResult::Differences(tell_differences(domain, &other_domain, names, wording)))
}
