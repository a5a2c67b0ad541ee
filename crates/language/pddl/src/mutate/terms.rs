//! The terms of a domain's actions, and their places.

use super::{Part, Site, TermList};
use crate::ast::{Action, Condition, Domain, DurativeAction, Effect};
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

/// Lists the terms of the domain's actions, in the order of the text, durative actions last.
///
/// The effect that increases an action's cost, on the function `total-cost`, is left out: it affects neither
/// executability nor reachability.
pub fn terms(domain: &Domain) -> Vec<ListedTerm> {
    let listed = sites(domain).into_iter().filter_map(|site| {
        Some(ListedTerm {
            action: action_name(domain, site.action)?.clone(),
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
            let (Some(action), Some(part)) = (action_name(domain, site.action), part_at(domain, site)) else {
                continue;
            };
            let text = match &part {
                Part::Condition(condition) => canonical_condition(condition),
                Part::Effect(effect) => canonical_effect(effect),
            };
            *balance.entry((action.key().to_owned(), site.list, text)).or_default() += step;
        }
    }
    balance.values().map(|n| n.unsigned_abs() as usize).sum()
}

/// Returns the places of all terms.
pub(super) fn sites(domain: &Domain) -> Vec<Site> {
    let all = 0..domain.actions.len() + domain.durative_actions.len();
    let lists = [TermList::Precondition, TermList::Effect];
    all.flat_map(|action| lists.map(|list| sites_of(domain, action, list))).flatten().collect()
}

/// The places of one list's terms.
pub(super) fn sites_of(domain: &Domain, number: usize, list: TermList) -> Vec<Site> {
    if let Some(action) = domain.actions.get(number) {
        return list_sites(action, number, list);
    }
    let Some(action) = durative(domain, number) else { return Vec::new() };
    match list {
        TermList::Duration => condition_sites(action.duration.as_ref(), number, list),
        TermList::Precondition => condition_sites(action.condition.as_ref(), number, list),
        TermList::Effect => effect_sites(action.effect.as_ref(), number),
    }
}

/// The places of one list's terms.
pub(super) fn list_sites(action: &Action, number: usize, list: TermList) -> Vec<Site> {
    match list {
        TermList::Precondition => condition_sites(action.precondition.as_ref(), number, list),
        TermList::Effect => effect_sites(action.effect.as_ref(), number),
        TermList::Duration => Vec::new(),
    }
}

fn condition_sites(condition: Option<&Condition>, action: usize, list: TermList) -> Vec<Site> {
    let count = condition.map_or(0, |condition| condition.conjuncts().len());
    (0..count).map(|index| Site { action, list, index }).collect()
}

fn effect_sites(effect: Option<&Effect>, action: usize) -> Vec<Site> {
    let effects = effect.map_or(&[][..], Effect::conjuncts).iter().enumerate();
    let site = |index| Site { action, list: TermList::Effect, index };
    effects.filter(|(_, effect)| !counts_cost(effect)).map(|(index, _)| site(index)).collect()
}

fn durative(domain: &Domain, number: usize) -> Option<&DurativeAction> {
    domain.durative_actions.get(number.checked_sub(domain.actions.len())?)
}

/// The name of an action, by its number in a [`Site`].
pub(super) fn action_name(domain: &Domain, number: usize) -> Option<&Name> {
    let instantaneous = domain.actions.get(number).map(|action| &action.name);
    instantaneous.or_else(|| durative(domain, number).map(|action| &action.name))
}

fn counts_cost(effect: &Effect) -> bool {
    matches!(effect, Effect::Assign(a) if a.fluent.function.is("total-cost"))
}

/// The term at a place.
pub(super) fn part_at(domain: &Domain, site: Site) -> Option<Part> {
    let (condition, effect) = match domain.actions.get(site.action) {
        Some(action) => (&action.precondition, &action.effect),
        None => {
            let action = durative(domain, site.action)?;
            let is_duration = site.list == TermList::Duration;
            (if is_duration { &action.duration } else { &action.condition }, &action.effect)
        }
    };
    match site.list {
        TermList::Precondition | TermList::Duration => {
            condition.as_ref()?.conjuncts().get(site.index).cloned().map(Part::Condition)
        }
        TermList::Effect => effect.as_ref()?.conjuncts().get(site.index).cloned().map(Part::Effect),
    }
}
