//! Beginnings to complete (exploration-walk paper, Listings 4 and 6): a domain with the signatures of its actions and nothing
//! that they mean, a problem with its objects and neither initial state nor goal.

use crate::ast::{Domain, Problem, TypedName};
use crate::print::print_typed_list;
use std::fmt::Write as _;

/// The action interface as a domain: name, requirements, types, constants and signatures; predicates, conditions and effects
/// are empty. The text ends without a line end.
pub fn domain_template(domain: &Domain) -> String {
    let mut out = format!("(define (domain {})\n", domain.name.as_ref().map_or("domain", |n| n.as_str()));
    if !domain.requirements.is_empty() {
        let names: Vec<&str> = domain.requirements.iter().map(|r| r.as_str()).collect();
        let _ = writeln!(out, "  (:requirements {})", names.join(" "));
    }
    if !domain.types.is_empty() {
        let _ = writeln!(out, "  (:types {})", print_typed_list(&domain.types));
    }
    if !domain.constants.is_empty() {
        let _ = writeln!(out, "  (:constants {})", print_typed_list(&domain.constants));
    }
    out.push_str("  (:predicates)");
    for action in &domain.actions {
        signature(&mut out, "action", action.name.as_str(), &action.parameters, ":precondition (and)");
    }
    for action in &domain.durative_actions {
        let empty = ":duration ()\n    :condition (and)";
        signature(&mut out, "durative-action", action.name.as_str(), &action.parameters, empty);
    }
    out.push(')');
    out
}

fn signature(out: &mut String, keyword: &str, name: &str, parameters: &[TypedName], condition: &str) {
    let parameters = print_typed_list(parameters);
    let _ = write!(
        out,
        "\n  (:{keyword} {name}\n    :parameters ({parameters})\n    {condition}\n    :effect (and))"
    );
}

/// The objects as a problem: name, domain and objects; initial state and goal are empty. The text ends without a line end.
pub fn problem_template(problem: &Problem) -> String {
    let name = problem.name.as_ref().map_or("problem", |n| n.as_str());
    let domain = problem.domain_name.as_ref().map_or("domain", |n| n.as_str());
    let mut out = format!("(define (problem {name})\n  (:domain {domain})\n  (:objects");
    for group in problem.objects.chunk_by(|a, b| a.ty == b.ty) {
        // A name without a type would take that of the next group, so a list that has types anywhere has them everywhere.
        let untyped = group.iter().all(|o| o.ty.is_none());
        let typed = problem.objects.iter().any(|o| o.ty.is_some());
        let end = if untyped && typed { " - object" } else { "" };
        let _ = write!(out, "\n    {}{end}", print_typed_list(group));
    }
    out.push_str(")\n  (:init)\n  (:goal (and)))");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check_domain, diff_domains, parse_domain, parse_problem};
    use planforge_diagnostics::SourceId;

    const DOMAIN: &str = "(define (domain d) (:requirements :strips :typing) (:types a b - object c - (either a b)) \
        (:constants k - a) (:predicates (p ?x - a)) (:action one :parameters (?x ?y - a ?z - (either a b)) :precondition (p ?x) \
        :effect (not (p ?x))) (:action two :parameters () :effect (p k)))";

    #[test]
    fn a_domain_template_keeps_only_names_and_types() {
        let text = domain_template(&parse_domain(DOMAIN, SourceId(0)).value);
        assert_eq!(
            text,
            "(define (domain d)\n  (:requirements :strips :typing)\n  (:types a b - object c - (either a b))\n  \
             (:constants k - a)\n  (:predicates)\n  (:action one\n    :parameters (?x ?y - a ?z - (either a b))\n    \
             :precondition (and)\n    :effect (and))\n  (:action two\n    :parameters ()\n    :precondition (and)\n    \
             :effect (and)))"
        );
        let read = parse_domain(&text, SourceId(0));
        assert!(!read.diagnostics.iter().any(|d| d.is_error()), "{:?}", read.diagnostics);
        assert!(!check_domain(&read.value, SourceId(0)).iter().any(|d| d.is_error()));
        assert!(diff_domains(&read.value, &read.value).is_empty());
    }

    #[test]
    fn a_problem_keeps_its_objects() {
        let problem = "(define (problem p) (:domain d) (:objects x y - a z) (:init (p x)) (:goal (p y)))";
        let text = problem_template(&parse_problem(problem, SourceId(0)).value);
        assert_eq!(
            text,
            "(define (problem p)\n  (:domain d)\n  (:objects\n    x y - a\n    z - object)\n  (:init)\n  (:goal (and)))"
        );
    }
}
