//! What a language model is told about its PDDL and its plans. One voice for all verifiers: what was tried, the step or the
//! line, what was the case, a way out. Plugins bring what they found; the sentences are here.
//!
//! Nothing here tells more of an environment than the caller puts in: which steps it executes and refuses, and states in the
//! environment's own words.

mod action;
#[cfg(feature = "pddl")]
mod pddl;
mod plan;
mod walk;

pub use action::{ActionFault, FailingActionPlan, action};
#[cfg(feature = "pddl")]
pub use pddl::{no_effect, not_edited, not_shared, pddl, reply, unusable};
pub use plan::{Environment, NoPlan, goal_missed, lines, no_plan, step};
pub use walk::{FailingWalk, Refused, RefusedBy, no_first_action, walk};

use planforge_contract::StateDescription;
use std::fmt::Write as _;

/// Most errors, conditions or reasons told at a time: a model corrects a few better than a hundred, and the rest are mostly
/// consequences.
const MOST: usize = 10;

/// Most sentences about a state.
const MOST_SENTENCES: usize = 40;

/// A line of the candidate's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// `domain`, `problem` or `plan`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The line without indentation; empty where there is nothing to show.
    pub text: String,
}

/// A condition of the candidate's own PDDL that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// What would make it true, as a clause after "It needs".
    pub remedy: String,
    /// What is the case, as a clause after "Instead".
    pub why: String,
    /// Where it is asked for.
    pub quote: Option<Quote>,
}

/// What did not hold, what would make it true, where it stands.
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

/// Says that not everything was told.
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

/// A clause as a sentence of its own.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let stop = if clause.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests;
