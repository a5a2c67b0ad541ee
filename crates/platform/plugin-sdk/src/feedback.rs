//! Feedback for language models about their PDDL and plans. All verifiers use the same wording: the attempt,
//! the step or the line, the state, one way to correct it. Plugins pass their findings; the sentences are
//! here.
//!
//! The texts reveal of an environment only what the caller passes: which steps it executes and refuses, and
//! states in the environment's own words.

mod action;
#[cfg(feature = "pddl")]
mod pddl;
mod walk;

use planforge_contract::{ReportedDiagnostic, ReportedSeverity, StateDescription};
use std::fmt::Write as _;

pub use crate::wording::Quote;
pub use action::{ActionFault, FailingActionPlan, action};
#[cfg(feature = "pddl")]
pub use pddl::{no_effect, not_edited, not_shared, pddl, reply, unusable};
pub use walk::{FailingWalk, Refused, RefusedBy, blame, no_first_action, several, walk};

/// Most errors, conditions or reasons in one text: a model corrects a few better than a hundred, and the rest
/// are mostly consequences.
const MOST: usize = 10;

/// Most sentences about a state.
const MOST_SENTENCES: usize = 40;

/// A condition of the candidate's own PDDL that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// A change that would make it true, as a clause after "It needs".
    pub remedy: String,
    /// The present state, as a clause after "Instead".
    pub why: String,
    /// The line that requires it.
    pub quote: Option<Quote>,
}

/// Writes each condition that does not hold, a remedy, and its line.
fn unmet(list: &[Unmet], out: &mut String) {
    for one in list.iter().take(MOST) {
        let _ = write!(out, "\n\nIt needs {}. Instead {}.", one.remedy, one.why);
        if let Some(quote) = &one.quote
            && !quote.text.is_empty()
        {
            let _ = write!(
                out,
                "\nThis is asked for in line {} of the {}:\n    {}",
                quote.line, quote.file, quote.text
            );
        }
    }
    more(list.len(), out);
}

/// Writes the number of omitted entries.
fn more(found: usize, out: &mut String) {
    if found > MOST {
        let _ = write!(out, "\n\nThere are {} more.", found - MOST);
    }
}

/// The state of the environment before step `number` (from 1), or at the end of a plan.
fn state(before: Option<usize>, state: Option<&StateDescription>, out: &mut String) {
    let Some(state) = state else { return };
    let told = if state.sentences.is_empty() { &state.atoms } else { &state.sentences };
    if told.is_empty() {
        return;
    }
    let _ = match before {
        Some(1) => write!(out, "\n\nThe initial state of the environment:"),
        Some(number) => write!(out, "\n\nThe state of the environment before step {number}:"),
        None => write!(out, "\n\nThe state of the environment at the end:"),
    };
    for sentence in told.iter().take(MOST_SENTENCES) {
        let _ = write!(out, "\n- {}", sentence.trim());
    }
    if told.len() > MOST_SENTENCES {
        let _ = write!(out, "\n- and {} more.", told.len() - MOST_SENTENCES);
    }
}

/// Makes a sentence of a clause.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if clause.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests;

/// A step that cannot be executed by the candidate's own PDDL. `number` is from 1.
pub fn step(number: usize, step: &str, conditions: &[Unmet]) -> String {
    let mut out = format!("Step {number} of the plan, {step}, cannot be executed in the state before it.");
    unmet(conditions, &mut out);
    out
}

/// A plan that can be executed and misses the goal, by the candidate's own PDDL.
pub fn goal_missed(goals: &[Unmet]) -> String {
    let mut out = "The plan can be executed, and the goal does not hold at its end.".to_owned();
    unmet(goals, &mut out);
    out
}

/// Lines of a plan that are not steps of the domain, below a first sentence.
pub fn lines(opening: String, found: &[ReportedDiagnostic]) -> String {
    let mut out = opening;
    let errors = found.iter().filter(|d| d.severity == ReportedSeverity::Error && d.file == "plan");
    for error in errors.take(MOST) {
        let _ = write!(out, "\n\nLine {}: {}.", error.line, error.message);
        for help in &error.help {
            let _ = write!(out, "\n{}", sentence(help));
        }
    }
    out
}

