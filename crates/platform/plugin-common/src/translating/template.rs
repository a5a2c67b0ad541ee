//! Templates that a model completes: a problem with its objects, a domain with its action interface.

use crate::translating::codes;
use crate::translating::material;
use planforge_contract::{ActionInterface, ActionSignature, Failure, FailureClass, TaskView, TypedName};
use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::{Name, ast};
use std::collections::BTreeSet;

/// The name in `(domain NAME)` of a domain in PDDL.
pub fn domain_name(domain: &str) -> Option<String> {
    planforge_pddl::parse_domain(domain, SourceId(0)).value.name.map(|n| n.to_string())
}

/// The name in `(:domain NAME)` of a problem in PDDL.
pub fn domain_of_problem(problem: &str) -> Option<String> {
    planforge_pddl::parse_problem(problem, SourceId(0)).value.domain_name.map(|n| n.to_string())
}

/// The suite's name as a PDDL name.
pub fn suite_name(task: &TaskView) -> String {
    pddl_name(&task.suite, "domain")
}

/// A problem of the task with the objects of a section `(:objects ...)`, each once, without initial state and goal. Text behind the section is
/// ignored.
pub fn problem_with_objects(task: &TaskView, domain: &ast::Domain, section: &str) -> String {
    let name = pddl_name(&task.task, "task");
    let text = format!("(define (problem {name}) {section})");
    let mut problem = planforge_pddl::parse_problem(&text, SourceId(0)).value;
    let mut known: BTreeSet<String> = domain.constants.iter().map(|c| c.name.key().to_owned()).collect();
    problem.objects.retain(|object| known.insert(object.name.key().to_owned()));
    planforge_pddl::problem_template(&ast::Problem {
        name: problem.name,
        domain_name: domain.name.clone(),
        objects: problem.objects,
        ..ast::Problem::default()
    })
}

/// A problem without initial state and goal: the suite's text, or one with the objects of the interface. None if the task has neither.
pub fn problem_template(task: &TaskView, domain: Option<&str>) -> Option<String> {
    if let Some(text) = material(&task.materials.templates.objects) {
        return Some(text.to_owned());
    }
    let objects = task.action_interface.as_ref().map(|i| i.objects.as_slice()).unwrap_or_default();
    if objects.is_empty() {
        return None;
    }
    let domain = domain.map_or_else(|| suite_name(task), str::to_owned);
    Some(planforge_pddl::problem_template(&ast::Problem {
        name: Some(Name::synthetic(&pddl_name(&task.task, "task"))),
        domain_name: Some(Name::synthetic(&domain)),
        objects: to_pddl_names(objects, ""),
        ..ast::Problem::default()
    }))
}

/// A domain without predicates, conditions and effects: the suite's text, or one with the types and actions of the interface. None if the
/// task has neither.
pub fn domain_template(task: &TaskView, name: Option<&str>) -> Option<String> {
    if let Some(text) = material(&task.materials.templates.domain) {
        return Some(text.to_owned());
    }
    let interface = task.action_interface.as_ref().filter(|i| !i.actions.is_empty())?;
    let name = name.map_or_else(|| suite_name(task), str::to_owned);
    let types = types_of(interface);
    let requirements: &[&str] = if types.is_empty() { &[":strips"] } else { &[":strips", ":typing"] };
    let action = |action: &ActionSignature| ast::Action {
        name: Name::synthetic(&action.name),
        parameters: to_pddl_names(&action.parameters, "?"),
        vars: Vec::new(),
        precondition: None,
        effect: None,
        span: Span::default(),
    };
    Some(planforge_pddl::domain_template(&ast::Domain {
        name: Some(Name::synthetic(&name)),
        requirements: requirements.iter().map(|r| Name::synthetic(r)).collect(),
        types,
        actions: interface.actions.iter().map(action).collect(),
        ..ast::Domain::default()
    }))
}

/// A template as a prompt shows it: `...` stands for each part to fill in. Our reader and VAL refuse `...`, so a copy of the template
/// never passes as an answer.
pub fn with_holes(template: &str) -> String {
    let mut shown = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(colon) = rest.find(':') {
        let word = rest[colon + 1..].find(|c: char| !c.is_ascii_alphabetic());
        let end = word.map_or(rest.len(), |length| colon + 1 + length);
        shown.push_str(&rest[..end]);
        let is_hole = HOLES.contains(&&rest[colon + 1..end]);
        rest = &rest[end..];
        let value = rest.trim_start();
        if is_hole && value.starts_with(')') {
            shown.push_str(" ...");
        } else if let Some(after) = Some(value).filter(|_| is_hole).and_then(after_empty_list) {
            shown.push_str(&rest[..rest.len() - value.len()]);
            shown.push_str("...");
            rest = after;
        }
    }
    shown + rest
}

/// Keywords whose value a template leaves empty.
const HOLES: [&str; 7] = ["predicates", "precondition", "condition", "duration", "effect", "init", "goal"];

/// The text behind `()` or `(and)`.
fn after_empty_list(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.trim_start();
    inner.strip_prefix("and").unwrap_or(inner).trim_start().strip_prefix(')')
}

