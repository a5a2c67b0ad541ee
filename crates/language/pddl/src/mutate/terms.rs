//! The terms of a domain: listing them, and counting those in which two domains differ.

use super::{Part, Site, TermList};
use crate::ast::{Action, Domain, Effect};
use crate::diff::{canonical_condition, canonical_effect};
use crate::name::Name;
use rustc_hash::FxHashMap;

/// A term: a top-level conjunct of an action's precondition or effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTerm {
    /// Name of the action.
    pub action: Name,
    /// The list that contains the term.
    pub list: TermList,
    /// Its position in the list, from 0.
    pub index: usize,
    /// The term as PDDL on one line.
    pub text: String,
}

/// Lists the terms of the domain's instantaneous actions, in the order of the text.
///
/// The effect that increases an action's cost, on the function `total-cost`, is left out: it affects neither
/// executability nor reachability.
pub fn terms(domain: &Domain) -> Vec<ListedTerm> {
    let listed = sites(domain).into_iter().filter_map(|site| {
        Some(ListedTerm {
            action: domain.actions.get(site.action)?.name.clone(),
            list: site.list,
            index: site.index,
            text: part_at(domain, site)?.text(),
        })
    });
    listed.collect()
}

/// In how many terms the two domains differ: the size of the symmetric difference, action by action and list by list.
/// Terms compare without regard to case and order; variables by name, as in domains that were made from one.
pub fn differing_terms(a: &Domain, b: &Domain) -> usize {
    let mut balance: FxHashMap<(String, TermList, String), i64> = FxHashMap::default();
    for (domain, step) in [(a, 1), (b, -1)] {
        for site in sites(domain) {
            let (Some(action), Some(part)) = (domain.actions.get(site.action), part_at(domain, site)) else {
                continue;
            };
            let text = match &part {
                Part::Condition(condition) => canonical_condition(condition),
                Part::Effect(effect) => canonical_effect(effect),
            };
            *balance.entry((action.name.key().to_owned(), site.list, text)).or_default() += step;
        }
    }
    balance.values().map(|n| n.unsigned_abs() as usize).sum()
}

/// Returns the places of all terms.
pub(super) fn sites(domain: &Domain) -> Vec<Site> {
    let mut all = Vec::new();
    for (index, action) in domain.actions.iter().enumerate() {
        all.extend(list_sites(action, index, TermList::Precondition));
        all.extend(list_sites(action, index, TermList::Effect));
    }
    all
}

/// The places of one list's terms.
pub(super) fn list_sites(action: &Action, number: usize, list: TermList) -> Vec<Site> {
    let site = |index: usize| Site { action: number, list, index };
    match list {
        TermList::Precondition => {
            let count = action.precondition.as_ref().map_or(0, |c| c.conjuncts().len());
            (0..count).map(site).collect()
        }
        TermList::Effect => {
            let effects = action.effect.as_ref().map_or(&[][..], Effect::conjuncts);
            effects.iter().enumerate().filter(|(_, e)| !counts_cost(e)).map(|(i, _)| site(i)).collect()
        }
    }
}

fn counts_cost(effect: &Effect) -> bool {
    matches!(effect, Effect::Assign(a) if a.fluent.function.is("total-cost"))
}

/// The term at a place.
pub(super) fn part_at(domain: &Domain, site: Site) -> Option<Part> {
    let action = domain.actions.get(site.action)?;
    match site.list {
        TermList::Precondition => {
            action.precondition.as_ref()?.conjuncts().get(site.index).cloned().map(Part::Condition)
        }
        TermList::Effect => action.effect.as_ref()?.conjuncts().get(site.index).cloned().map(Part::Effect),
    }
}
