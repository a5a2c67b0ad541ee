//! Compares claims about states with an environment's descriptions of states, atoms and sentences, if there
//! is no model.
//!
//! Described facts hold. Other facts count as false only if a fact of the same predicate with other arguments
//! is described in this state or the initial one; everything else cannot be compared.

use crate::environment::other_answer;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host};
use planforge_contract::{Failure, FailureClass, PlanDocument, StateQuery};
use planforge_planning::claims::LiteralVerdict;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A claim about a state, with its judgement.
pub(super) struct StateClaim {
    pub(super) after: usize,
    pub(super) text: String,
    pub(super) verdict: LiteralVerdict,
}

/// The description of one state in one normal form.
#[derive(Default)]
struct DescribedState {
    atoms: BTreeSet<String>,
    sentences: BTreeSet<String>,
}

/// Compares every claim about a reached state with the environment's description of it.
pub(super) fn states(
    host: &dyn Host,
    plan: &PlanDocument,
    executed: usize,
) -> Result<Vec<StateClaim>, Failure> {
    let mut told: BTreeMap<usize, Option<DescribedState>> = BTreeMap::new();
    let mut out = Vec::new();
    for state in plan.claims.iter().flat_map(|c| &c.states) {
        let after = state.after as usize;
        let known = after <= executed;
        if known {
            for at in [0, after] {
                if let Entry::Vacant(place) = told.entry(at) {
                    place.insert(describe(host, plan, at)?);
                }
            }
        }
        let here = told.get(&after).and_then(Option::as_ref).filter(|_| known);
        let initial = told.get(&0).and_then(Option::as_ref);
        let verdict = |by: &dyn Fn(&DescribedState) -> Option<bool>| match here {
            None if !known => LiteralVerdict::NotReached,
            None => LiteralVerdict::Unread("the environment tells no states".to_owned()),
            Some(here) => match by(here) {
                Some(true) => LiteralVerdict::Right,
                Some(false) => LiteralVerdict::Wrong,
                None => LiteralVerdict::Unread("the environment tells nothing of the kind".to_owned()),
            },
        };
        for literal in &state.literals {
            let verdict = verdict(&|here| holds(literal, here, initial));
            out.push(StateClaim { after, text: literal.clone(), verdict });
        }
        for sentence in &state.sentences {
            let verdict = verdict(&|here| here.sentences.contains(&plain(sentence)).then_some(true));
            out.push(StateClaim { after, text: sentence.clone(), verdict });
        }
    }
    Ok(out)
}

/// `None` where the environment fails to tell the state.
fn describe(host: &dyn Host, plan: &PlanDocument, after: usize) -> Result<Option<DescribedState>, Failure> {
    let query = StateQuery { actions: plan.steps.iter().take(after).cloned().collect(), focus: None };
    match host.environment(EnvironmentCall::DescribeState(query)) {
        Ok(EnvironmentAnswer::DescribeState(state)) => Ok(Some(DescribedState {
            atoms: state.atoms.iter().map(|a| plain(a)).collect(),
            sentences: state.sentences.iter().map(|s| plain(s)).collect(),
        })),
        Ok(_) => Err(other_answer()),
        Err(failure) if failure.class == FailureClass::Cancelled => Err(failure),
        Err(_) => Ok(None),
    }
}

/// Lower case, single spaces, no mark at the end.
fn plain(text: &str) -> String {
    let lower = text.to_lowercase().replace('(', " ( ").replace(')', " ) ");
    lower.trim().trim_end_matches('.').split_whitespace().collect::<Vec<_>>().join(" ")
}

/// True or false if it can be decided that a literal holds.
fn holds(literal: &str, here: &DescribedState, initial: Option<&DescribedState>) -> Option<bool> {
    let text = plain(literal);
    let inner = text.strip_prefix("( not ").and_then(|t| t.strip_suffix(" )"));
    let (atom, negated) = inner.map_or((text.as_str(), false), |atom| (atom, true));
    if here.atoms.contains(atom) {
        return Some(!negated);
    }
    let name = atom.split(' ').nth(1)?;
    let same = |told: &DescribedState| told.atoms.iter().any(|a| a.split(' ').nth(1) == Some(name));
    (same(here) || initial.is_some_and(same)).then_some(negated)
}
