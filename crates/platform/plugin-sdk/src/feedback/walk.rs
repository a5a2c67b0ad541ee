//! Exploration walks: a sequence of actions that one side executes and the other refuses.

use super::{Unmet, state, unmet};
use planforge_contract::StateDescription;
use std::fmt::Write as _;

/// The side that refuses the last action of a failing walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBy {
    /// The environment refuses what the candidate's domain and problem allow.
    Environment,
    /// The candidate's domain and problem refuse what the environment executes.
    Candidate,
}

/// The reason for the refusal, as far as the model may see it: always from its own PDDL, never from a
/// withheld reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The environment refuses it; its reasons are withheld.
    Withheld,
    /// Conditions of the candidate's own PDDL that do not hold.
    Conditions(Vec<Unmet>),
    /// The side has no such action.
    NoAction(String),
    /// The side's action takes another number of arguments.
    Arity {
        /// The action.
        action: String,
        /// Arguments that it takes there.
        takes: usize,
        /// Arguments that it was given.
        given: usize,
    },
    /// The side has no such object.
    NoObject(String),
    /// The side's action does not take an object of that type.
    WrongType {
        /// The object.
        object: String,
        /// Its type there.
        is: String,
        /// The type of the parameter.
        asked: String,
    },
    /// The action would change nothing, and such steps are not legal in this comparison.
    NoEffect,
}

/// A walk that one side executes to its end and the other up to the last action.
#[derive(Debug, Clone)]
pub struct FailingWalk<'a> {
    /// The actions as `(name object ...)`; the last one is refused.
    pub steps: &'a [String],
    /// The refusing side.
    pub by: RefusedBy,
    /// The reason for the refusal.
    pub why: &'a Refused,
    /// The state of the environment before the refused action.
    pub state: Option<&'a StateDescription>,
}

/// The text for a failing walk.
pub fn walk(failing: &FailingWalk<'_>) -> String {
    let number = failing.steps.len();
    let last = failing.steps.last().map_or("", String::as_str);
    let name = name_of(last);
    let by_environment = failing.by == RefusedBy::Environment;
    let mut out = match (by_environment, number) {
        (true, 1) => {
            format!("By the domain and the problem, {last} can be executed in the initial state. The environment refuses it.")
        }
        (false, 1) => {
            format!("The environment executes {last} in the initial state. The domain and the problem do not allow it.")
        }
        (true, _) => "These actions were executed one after the other. By the domain and the problem all of them can be \
executed. The environment refuses the last one."
            .to_owned(),
        (false, _) => "These actions were executed one after the other. The environment executes all of them. The domain and \
the problem do not allow the last one."
            .to_owned(),
    };
    if number > 1 {
        for (index, step) in failing.steps.iter().enumerate() {
            let mark = match (index + 1 == number, by_environment) {
                (true, true) => "    <- refused by the environment",
                (true, false) => "    <- not allowed by the domain and the problem",
                (false, _) => "",
            };
            let _ = write!(out, "\n    {}. {step}{mark}", index + 1);
        }
    }
    reason(failing, name, &mut out);
    state(Some(number), failing.state, &mut out);
    out
}

/// The side that is probably wrong: single changes of each were tried, and these sides have one that removes the failure and contradicts
/// nothing that was tried in the environment.
pub fn blame(domain: bool, problem: bool) -> String {
    let text = match (domain, problem) {
        (true, true) => {
            "there is a change of the domain that does, and a change of the problem. So either of them may be wrong."
        }
        (true, false) => {
            "there is a change of the domain that does, and no change of the problem. So the domain is probably wrong."
        }
        (false, true) => {
            "there is a change of the problem that does, and no change of the domain. So the problem is probably wrong."
        }
        (false, false) => {
            "there is none of the domain and none of the problem. So more than one thing is wrong."
        }
    };
    format!(
        "Single changes were tried that remove this failure and contradict no other actions that were tried in the environment: {text}"
    )
}

/// The text before several failing walks, of which at most `shown` follow; `None` for one.
pub fn several(found: usize, shown: usize) -> Option<String> {
    if found < 2 {
        return None;
    }
    let mut out = format!(
        "The domain and the problem differ from the environment in {found} ways. Each is shown by a sequence of actions that begins in \
the initial state. Repair all of them."
    );
    if found > shown {
        let _ = write!(out, " Here are the {shown} shortest.");
    }
    Some(out)
}

/// Writes the reason for the refusal and the likely fault.
fn reason(failing: &FailingWalk<'_>, name: &str, out: &mut String) {
    let first = failing.steps.len() == 1;
    match failing.why {
        Refused::Withheld => {
            let before = if first { "" } else { "an effect of an action before it is wrong, " };
            let _ = write!(
                out,
                "\n\nSo the precondition of `{name}` lacks a condition, {before}or the initial state is wrong."
            );
        }
        Refused::Conditions(conditions) => {
            if !first {
                let _ = write!(
                    out,
                    "\n\nSo the precondition of `{name}` asks for too much, an effect of an action before it is wrong, or the \
initial state is wrong."
                );
            } else {
                let _ = write!(
                    out,
                    "\n\nSo the precondition of `{name}` asks for too much, or the initial state is wrong."
                );
            }
            unmet(conditions, out);
        }
        other => {
            let side = match failing.by {
                RefusedBy::Environment => "The environment",
                RefusedBy::Candidate => match other {
                    Refused::NoObject(_) => "The problem",
                    _ => "The domain",
                },
            };
            let _ = write!(out, "\n\n{}", lacks(side, other));
        }
    }
}

/// The missing item of a side, as a sentence.
fn lacks(side: &str, why: &Refused) -> String {
    match why {
        Refused::NoAction(name) => format!("{side} has no action `{name}`."),
        Refused::Arity { action, takes, given } => {
            let arguments = if *takes == 1 { "argument" } else { "arguments" };
            format!("In {} `{action}` takes {takes} {arguments}, not {given}.", lower(side))
        }
        Refused::NoObject(name) => format!("{side} has no object `{name}`."),
        Refused::WrongType { object, is, asked } => {
            format!("In {} `{object}` is of type `{is}`, and type `{asked}` is asked for.", lower(side))
        }
        Refused::NoEffect => {
            format!("In {} the action would change nothing there, and such steps do not count.", lower(side))
        }
        Refused::Withheld | Refused::Conditions(_) => String::new(),
    }
}

/// `The domain` within a sentence.
fn lower(side: &str) -> String {
    side.replacen("The", "the", 1)
}

/// Feedback if the candidate's PDDL executes no action in the initial state. `possible` is an action that the
/// environment executes there, if one is known, with the PDDL's reasons for refusing it and the environment's
/// initial state.
pub fn no_first_action(possible: Option<(&str, &[Unmet])>, initial: Option<&StateDescription>) -> String {
    let mut out =
        "By the domain and the problem, no action at all can be executed in the initial state.".to_owned();
    if let Some((action, conditions)) = possible {
        let _ = write!(out, " The environment executes {action} there, for example.");
        unmet(conditions, &mut out);
    }
    state(Some(1), initial, &mut out);
    out
}

/// The name of `(name object ...)`.
fn name_of(step: &str) -> &str {
    step.trim_start_matches(['(', ' ']).split([' ', ')']).next().unwrap_or_default()
}
