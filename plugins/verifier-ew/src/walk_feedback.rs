//! Texts about the shortest failing walk: the side and the action that it refuses, and the environment's
//! state before it.

use crate::candidate::Ready;
use crate::codes;
use crate::reference::Reference;
use planforge_contract::{Failure, FailureClass, ReportedDiagnostic, StateDescription};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_planning::equivalence::interface::{ActionMatch, Interface};
use planforge_planning::walk::{Counterexample, NamedStep, Refusal, WalkDirection};
use planforge_planning::{FailedCondition, ResourceLimits, Validator, parse_plan};
use planforge_plugin_sdk::checked::Checked;
use planforge_plugin_sdk::feedback::{self, FailingWalk, Refused, RefusedBy, Unmet};

/// The texts about a failing walk.
pub(crate) struct WalkFeedback {
    pub(crate) feedback: String,
    pub(crate) diagnostic: ReportedDiagnostic,
    /// The reason why the environment did not describe the state.
    pub(crate) no_state: Option<String>,
}

/// The texts for a failing walk. `initial`: the candidate has no applicable action initially; the walk is
/// then a first action of the environment.
pub(crate) fn failing_walk(
    reference: &Reference<'_>,
    ready: &Ready,
    found: &Counterexample,
    initial: bool,
    budget: &mut dyn ResourceLimits,
) -> Result<WalkFeedback, Failure> {
    let walk = &found.walk;
    let steps: Vec<String> = walk.prefix.iter().chain([&walk.action]).map(NamedStep::to_string).collect();
    let (state, no_state) = state_before(reference, &walk.prefix, &walk.action)?;
    let by = match found.direction {
        WalkDirection::CandidateToReference => RefusedBy::Environment,
        WalkDirection::ReferenceToCandidate => RefusedBy::Candidate,
    };
    let conditions = match by {
        RefusedBy::Candidate => conditions(ready, &steps, budget),
        RefusedBy::Environment => Vec::new(),
    };
    let why = refusal_reason(&walk.refusal, by, unmet(&ready.checked, &conditions));
    let feedback = match (&why, initial, steps.as_slice()) {
        (Refused::Conditions(list), true, [action]) => {
            feedback::no_first_action(Some((action, list)), state.as_ref())
        }
        _ => feedback::walk(&FailingWalk { steps: &steps, by, why: &why, state: state.as_ref() }),
    };
    let diagnostic = diagnostic(ready, found, by, &conditions);
    Ok(WalkFeedback { feedback, diagnostic, no_state })
}

/// The names of the walk's actions in the candidate's own text; `None` if they are equal.
pub(crate) fn names(renaming: &Interface) -> Option<String> {
    if renaming.is_identity() {
        return None;
    }
    let one = |action: &ActionMatch| {
        let places: Vec<String> = action.parameters.iter().map(|p| (p + 1).to_string()).collect();
        let places = match places.as_slice() {
            [] => String::new(),
            [one] => format!(", with your parameter {one}"),
            many => format!(", with your parameters in the order {}", many.join(", ")),
        };
        format!("- your action {} is called {}{places}\n", action.candidate, action.reference)
    };
    let lines: String = renaming.actions.iter().map(one).collect();
    Some(format!("In what follows your actions have other names:\n{lines}"))
}

/// The state before an action. If the environment describes no states, the verdict does not change and the
/// text has no state.
pub(crate) fn state_before(
    reference: &Reference<'_>,
    prefix: &[NamedStep],
    next: &NamedStep,
) -> Result<(Option<StateDescription>, Option<String>), Failure> {
    match reference.asked.state(prefix, Some(next)) {
        Ok(state) => Ok((Some(state), None)),
        Err(failure) if failure.class == FailureClass::Cancelled => Err(failure),
        Err(failure) => Ok((None, Some(format!("{} [{}]", failure.message, failure.code)))),
    }
}

/// The conditions of the candidate's precondition that do not hold at the last step; none if a limit ended the
/// validation.
fn conditions(ready: &Ready, steps: &[String], budget: &mut dyn ResourceLimits) -> Vec<FailedCondition> {
    let validator = Validator::new(ready.model.lifted().clone());
    let report = validator.validate(&parse_plan(&steps.join("\n"), SourceId(2)), budget);
    report.failing_step.map(|f| f.conditions).unwrap_or_default()
}

fn unmet(checked: &Checked, conditions: &[FailedCondition]) -> Vec<Unmet> {
    let one = |c: &FailedCondition| Unmet {
        remedy: c.remedy.clone(),
        why: c.why.clone(),
        quote: checked.quote(c.place.text.source(), c.place.span),
    };
    conditions.iter().map(one).collect()
}

fn refusal_reason(refusal: &Refusal, by: RefusedBy, conditions: Vec<Unmet>) -> Refused {
    match (refusal, by) {
        (Refusal::UnknownAction { name }, _) => Refused::NoAction(name.clone()),
        (Refusal::Arity { name, expected, given }, _) => {
            Refused::Arity { action: name.clone(), takes: *expected, given: *given }
        }
        (Refusal::UnknownObject { name }, _) => Refused::NoObject(name.clone()),
        (Refusal::WrongType { object, object_type, expected, .. }, _) => {
            Refused::WrongType { object: object.clone(), is: object_type.clone(), asked: expected.clone() }
        }
        (Refusal::NotApplicable, RefusedBy::Environment) => Refused::Withheld,
        (Refusal::NotApplicable, RefusedBy::Candidate) => Refused::Conditions(conditions),
        (Refusal::NoEffect, _) => Refused::NoEffect,
    }
}

/// An error at the condition that refuses, or at the action that is allowed too often.
fn diagnostic(
    ready: &Ready,
    found: &Counterexample,
    by: RefusedBy,
    conditions: &[FailedCondition],
) -> ReportedDiagnostic {
    let walk = &found.walk;
    let after = match walk.prefix.len() {
        0 => "initially".to_owned(),
        1 => "after 1 step".to_owned(),
        n => format!("after {n} steps"),
    };
    let message = match by {
        RefusedBy::Environment => {
            format!("{after} the environment refuses {}, which the candidate allows", walk.action)
        }
        RefusedBy::Candidate => {
            format!(
                "{after} the candidate refuses {}, which the environment executes: {}",
                walk.action, walk.refusal
            )
        }
    };
    let code = match by {
        RefusedBy::Environment => codes::REFUSED_BY_ENVIRONMENT,
        RefusedBy::Candidate => codes::REFUSED_BY_CANDIDATE,
    };
    let mut diagnostic = Diagnostic::error(code, message);
    let schema = ready.checked.domain.iter().flat_map(|d| &d.actions);
    let schema = schema.into_iter().find(|a| a.name.as_str().eq_ignore_ascii_case(&walk.action.name));
    if let Some(condition) = conditions.first() {
        diagnostic = diagnostic.at(condition.place.text.source(), condition.place.span, "");
    } else if let Some(schema) = schema {
        diagnostic = diagnostic.at(SourceId(0), schema.span, "");
    }
    ReportedDiagnostic::of(&diagnostic, &ready.checked.sources)
}
