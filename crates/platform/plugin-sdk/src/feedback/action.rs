//! Feedback on one requested action, judged in an otherwise true domain. A translator finds the entry of an
//! action by its first words.

use super::{MOST, more, sentence};
use planforge_contract::ReportedDiagnostic;
use std::fmt::Write as _;

/// Most steps of a plan before the one that fails, and most facts about it.
const MOST_STEPS: usize = 40;

/// A fault of an action.
#[derive(Debug, Clone)]
pub enum ActionFault<'a> {
    /// The text holds no action.
    Nothing,
    /// The text cannot be read, or does not fit the domain: what was found, the finding that decides first, with places in `text`.
    Text {
        /// The findings.
        found: &'a [ReportedDiagnostic],
        /// The action's text.
        text: &'a str,
    },
    /// A problem has no plan any more; reasons, as clauses.
    NoPlan(&'a [String]),
    /// A plan that one of the two domains makes possible is none of the other.
    Plan(FailingActionPlan<'a>),
    /// The limits were reached before the action's behaviour was decided.
    Open,
    /// A problem has other plans: so many, where so many are right.
    Number {
        /// Plans with the action.
        with: usize,
        /// Plans there should be.
        right: usize,
    },
}

/// A plan that shows that an action does something else than it should.
#[derive(Debug, Clone, Copy)]
pub struct FailingActionPlan<'a> {
    /// The steps as `(name object ...)`.
    pub steps: &'a [String],
    /// True if the action allows an invalid plan; false if it does not allow a valid one.
    pub allowed: bool,
    /// The step that fails, from 0; `None` where only the goal is missed.
    pub failing: Option<usize>,
    /// Conditions of the model's own action, or of the goal, that do not hold there.
    pub conditions: &'a [String],
    /// Facts about the failing step's objects before it.
    pub facts: &'a [String],
}

/// The entry on an action. `class` is the paper's word with its primary class, such as `semantic error (TError)`; `what` says it in a
/// clause.
pub fn action(name: &str, class: &str, what: &str, fault: &ActionFault<'_>) -> String {
    let mut out = format!("Action `{name}`: {class}: {}.", what.trim_end_matches('.'));
    match fault {
        ActionFault::Nothing => {}
        ActionFault::Open => out.push_str("\nIf it is right, write it again as it is."),
        ActionFault::Text { found, text } => findings(found, text, &mut out),
        ActionFault::NoPlan(reasons) => {
            for reason in reasons.iter().take(MOST) {
                // A reason may begin with a name, which must not be capitalised.
                let _ = write!(out, "\n- {}.", reason.trim_end_matches('.'));
            }
            more(reasons.len(), &mut out);
        }
        ActionFault::Plan(plan) => failing(plan, name, &mut out),
        ActionFault::Number { with, right } => {
            let _ = write!(out, "\nA problem has {with} plans with it and should have {right}.");
        }
    }
    out
}

fn findings(found: &[ReportedDiagnostic], text: &str, out: &mut String) {
    for one in found.iter().take(MOST) {
        let line = one.line.checked_sub(1).and_then(|line| text.lines().nth(line as usize));
        match line.map(str::trim).filter(|line| !line.is_empty()) {
            Some(line) => {
                let line: String = line.chars().take(200).collect();
                let _ = write!(out, "\nLine {}: {}\n    {line}", one.line, sentence(&one.message));
            }
            None => {
                let _ = write!(out, "\n{}", sentence(&one.message));
            }
        }
        // An action's writer declares nothing.
        for help in one.help.iter().filter(|help| !help.starts_with("declare")) {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    more(found.len(), out);
}

fn failing(plan: &FailingActionPlan<'_>, name: &str, out: &mut String) {
    let _ = match plan.allowed {
        true => write!(out, "\nBy the action as it is written this is a plan, and in truth it is none:"),
        false => write!(out, "\nThis is a plan in truth, and by the action as it is written it is none:"),
    };
    let shown = plan.failing.map_or(plan.steps.len(), |step| step + 1).min(plan.steps.len());
    // The last steps matter most.
    let skipped = shown.saturating_sub(MOST_STEPS);
    if skipped > 0 {
        let _ = write!(out, "\n    ({skipped} steps before)");
    }
    for (index, step) in plan.steps.iter().enumerate().take(shown).skip(skipped) {
        let mark = match plan.failing {
            Some(failing) if failing == index => "    <- cannot be executed",
            _ => "",
        };
        let _ = write!(out, "\n    {}. {step}{mark}", index + 1);
    }
    if plan.steps.is_empty() {
        let _ = write!(out, "\n    (no steps)");
    }
    match plan.failing {
        None => {
            let _ = write!(out, "\nAll steps can be executed, and the goal does not hold at the end.");
        }
        Some(step) => facts(plan, step, out),
    }
    for condition in plan.conditions.iter().take(MOST) {
        let _ = write!(out, "\n- {}", sentence(condition));
    }
    more(plan.conditions.len(), out);
    let _ = write!(out, "\n{}", guess(plan, name));
}

fn facts(plan: &FailingActionPlan<'_>, step: usize, out: &mut String) {
    let where_ = if plan.allowed { "In truth this" } else { "By the action as it is written, this" };
    let _ = match plan.facts {
        [] => write!(out, "\n{where_} holds of its objects before step {}: nothing.", step + 1),
        facts => {
            let told = facts.iter().take(MOST_STEPS).map(String::as_str).collect::<Vec<_>>().join(" ");
            write!(out, "\n{where_} holds of its objects before step {}: {told}", step + 1)
        }
    };
    if !plan.conditions.is_empty() {
        let _ = write!(out, "\nWhat does not hold there:");
    }
}

/// A guess at the fault.
fn guess(plan: &FailingActionPlan<'_>, name: &str) -> String {
    let own = |step: &String| {
        let first = step.trim_start_matches(['(', ' ']).split([' ', ')']).next().unwrap_or_default();
        first.eq_ignore_ascii_case(name)
    };
    let itself = plan.failing.and_then(|step| plan.steps.get(step)).is_some_and(own);
    match (plan.allowed, itself) {
        (true, true) => {
            format!(
                "So `{name}` lacks a condition, makes something true that should stay false, or leaves something true."
            )
        }
        (true, false) => {
            format!("So `{name}` lacks a condition, or its effect says too much or too little.")
        }
        (false, true) => {
            format!(
                "So `{name}` asks for too much, or its effect makes something false that should stay true."
            )
        }
        (false, false) => {
            format!(
                "So the effect of `{name}` lacks something, or makes something false that should stay true."
            )
        }
    }
}
