//! Reorders items whose order has no meaning.
//!
//! Items are sorted by a hash of the seed and their content. So two definitions with the same items list them
//! in the same order, and duplicates keep their order.

use crate::words::invent::digest;
use planforge_pddl::ast::{Condition, Domain, Effect, InitElement, Problem, TypedName};
use planforge_pddl::{print_atom, print_condition, print_effect, print_init};

/// Declarations, the conjuncts and disjuncts of conditions, and effects of a domain. Parameters keep their order, for plans name them by
/// position.
pub(crate) fn domain(domain: &mut Domain, seed: u64) {
    sort_typed_list(&mut domain.types, seed);
    sort_typed_list(&mut domain.constants, seed);
    domain.predicates.sort_by_cached_key(|p| digest(seed, p.name.key()));
    domain.functions.sort_by_cached_key(|f| digest(seed, f.name.key()));
    domain.actions.sort_by_cached_key(|a| digest(seed, a.name.key()));
    domain.durative_actions.sort_by_cached_key(|a| digest(seed, a.name.key()));
    for action in &mut domain.actions {
        action.precondition.iter_mut().for_each(|c| condition(c, seed));
        action.effect.iter_mut().for_each(|e| effect(e, seed));
    }
    for action in &mut domain.durative_actions {
        action.condition.iter_mut().for_each(|c| condition(c, seed));
        action.effect.iter_mut().for_each(|e| effect(e, seed));
    }
    for rule in &mut domain.derived {
        rule.condition.iter_mut().for_each(|c| condition(c, seed));
    }
}

/// The objects, the initial state and the goal of a problem.
pub(crate) fn problem(problem: &mut Problem, seed: u64) {
    sort_typed_list(&mut problem.objects, seed);
    problem.init.sort_by_cached_key(|element| digest(seed, &element_key(element)));
    problem.goal.iter_mut().for_each(|c| condition(c, seed));
}

/// Key of an initial element: several values of one fluent keep their order.
fn element_key(element: &InitElement) -> String {
    match element {
        InitElement::Value(fluent, ..) => {
            let args: Vec<&str> = fluent.args.iter().map(|term| term.name().key()).collect();
            format!("{} {}", fluent.function.key(), args.join(" "))
        }
        InitElement::Atom(atom) | InitElement::Not(atom, _) => print_atom(atom).to_lowercase(),
        InitElement::Timed { .. } => print_init(element).to_lowercase(),
    }
}

/// Neighbours of one type stay neighbours, as people write lists.
fn sort_typed_list(list: &mut [TypedName], seed: u64) {
    let type_of = |entry: &TypedName| -> String {
        let names = entry.ty.as_ref().map(|ty| &ty.alternatives[..]).unwrap_or_default();
        names.iter().map(|name| name.key()).collect::<Vec<_>>().join(" ")
    };
    // Without a type at the end: further up the names would take the type of those behind them.
    list.sort_by_cached_key(|entry| {
        (entry.ty.is_none(), digest(seed, &type_of(entry)), type_of(entry), digest(seed, entry.name.key()))
    });
}

fn condition(it: &mut Condition, seed: u64) {
    match it {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| condition(part, seed));
            parts.sort_by_cached_key(|part| digest(seed, &print_condition(part)));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => condition(inner, seed),
        Condition::Imply(a, b, _) => {
            condition(a, seed);
            condition(b, seed);
        }
        Condition::Exists(q) | Condition::Forall(q) => condition(&mut q.body, seed),
        Condition::Preference(p) => condition(&mut p.condition, seed),
        // The two conditions of a trajectory have different roles.
        Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|part| condition(part, seed)),
        Condition::Atom(_) | Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

fn effect(it: &mut Effect, seed: u64) {
    match it {
        Effect::And(parts, _) => {
            parts.iter_mut().for_each(|part| effect(part, seed));
            // Changes of numbers stay among themselves as they were.
            if !parts.iter().any(|part| matches!(part, Effect::Assign(_))) {
                parts.sort_by_cached_key(|part| digest(seed, &print_effect(part)));
            }
        }
        Effect::Forall(q) => effect(&mut q.body, seed),
        Effect::When(when, inner, _) => {
            condition(when, seed);
            effect(inner, seed);
        }
        Effect::Timed(_, inner, _) => effect(inner, seed),
        Effect::Add(_) | Effect::Delete(..) | Effect::Assign(_) => {}
    }
}
