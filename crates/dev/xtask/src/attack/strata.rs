//! Order of the rules for derived predicates: a predicate that is negated in a rule is complete before the rule is used.

use planforge_pddl::ast::{Condition, Derived};
use std::collections::BTreeMap;

/// The rules by stratum, lowest first.
pub(super) fn strata(rules: &[Derived]) -> Vec<Vec<&Derived>> {
    let mut level: BTreeMap<&str, usize> = rules.iter().map(|rule| (rule.predicate.key(), 0)).collect();
    // Levels grow until every rule is satisfied; rules that negate themselves in a circle stop at the bound.
    for _ in 0..=rules.len() {
        for rule in rules {
            let mut uses = Vec::new();
            if let Some(condition) = &rule.condition {
                predicates(condition, true, &mut uses);
            }
            let needed = uses.iter().filter_map(|(predicate, positive)| {
                level.get(predicate).map(|level| level + usize::from(!positive))
            });
            let needed = needed.max().unwrap_or(0).min(rules.len());
            let own = level.entry(rule.predicate.key()).or_default();
            *own = (*own).max(needed);
        }
    }
    let mut strata: Vec<Vec<&Derived>> = vec![Vec::new(); rules.len() + 1];
    for rule in rules {
        strata[level[rule.predicate.key()]].push(rule);
    }
    strata.retain(|rules| !rules.is_empty());
    strata
}

/// The predicates of a condition, each with true if it occurs positively.
fn predicates<'t>(condition: &'t Condition, positive: bool, uses: &mut Vec<(&'t str, bool)>) {
    match condition {
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|part| predicates(part, positive, uses));
        }
        Condition::Not(inner, _) => predicates(inner, !positive, uses),
        Condition::Imply(premise, conclusion, _) => {
            predicates(premise, !positive, uses);
            predicates(conclusion, positive, uses);
        }
        Condition::Exists(q) | Condition::Forall(q) => predicates(&q.body, positive, uses),
        Condition::Atom(atom) => uses.push((atom.predicate.key(), positive)),
        Condition::Timed(_, inner, _) => predicates(inner, positive, uses),
        Condition::Equal(..)
        | Condition::Compare(_)
        | Condition::Preference(_)
        | Condition::Trajectory(_) => {}
    }
}
