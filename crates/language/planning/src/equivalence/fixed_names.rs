//! Names that a renaming of objects must keep.

use planforge_pddl::ast::{Condition, Domain, Effect, NumericExpr, Term};
use rustc_hash::FxHashSet;

/// Returns the names, in lower case, that must not be renamed: constants, and all names in the domain's
/// actions, rules and constraints.
pub fn fixed_names(domain: &Domain) -> FxHashSet<String> {
    let mut names: FxHashSet<String> = domain.constants.iter().map(|c| c.name.key().to_owned()).collect();
    let mut see = |term: &Term| {
        if let Term::Constant(name) = term {
            names.insert(name.key().to_owned());
        }
    };
    for action in &domain.actions {
        action.precondition.iter().for_each(|c| terms_of_condition(c, &mut see));
        action.effect.iter().for_each(|e| terms_of_effect(e, &mut see));
    }
    for action in &domain.durative_actions {
        action.duration.iter().chain(&action.condition).for_each(|c| terms_of_condition(c, &mut see));
        action.effect.iter().for_each(|e| terms_of_effect(e, &mut see));
    }
    domain.constraints.iter().for_each(|c| terms_of_condition(c, &mut see));
    for rule in &domain.derived {
        rule.condition.iter().for_each(|c| terms_of_condition(c, &mut see));
    }
    names
}

fn terms_of_condition(condition: &Condition, see: &mut dyn FnMut(&Term)) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|p| terms_of_condition(p, see));
        }
        Condition::Not(part, _) | Condition::Timed(_, part, _) => terms_of_condition(part, see),
        Condition::Imply(a, b, _) => {
            terms_of_condition(a, see);
            terms_of_condition(b, see);
        }
        Condition::Exists(q) | Condition::Forall(q) => terms_of_condition(&q.body, see),
        Condition::Atom(atom) => atom.args.iter().for_each(see),
        Condition::Equal(a, b, _) => [a, b].into_iter().for_each(see),
        Condition::Compare(c) => [&c.left, &c.right].into_iter().for_each(|e| terms_of_number(e, see)),
        Condition::Preference(p) => terms_of_condition(&p.condition, see),
        Condition::Trajectory(t) => t.conditions.iter().for_each(|c| terms_of_condition(c, see)),
    }
}

fn terms_of_number(expr: &NumericExpr, see: &mut dyn FnMut(&Term)) {
    match expr {
        NumericExpr::Fluent(f) => f.args.iter().for_each(see),
        NumericExpr::Arithmetic(_, parts, _) => parts.iter().for_each(|p| terms_of_number(p, see)),
        _ => {}
    }
}

fn terms_of_effect(effect: &Effect, see: &mut dyn FnMut(&Term)) {
    match effect {
        Effect::And(parts, _) => parts.iter().for_each(|p| terms_of_effect(p, see)),
        Effect::Forall(q) => terms_of_effect(&q.body, see),
        Effect::When(condition, effect, _) => {
            terms_of_condition(condition, see);
            terms_of_effect(effect, see);
        }
        Effect::Add(atom) | Effect::Delete(atom, _) => atom.args.iter().for_each(see),
        Effect::Assign(a) => {
            a.fluent.args.iter().for_each(&mut *see);
            terms_of_number(&a.value, see);
        }
        Effect::Timed(_, effect, _) => terms_of_effect(effect, see),
    }
}
