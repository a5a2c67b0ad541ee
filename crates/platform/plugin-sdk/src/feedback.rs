//! Feedback for language models about their PDDL and plans. All verifiers use the same wording: the attempt,
//! the step or the line, the state, one way to correct it. Plugins pass their findings; the sentences are
//! here.
//!
//! The texts reveal of an environment only what the caller passes: which steps it executes and refuses, and
//! states in the environment's own words.

mod action;
#[cfg(feature = "pddl")]
mod pddl;
mod plan;
mod quote;
mod walk;

pub use action::{ActionFault, FailingActionPlan, action};
#[cfg(feature = "pddl")]
pub use pddl::{no_effect, not_edited, not_shared, pddl, reply, unusable};
pub use plan::{Environment, NoPlan, goal_missed, lines, no_plan, step};
pub use quote::Quote;
pub use walk::{FailingWalk, Refused, RefusedBy, blame, no_first_action, several, walk};

use planforge_contract::StateDescription;
use std::fmt::Write as _;

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
