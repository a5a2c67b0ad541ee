//! Beginnings to complete: a problem with its objects, a domain with its action interface.

use crate::codes;
use planforge_contract::{ActionInterface, ActionSignature, Failure, FailureClass, TaskView, TypedName};
use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::{Name, ast, domain_template, problem_template};

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
    let domain = domain.map_or_else(|| suite_name(task), str::to_owned);
    Ok(problem_template(&ast::Problem {
        name: Some(Name::synthetic(&pddl_name(&task.task, "task"))),
        domain_name: Some(Name::synthetic(&domain)),
        objects: typed(objects, ""),
        ..ast::Problem::default()
    }))
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
    let requirements: &[&str] = if types.is_empty() { &[":strips"] } else { &[":strips", ":typing"] };
    let untyped = |name: &&str| ast::TypedName { name: Name::synthetic(name), ty: None };
    let action = |action: &ActionSignature| ast::Action {
        name: Name::synthetic(&action.name),
        parameters: typed(&action.parameters, "?"),
        vars: Vec::new(),
        precondition: None,
        effect: None,
        span: Span::default(),
    };
    Ok(domain_template(&ast::Domain {
        name: Some(Name::synthetic(&name)),
        requirements: requirements.iter().map(|r| Name::synthetic(r)).collect(),
        types: types.iter().map(untyped).collect(),
        actions: interface.actions.iter().map(action).collect(),
        ..ast::Domain::default()
    }))
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

/// Names with their types. Types are left out only where all are the built-in one: within a list, a name without a type would
/// take that of the next typed name.
fn typed(list: &[TypedName], sigil: &str) -> Vec<ast::TypedName> {
    let untyped = list.iter().all(|n| n.type_name.eq_ignore_ascii_case("object"));
    let one = |entry: &TypedName| ast::TypedName {
        name: Name::synthetic(&format!("{sigil}{}", entry.name)),
        ty: (!untyped).then(|| ast::TypeRef {
            alternatives: alternatives(&entry.type_name).into_iter().map(Name::synthetic).collect(),
            span: Span::default(),
        }),
    };
    list.iter().map(one).collect()
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