/// A plan that was tried in the task's environment. The withheld model is not revealed.
#[derive(Debug, Clone, Copy)]
pub struct Environment<'a> {
    /// The steps, as `(name object ...)`.
    pub steps: &'a [String],
    /// Number of executed steps; all of them if only the goal is missed or a constraint is violated.
    pub executed: usize,
    /// True if the plan violates a constraint on the way although all steps are executed and the goal holds.
    pub violates: bool,
    /// The state after these, as the environment describes it.
    pub state: Option<&'a StateDescription>,
    /// True if there is PDDL that may be at fault.
    pub written: bool,
}

impl Environment<'_> {
    /// The feedback text.
    pub fn text(&self) -> String {
        let failing = self.steps.get(self.executed);
        let what = match (failing, self.steps.len()) {
            (Some(step), _) => format!("Step {}, {step}, cannot be executed there.", self.executed + 1),
            _ if self.violates => {
                "Its steps were executed and the goal of the task holds in the end, but a constraint on the way is violated."
                    .to_owned()
            }
            (None, 0) => "It has no steps, and the goal of the task does not hold in the end.".to_owned(),
            (None, 1) => {
                "Its step was executed, and the goal of the task does not hold in the end.".to_owned()
            }
            (None, n) => {
                format!("All {n} steps were executed, and the goal of the task does not hold in the end.")
            }
        };
        let fault =
            if self.written { " So the domain, the problem or the plan does not fit the task." } else { "" };
        let mut out = format!("The plan was tried in the environment of the task. {what}{fault}");
        if failing.is_some() && self.executed > 0 {
            let _ = write!(out, "\n\nThe steps up to there:");
            for step in self.steps.iter().take(self.executed + 1) {
                let _ = write!(out, "\n    {step}");
            }
        }
        state(failing.map(|_| self.executed + 1), self.state, &mut out);
        out
    }
}

/// The reason why there is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlan<'a> {
    /// The goal is out of reach, and the reasons explain it.
    Unreachable,
    /// The search proved that there is none.
    Proven,
    /// The planner exhausted its search.
    Exhausted,
    /// The planner was stopped; its words.
    Limit(&'a str),
    /// The planner does not handle these constructs.
    Unsupported(&'a str),
}

/// Feedback without a plan to judge: the planner's outcome and, as far as known, the reasons why the goal is
/// out of reach. A reason is a clause with its line.
pub fn no_plan(why: NoPlan<'_>, reasons: &[(String, Option<Quote>)]) -> String {
    let mut out = match why {
        NoPlan::Unreachable => "By the domain and the problem there is no plan; this is proven.".to_owned(),
        NoPlan::Proven => "By the domain and the problem there is no plan; this is proven. Every state that the actions lead to \
was looked at, and the goal holds in none of them: an action's precondition asks for too much, an effect is wrong or missing, or the \
initial state or the goal is wrong."
            .to_owned(),
        NoPlan::Exhausted => {
            "The planner found no plan for the domain and the problem, which proves nothing.".to_owned()
        }
        NoPlan::Limit(message) => format!(
            "The planner was stopped before it found a plan for the domain and the problem: {}.",
            message.trim_end_matches('.')
        ),
        NoPlan::Unsupported(message) => {
            format!("The planner does not plan with {}.", message.trim_end_matches('.'))
        }
    };
    for (reason, quote) in reasons.iter().take(MOST) {
        let _ = write!(out, "\n\n{}", sentence(reason));
        if let Some(quote) = quote
            && !quote.text.is_empty()
        {
            let _ = write!(out, "\nLine {} of the {}:\n    {}", quote.line, quote.file, quote.text);
        }
    }
    more(reasons.len(), &mut out);
    out
}
