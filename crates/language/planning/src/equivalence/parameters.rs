//! Orders of an action's parameters: typed bijections between the parameters of two action schemas.
//!
//! The order in which a schema lists its parameters is part of its interface, not of its behaviour. Texts often
//! name them in another order than the PDDL, so an action is graded up to a bijection between parameters of the
//! same type.

use super::are::{Bijections, MAX_CHOICES, Shape, type_names};
use crate::walk::NamedStep;
use planforge_pddl::ast::{Action, Domain};

/// Most bijections that are listed for one pair of actions: all of four parameters of one type.
const MOST_ORDERS: usize = 24;

/// Bijections between the parameters of two actions that respect their types. By parameter of the original,
/// each has the place of the other's. The one with the least action reconstruction error comes first, and of
/// equal ones the one that keeps more positions. If there are over 24, the list has only the best.
pub fn typed_orders(original: &Action, other: &Action) -> Vec<Vec<usize>> {
    let (own, theirs) = (Shape::of(original), Shape::of(other));
    let same = |i: usize, j: usize| has_same_type(original, i, other, j);
    let Some(best) = Bijections::new(&own, &theirs, &same, &|_, _| 0).best(MAX_CHOICES) else {
        return Vec::new();
    };
    let mut listed = Vec::new();
    list_orders(&same, original.parameters.len(), &mut Vec::new(), &mut listed);
    if listed.len() > MOST_ORDERS {
        return vec![best.parameters];
    }
    let error = |order: &[usize]| {
        let fixed = |i: usize, j: usize| order.get(i) == Some(&j);
        let found = Bijections::new(&own, &theirs, &fixed, &|_, _| 0).best(MAX_CHOICES);
        let moved = order.iter().enumerate().filter(|(i, place)| i != *place).count();
        (found.map_or(usize::MAX, |found| found.error), moved)
    };
    listed.sort_by_cached_key(|order| error(order));
    listed
}

/// Returns true if the parameters at each position have the same type.
pub fn has_same_types(original: &Action, other: &Action) -> bool {
    let count = original.parameters.len();
    count == other.parameters.len() && (0..count).all(|i| has_same_type(original, i, other, i))
}

/// Returns the action with its parameters in the original's order; `None` if the order is not one of its
/// parameters.
pub fn reorder_parameters(action: &Action, order: &[usize]) -> Option<Action> {
    let parameters = order.iter().map(|&place| action.parameters.get(place).cloned());
    let parameters = parameters.collect::<Option<Vec<_>>>()?;
    (parameters.len() == action.parameters.len()).then(|| Action { parameters, ..action.clone() })
}

/// Returns the candidate with the parameters of each action in the order, respecting types, that has the least
/// reconstruction error against the reference's action of that name; `None` if no order changes.
pub fn reorder_domain(reference: &Domain, candidate: &Domain) -> Option<Domain> {
    let mut reordered = candidate.clone();
    let mut changed = false;
    for action in &mut reordered.actions {
        let Some(original) = reference.actions.iter().find(|own| own.name == action.name) else { continue };
        let order = typed_orders(original, action).into_iter().next();
        if let Some(order) = order.filter(|order| !keeps_positions(order))
            && let Some(other) = reorder_parameters(action, &order)
        {
            *action = other;
            changed = true;
        }
    }
    changed.then_some(reordered)
}

/// Returns a step of the original's action with its arguments in the order of the other's parameters.
pub fn step_in_other_order(step: &NamedStep, order: &[usize]) -> NamedStep {
    let mut args = step.args.clone();
    for (arg, &place) in step.args.iter().zip(order) {
        if let Some(own) = args.get_mut(place) {
            own.clone_from(arg);
        }
    }
    NamedStep { name: step.name.clone(), args }
}

/// Returns true if the order changes nothing.
pub fn keeps_positions(order: &[usize]) -> bool {
    order.iter().copied().eq(0..order.len())
}

fn has_same_type(a: &Action, i: usize, b: &Action, j: usize) -> bool {
    match (a.parameters.get(i), b.parameters.get(j)) {
        (Some(a), Some(b)) => type_names(a.ty.as_ref()) == type_names(b.ty.as_ref()),
        _ => false,
    }
}

/// Lists the bijections, at most one more than [`MOST_ORDERS`].
fn list_orders(
    same: &dyn Fn(usize, usize) -> bool,
    count: usize,
    order: &mut Vec<usize>,
    listed: &mut Vec<Vec<usize>>,
) {
    if listed.len() > MOST_ORDERS {
        return;
    }
    let next = order.len();
    if next == count {
        listed.push(order.clone());
        return;
    }
    for place in 0..count {
        if !order.contains(&place) && same(next, place) {
            order.push(place);
            list_orders(same, count, order, listed);
            order.pop();
        }
    }
}
