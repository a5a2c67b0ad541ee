//! The thought for a domain or a problem: the meaning of its predicates and actions, one a line, as far as
//! PDDL states it.

use planforge_pddl::ast::{Condition, Domain, Effect, InitElement, Problem, TypedName};
use planforge_pddl::{Name, print_condition, print_effect};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The thought for a domain with its mistakes.
pub(crate) fn of_domain(domain: &Domain) -> String {
    let mut out = String::new();
    for predicate in &domain.predicates {
        let _ = writeln!(out, "predicate {}: {}", predicate.name, about(&predicate.parameters));
    }
    for action in &domain.actions {
        let conditions = action.precondition.as_ref().map_or(&[][..], Condition::conjuncts);
        let effects = action.effect.as_ref().map_or(&[][..], Effect::conjuncts);
        let needs: Vec<String> = conditions.iter().map(|c| one_line(&print_condition(c))).collect();
        let makes: Vec<String> = effects.iter().map(|e| one_line(&print_effect(e))).collect();
        let _ =
            writeln!(out, "action {}: needs {}, and makes true {}", action.name, all(&needs), all(&makes));
    }
    out
}

/// The thought for a problem: its predicates, its initial state and its goal.
pub(crate) fn of_problem(domain: &Domain, problem: &Problem) -> String {
    let used: BTreeSet<&Name> = problem
        .init
        .iter()
        .filter_map(|element| match element {
            InitElement::Atom(atom) => Some(&atom.predicate),
            _ => None,
        })
        .collect();
    let mut out = String::new();
    for predicate in domain.predicates.iter().filter(|p| used.contains(&p.name)) {
        let _ = writeln!(out, "predicate {}: {}", predicate.name, about(&predicate.parameters));
    }
    let _ = writeln!(out, "initial state: {} facts are true", problem.init.len());
    if let Some(goal) = &problem.goal {
        let goals: Vec<String> = goal.conjuncts().iter().map(|c| one_line(&print_condition(c))).collect();
        let _ = writeln!(out, "goal: {}", all(&goals));
    }
    out
}

fn about(parameters: &[TypedName]) -> String {
    if parameters.is_empty() {
        return "is true or false of the whole state".to_owned();
    }
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    format!("holds of {}", names.join(", "))
}

fn all(terms: &[String]) -> String {
    if terms.is_empty() { "nothing".to_owned() } else { terms.join(" and ") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
