//! Every atom of a condition or effect, to change it in place.

use crate::ast::{Atom, Condition, Effect, InitElement};

pub(super) fn of_condition(condition: &mut Condition, change: &mut impl FnMut(&mut Atom)) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter_mut().for_each(|part| of_condition(part, change));
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => of_condition(inner, change),
        Condition::Imply(a, b, _) => {
            of_condition(a, change);
            of_condition(b, change);
        }
        Condition::Exists(q) | Condition::Forall(q) => of_condition(&mut q.body, change),
        Condition::Preference(p) => of_condition(&mut p.condition, change),
        Condition::Trajectory(t) => t.conditions.iter_mut().for_each(|part| of_condition(part, change)),
        Condition::Atom(atom) => change(atom),
        Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

pub(super) fn of_effect(effect: &mut Effect, change: &mut impl FnMut(&mut Atom)) {
    match effect {
        Effect::And(parts, _) => parts.iter_mut().for_each(|part| of_effect(part, change)),
        Effect::Forall(q) => of_effect(&mut q.body, change),
        Effect::When(condition, inner, _) => {
            of_condition(condition, change);
            of_effect(inner, change);
        }
        Effect::Timed(_, inner, _) => of_effect(inner, change),
        Effect::Add(atom) | Effect::Delete(atom, _) => change(atom),
        Effect::Assign(_) => {}
    }
}

pub(super) fn of_init(element: &mut InitElement, change: &mut impl FnMut(&mut Atom)) {
    match element {
        InitElement::Atom(atom) | InitElement::Not(atom, _) => change(atom),
        InitElement::Timed { element, .. } => of_init(element, change),
        InitElement::Value(..) => {}
    }
}
