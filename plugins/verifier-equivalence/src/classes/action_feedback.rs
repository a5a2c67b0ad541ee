//! Feedback about an action: the needs of its class, and no more of the reference.

use crate::classes::report::ActionResult;
use crate::classes::requested::RequestedAction;
use planforge_contract::Classification;
use planforge_pddl::ast::Domain;
use planforge_planning::Explanation;
use planforge_planning::equivalence::hde::{FailingPlan, HdeDifference, HdeOutcome};
use planforge_planning::equivalence::parameters::step_in_other_order;
use planforge_planning::result_class::ResultClass;
use planforge_planning::walk::NamedStep;
use planforge_plugin_sdk::feedback::{self, ActionFault, FailingActionPlan};

/// The entry on an action; `None` if there is nothing against it.
pub(crate) fn entry(
    asked: &RequestedAction,
    found: &ActionResult,
    action: &Classification,
    domain: &Domain,
) -> Option<String> {
    if found.is_good() {
        return None;
    }
    let class = match found.is_open() {
        true => found.group().to_owned(),
        false => format!("{} ({})", found.group(), found.class()),
    };
    let write = |fault: &ActionFault<'_>| {
        Some(feedback::action(&asked.name, &class, what(found.classified.class), fault))
    };
    match found.classified.class {
        ResultClass::NoPddl => return write(&ActionFault::Nothing),
        ResultClass::Undecided => return write(&ActionFault::Open),
        _ => {}
    }
    match difference(found) {
        None => write(&ActionFault::Text { found: &action.diagnostics, text: &asked.text }),
        Some(HdeDifference::NoPlan(why)) => write(&ActionFault::NoPlan(&reasons(why, &asked.name, domain))),
        Some(HdeDifference::Number { reference, candidate }) => {
            write(&ActionFault::Number { with: *candidate, right: *reference })
        }
        Some(HdeDifference::NewPlanFails(plan)) => plan_fails(plan, true, asked, found, &write),
        Some(HdeDifference::OldPlanFails(plan)) => plan_fails(plan, false, asked, found, &write),
    }
}

/// A clause about a class.
pub(crate) const fn what(class: ResultClass) -> &'static str {
    match class {
        ResultClass::NoPddl => "the answer holds no action that begins with `(:action`",
        ResultClass::PError => "the parentheses do not match",
        ResultClass::UToken => "something stands where it cannot stand in an action",
        ResultClass::TError => "a type is unknown, or an argument has a wrong one",
        ResultClass::PAError => "a predicate is unknown or has wrong arguments",
        ResultClass::NError => "it is called otherwise than asked for",
        ResultClass::BPError => {
            "it needs what the domain does not allow, such as a condition that is negated"
        }
        ResultClass::NoPlan => "with it a problem has no plan any more",
        ResultClass::NPApp => "it allows a plan that is wrong",
        ResultClass::OPApp => "it does not allow a plan that is right",
        ResultClass::Equivalent => "it is equivalent",
        ResultClass::Undecided => "it could not be told, within limits, whether it does what it should",
    }
}

fn difference(found: &ActionResult) -> Option<&HdeDifference> {
    match &found.classified.hde.as_ref()?.outcome {
        HdeOutcome::Different { difference, .. } => Some(difference),
        _ => None,
    }
}

/// The reasons for a missing plan, without needs of other actions, which are the reference's.
fn reasons(why: &Explanation, name: &str, domain: &Domain) -> Vec<String> {
    let others: Vec<&str> = domain
        .actions
        .iter()
        .map(|action| action.name.key())
        .filter(|key| !key.eq_ignore_ascii_case(name))
        .collect();
    let of_another = |message: &str| {
        let part = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
        message.split(part).any(|word| others.iter().any(|other| word.eq_ignore_ascii_case(other)))
    };
    let told: Vec<String> =
        why.reasons.iter().map(|r| r.message.clone()).filter(|message| !of_another(message)).collect();
    match told.is_empty() {
        true => vec!["no sequence of actions leads to the goal any more".to_owned()],
        false => told,
    }
}

fn plan_fails(
    plan: &FailingPlan,
    allowed: bool,
    asked: &RequestedAction,
    found: &ActionResult,
    write: &dyn Fn(&ActionFault<'_>) -> Option<String>,
) -> Option<String> {
    let is_own = |step: &NamedStep| step.name.eq_ignore_ascii_case(&asked.name);
    // Steps of the action have their arguments in the order of its text.
    let written = |step: &NamedStep| match &found.classified.parameters {
        Some(order) if is_own(step) => step_in_other_order(step, order).to_string(),
        _ => step.to_string(),
    };
    let steps: Vec<String> = plan.steps.iter().map(written).collect();
    let failing = plan.failing.as_ref().map(|(step, _)| *step);
    let own = failing.and_then(|step| plan.steps.get(step)).is_none_or(is_own);
    // Conditions of the reference's actions are withheld; those of the goal and of the written action may be shown.
    let conditions = match (allowed && failing.is_some(), own) {
        (false, true) => plan.conditions.as_slice(),
        _ => &[],
    };
    write(&ActionFault::Plan(FailingActionPlan {
        steps: &steps,
        allowed,
        failing,
        conditions,
        facts: &plan.facts,
    }))
}