/// The types of the interface, without `object`: first those that are only used, in order of appearance, then
/// the declared ones with their parents.
fn types_of(interface: &ActionInterface) -> Vec<ast::TypedName> {
    let mut names: Vec<&str> = interface.types.iter().map(|declared| declared.name.as_str()).collect();
    let declared = names.len();
    let parents = interface.types.iter();
    let all = interface.actions.iter().flat_map(|a| &a.parameters).chain(&interface.objects).chain(parents);
    for name in all.flat_map(|t| alternatives(&t.type_name)) {
        if !name.eq_ignore_ascii_case("object") && !names.iter().any(|t| t.eq_ignore_ascii_case(name)) {
            names.push(name);
        }
    }
    let hierarchy = to_pddl_names(&interface.types, "");
    let parent = |name: &str| TypedName { name: name.to_owned(), type_name: "object".to_owned() };
    let used: Vec<TypedName> = names.iter().skip(declared).map(|name| parent(name)).collect();
    let mut types = to_pddl_names(&used, "");
    if hierarchy.iter().any(|entry| entry.ty.is_some()) {
        // Without a type they would take that of the next group.
        types.iter_mut().for_each(|entry| entry.ty = Some(object_type()));
    }
    types.extend(hierarchy);
    types
}

fn object_type() -> ast::TypeRef {
    ast::TypeRef { alternatives: std::iter::once(Name::synthetic("object")).collect(), span: Span::default() }
}

/// The names in a type: one, or those of `(either a b)`.
fn alternatives(type_name: &str) -> Vec<&str> {
    match type_name.trim().strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) => inner.split_whitespace().skip(1).collect(),
        None => vec![type_name.trim()],
    }
}

/// Names with their types. Types are left out only if all are `object`: in a list, a name without a type takes the type of the next
/// typed name.
fn to_pddl_names(list: &[TypedName], sigil: &str) -> Vec<ast::TypedName> {
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

/// The text with every character that PDDL forbids in a name replaced. `prefix` goes before a name that does not begin with a letter.
fn pddl_name(text: &str, prefix: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    match name.chars().next() {
        Some(c) if c.is_ascii_alphabetic() => name,
        Some(_) => format!("{prefix}-{name}"),
        None => prefix.to_owned(),
    }
}

/// The failure for a translator that needs the names of the actions, or of the objects, and a task that has none.
pub fn no_template(task: &TaskView, part: TemplatePart) -> Failure {
    let (what, material) = match part {
        TemplatePart::Actions => ("the action interface", "domain.template"),
        TemplatePart::Objects => ("a list of the task's objects", "objects.template"),
    };
    Failure::new(
        FailureClass::Request,
        codes::NO_TEMPLATE,
        format!("the request needs {what}, and nothing of the kind is given for suite `{}`", task.suite),
    )
    .help(format!("let the pipeline give the action interface, or add `{material}` to the suite"))
}

/// The part of a task that a template shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplatePart {
    /// The domain with its actions.
    Actions,
    /// The problem with its objects.
    Objects,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_shown_template_is_no_definition() {
        let domain = "(define (domain d)\n  (:predicates)\n  (:action a\n    :parameters ()\n    :precondition (and)\n    :effect ( and ))\n  (:action b :parameters (?x) :precondition () :effect (p ?x)))";
        let shown = with_holes(domain);
        assert_eq!(
            shown,
            "(define (domain d)\n  (:predicates ...)\n  (:action a\n    :parameters ()\n    :precondition ...\n    :effect ...)\n  (:action b :parameters (?x) :precondition ... :effect (p ?x)))"
        );
        let errors = |diagnostics: Vec<planforge_diagnostics::Diagnostic>| {
            diagnostics.iter().filter(|d| d.is_error()).count()
        };
        assert_eq!(errors(planforge_pddl::parse_domain(domain, SourceId(0)).diagnostics), 0);
        assert_eq!(errors(planforge_pddl::parse_domain(&shown, SourceId(0)).diagnostics), 4);

        let timed = "(:durative-action a :parameters () :duration () :condition (and) :effect (and))";
        assert_eq!(
            with_holes(timed),
            "(:durative-action a :parameters () :duration ... :condition ... :effect ...)"
        );

        let problem = "(define (problem p) (:domain d) (:objects x) (:init) (:goal (and)))";
        let shown = with_holes(problem);
        assert_eq!(shown, "(define (problem p) (:domain d) (:objects x) (:init ...) (:goal ...))");
        assert_eq!(errors(planforge_pddl::parse_problem(&shown, SourceId(0)).diagnostics), 2);
    }

    #[test]
    fn a_made_template_has_the_type_hierarchy_of_the_interface() {
        let typed = |name: &str, ty: &str| TypedName { name: name.into(), type_name: ty.into() };
        let interface = ActionInterface {
            actions: vec![ActionSignature {
                name: "load".into(),
                parameters: vec![typed("p", "parcel"), typed("v", "vehicle"), typed("c", "crew")],
            }],
            objects: vec![typed("t1", "truck")],
            types: vec![typed("truck", "vehicle"), typed("vehicle", "object"), typed("parcel", "object")],
        };
        let task = TaskView { action_interface: Some(interface), ..TaskView::default() };
        let template = domain_template(&task, Some("depot")).unwrap();
        assert!(
            template.contains("(:types crew - object truck - vehicle vehicle parcel - object)"),
            "{template}"
        );
        let domain = planforge_pddl::parse_domain(&template, SourceId(0)).value;
        assert_eq!((domain.types.len(), domain.actions.len()), (4, 1), "{template}");
    }
}
