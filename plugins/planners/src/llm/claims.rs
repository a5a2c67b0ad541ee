//! Reads a model's claims about its plan: the states after steps, the goal, the cost and the validity.
//!
//! The question asks for one form, and models answer in many: lines with labels, a JSON object, sentences.
//! Unreadable claims are absent, with a remark, and do not affect the plan. A label takes precedence over a
//! sentence, and the last of several labels counts, which is the one at the end of the plan. Sentences that
//! contradict each other make no claim.

mod facts;
mod json;
mod labels;

use planforge_contract::{ClaimedState, PlanClaims};

pub(crate) use json::plan as plan_in_json;

/// The claims of a reply, with remarks about unreadable ones.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Claims {
    pub(crate) claims: PlanClaims,
    /// Messages for the log.
    pub(crate) remarks: Vec<String>,
}

pub(crate) fn read(reply: &str) -> Claims {
    let mut read = labels::read(reply);
    if let Some(found) = json::claims(reply) {
        fill(&mut read.claims, found);
    }
    read.claims.states.retain(|state| !state.literals.is_empty() || !state.sentences.is_empty());
    let missing = [
        ("what is true after its steps", read.claims.states.is_empty()),
        ("whether the goal is reached", read.claims.goal_reached.is_none()),
        ("what the plan costs", read.claims.cost.is_none()),
        ("whether the plan is valid", read.claims.valid.is_none()),
    ];
    for (what, _) in missing.iter().filter(|(_, missing)| *missing) {
        read.remarks.push(format!("the reply does not say in a form that is read {what}"));
    }
    read
}

/// Takes from `more` what `claims` lack.
fn fill(claims: &mut PlanClaims, more: PlanClaims) {
    if claims.states.is_empty() {
        claims.states = more.states;
    }
    claims.goal_reached = claims.goal_reached.or(more.goal_reached);
    claims.cost = claims.cost.or(more.cost);
    claims.valid = claims.valid.or(more.valid);
}

/// A state with the facts of a text added.
fn to_claimed_state(after: u32, texts: &[&str]) -> ClaimedState {
    let mut state = ClaimedState { after, ..ClaimedState::default() };
    texts.iter().for_each(|text| facts::read(text, &mut state));
    state
}

/// `yes`, `no` and similar words at the beginning of a text; `None` if it begins otherwise or offers both.
fn yes_or_no(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    let first = words.next()?;
    if words.next() == Some("or") {
        return None;
    }
    match first {
        "yes" | "true" | "valid" | "correct" | "reached" | "achieved" | "satisfied" | "met" | "y" => {
            Some(true)
        }
        "no" | "false" | "not" | "invalid" | "incorrect" | "wrong" | "unreached" | "n" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
