//! Checks that templates have the interface and objects of their reference, and nothing else.

use crate::codes;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Action, Condition, Domain, Effect, Problem, TypedName};
use planforge_pddl::{parse_domain, parse_problem};

/// Differences between a domain template and its domain. Names of parameters may differ, since plans do not
/// use them.
pub(super) fn domain(domain: &Domain, template: &str, source: SourceId) -> Vec<Diagnostic> {
    let parsed = parse_domain(template, source);
    let mut found: Vec<Diagnostic> = parsed.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    let template = parsed.value;
    for action in &domain.actions {
        let name = action.name.as_str();
        match template.actions.iter().find(|a| a.name.is(action.name.key())) {
            None => found.push(differs(format!("the template lacks action `{name}`"), source, template.span)),
            Some(other) if signature(&other.parameters) != signature(&action.parameters) => {
                let message = format!(
                    "action `{name}` has parameters ({}) in the domain and ({}) in the template",
                    signature(&action.parameters).join(" "),
                    signature(&other.parameters).join(" ")
                );
                found.push(differs(message, source, other.name.span));
            }
            Some(_) => {}
        }
    }
    for other in &template.actions {
        if !domain.actions.iter().any(|a| a.name.is(other.name.key())) {
            let message = format!("the domain has no action `{}`", other.name);
            found.push(differs(message, source, other.name.span));
        }
        if tells(other) {
            let message = format!("the template shows conditions or effects of `{}`", other.name);
            found.push(shows(message, source, other.name.span));
        }
    }
    let objects = |d: &Domain| typed_names(&d.constants);
    if objects(domain) != objects(&template) {
        let message = "the template's constants are not the domain's";
        found.push(differs(message.to_owned(), source, template.span));
    }
    found
}

/// Differences between an object template and its problem.
pub(super) fn problem(problem: &Problem, template: &str, source: SourceId) -> Vec<Diagnostic> {
    let parsed = parse_problem(template, source);
    let mut found: Vec<Diagnostic> = parsed.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    let template = parsed.value;
    let (wanted, there) = (typed_names(&problem.objects), typed_names(&template.objects));
    let lacks: Vec<&str> = wanted.iter().filter(|o| !there.contains(o)).map(String::as_str).collect();
    let more: Vec<&str> = there.iter().filter(|o| !wanted.contains(o)).map(String::as_str).collect();
    if !lacks.is_empty() {
        found.push(differs(format!("the template lacks {}", lacks.join(", ")), source, template.span));
    }
    if !more.is_empty() {
        found.push(differs(format!("the problem has no {}", more.join(", ")), source, template.span));
    }
    if let Some(first) = template.init.first() {
        found.push(shows("the template shows facts of the initial state".to_owned(), source, first.span()));
    }
    found
}

fn differs(message: String, source: SourceId, span: Span) -> Diagnostic {
    let help = "`planforge suite template DIR --force` makes the templates anew";
    Diagnostic::error(codes::TEMPLATE_DIFFERS, message).at(source, span, "").help(help)
}

fn shows(message: String, source: SourceId, span: Span) -> Diagnostic {
    let help = "a template shows an interface or objects; methods that are given those alone would see more";
    Diagnostic::warning(codes::TEMPLATE_SHOWS, message).at(source, span, "").help(help)
}

fn tells(action: &Action) -> bool {
    let condition = action
        .precondition
        .as_ref()
        .is_some_and(|c| !matches!(c, Condition::And(parts, _) if parts.is_empty()));
    let effect =
        action.effect.as_ref().is_some_and(|e| !matches!(e, Effect::And(parts, _) if parts.is_empty()));
    condition || effect
}

/// The types of parameters, in order.
fn signature(parameters: &[TypedName]) -> Vec<String> {
    parameters.iter().map(type_of).collect()
}

fn type_of(entry: &TypedName) -> String {
    let Some(ty) = &entry.ty else { return "object".to_owned() };
    let mut names: Vec<&str> = ty.alternatives.iter().map(|n| n.key()).collect();
    names.sort_unstable();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => format!("(either {})", names.join(" ")),
    }
}

/// Names with types, sorted.
fn typed_names(entries: &[TypedName]) -> Vec<String> {
    let mut all: Vec<String> = entries.iter().map(|e| format!("{} - {}", e.name.key(), type_of(e))).collect();
    all.sort_unstable();
    all
}
