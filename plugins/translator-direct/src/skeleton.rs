//! Beginnings to complete: a problem with its objects, a domain with its action interface.

use crate::codes;
use planforge_contract::{ActionInterface, Failure, FailureClass, TaskView, TypedName};
use planforge_diagnostics::SourceId;
use std::fmt::Write as _;

/// The name in `(domain NAME)`.
pub(crate) fn domain_name(domain: &str) -> Option<String> {
    planforge_pddl::parse_domain(domain, SourceId(0)).value.name.map(|n| n.to_string())
}

/// The name in `(:domain NAME)`.
pub(crate) fn wanted_domain(problem: &str) -> Option<String> {
    planforge_pddl::parse_problem(problem, SourceId(0)).value.domain_name.map(|n| n.to_string())
}

/// The suite's name, as a PDDL name.
pub(crate) fn suite_name(task: &TaskView) -> String {
    pddl_name(&task.suite, "domain")
}

/// The beginning of a problem: everything but the initial state and the goal.
pub(crate) fn problem(task: &TaskView, domain: Option<&str>) -> Result<String, Failure> {
    if let Some(text) = material(task, "objects.template") {
        return Ok(text);
    }
    let objects = task.action_interface.as_ref().map(|i| i.objects.as_slice()).unwrap_or_default();
    if objects.is_empty() {
        return Err(no_template(task, "objects.template", "a list of the task's objects"));
    }
    let mut out = format!("(define (problem {})\n", pddl_name(&task.task, "task"));
    let domain = domain.map_or_else(|| suite_name(task), str::to_owned);
    let _ = writeln!(out, "  (:domain {domain})");
    out.push_str("  (:objects");
    for group in typed_groups(objects) {
        out.push_str("\n    ");
        out.push_str(&group);
    }
    out.push_str(")\n  (:init)\n  (:goal (and)))");
    Ok(out)
}

/// The beginning of a domain: its types and the signatures of its actions.
pub(crate) fn interface(task: &TaskView, name: Option<&str>) -> Result<String, Failure> {
    if let Some(text) = material(task, "domain.template") {
        return Ok(text);
    }
    let Some(interface) = task.action_interface.as_ref().filter(|i| !i.actions.is_empty()) else {
        return Err(no_template(task, "domain.template", "the action interface"));
    };
    let name = name.map_or_else(|| suite_name(task), str::to_owned);
    let types = types_of(interface);
    let mut out = format!("(define (domain {name})\n");
    if types.is_empty() {
        out.push_str("  (:requirements :strips)\n");
    } else {
        let _ = writeln!(out, "  (:requirements :strips :typing)\n  (:types {})", types.join(" "));
    }
    out.push_str("  (:predicates)");
    for action in &interface.actions {
        let variables: Vec<TypedName> = action
            .parameters
            .iter()
            .map(|p| TypedName { name: format!("?{}", p.name), type_name: p.type_name.clone() })
            .collect();
        let _ = write!(
            out,
            "\n  (:action {}\n    :parameters ({})\n    :precondition (and)\n    :effect (and))",
            action.name,
            typed_groups(&variables).join(" ")
        );
    }
    out.push(')');
    Ok(out)
}

/// The types that the interface names, in order of appearance and without the built-in one.
fn types_of(interface: &ActionInterface) -> Vec<&str> {
    let mut types: Vec<&str> = Vec::new();
    let all = interface.actions.iter().flat_map(|a| &a.parameters).chain(&interface.objects);
    for name in all.flat_map(|t| alternatives(&t.type_name)) {
        if !name.eq_ignore_ascii_case("object") && !types.iter().any(|t| t.eq_ignore_ascii_case(name)) {
            types.push(name);
        }
    }
    types
}

/// The names in a type: one, or those of `(either a b)`.
fn alternatives(type_name: &str) -> Vec<&str> {
    match type_name.trim().strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) => inner.split_whitespace().skip(1).collect(),
        None => vec![type_name.trim()],
    }
}

/// Each run of names of one type: `a b - town`. Types are left out only where all are the built-in one: within a list, a
/// name without a type would take that of the next typed name.
fn typed_groups(list: &[TypedName]) -> Vec<String> {
    let untyped = list.iter().all(|n| n.type_name.eq_ignore_ascii_case("object"));
    list.chunk_by(|a, b| a.type_name == b.type_name)
        .map(|group| {
            let names: Vec<&str> = group.iter().map(|n| n.name.as_str()).collect();
            match group.first().filter(|_| !untyped) {
                Some(first) => format!("{} - {}", names.join(" "), first.type_name),
                None => names.join(" "),
            }
        })
        .collect()
}

/// A text of the suite, without trailing blanks.
fn material(task: &TaskView, name: &str) -> Option<String> {
    task.materials.get(name).map(|t| t.trim().to_owned()).filter(|t| !t.is_empty())
}

/// Keeps what PDDL allows in a name; a name must begin with a letter.
fn pddl_name(text: &str, otherwise: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    match name.chars().next() {
        Some(c) if c.is_ascii_alphabetic() => name,
        Some(_) => format!("{otherwise}-{name}"),
        None => otherwise.to_owned(),
    }
}

fn no_template(task: &TaskView, material: &str, what: &str) -> Failure {
    Failure::new(
        FailureClass::Request,
        codes::NO_TEMPLATE,
        format!("the question needs {what}, and nothing of the kind is given for suite `{}`", task.suite),
    )
    .help(format!("let the pipeline give the action interface, or add `{material}` to the suite"))
}
