//! A domain as calls, and the template that these calls fill in: the two halves of an in-context example.

use crate::calls::{ACTION, PREDICATES};
use planforge_diagnostics::Span;
use planforge_pddl::ast::{Action, Condition, Domain, Effect};
use planforge_pddl::{print_condition, print_effect, print_typed_list};
use std::fmt::Write as _;

/// The domain without predicates, conditions and effects.
pub(crate) fn emptied_domain(domain: &Domain) -> Domain {
    Domain {
        predicates: Vec::new(),
        actions: domain.actions.iter().map(emptied_action).collect(),
        ..domain.clone()
    }
}

/// The calls that make the domain from its template, as Python.
pub(crate) fn domain_as_calls(domain: &Domain) -> String {
    let predicates = domain.predicates.iter().map(|p| match p.parameters.is_empty() {
        true => format!("({})", p.name),
        false => format!("({} {})", p.name, print_typed_list(&p.parameters)),
    });
    let mut out = format!("{PREDICATES}([");
    list(&mut out, "    ", predicates);
    out.push_str("])\n");
    for action in &domain.actions {
        let _ = write!(out, "\n{ACTION}(\n    {},\n    [", quoted(action.name.as_str()));
        let conditions = action.precondition.iter().flat_map(|c| c.conjuncts());
        list(&mut out, "        ", conditions.map(print_condition));
        out.push_str("],\n    [");
        let effects = action.effect.iter().flat_map(|e| e.conjuncts());
        list(&mut out, "        ", effects.map(print_effect));
        out.push_str("],\n)\n");
    }
    out
}

/// Writes the strings one a line, then the indentation of the closing bracket.
fn list(out: &mut String, indent: &str, items: impl Iterator<Item = String>) {
    let mut any = false;
    for item in items {
        let _ = write!(out, "\n{indent}{},", quoted(&item));
        any = true;
    }
    if any {
        let _ = write!(out, "\n{}", indent.get(4..).unwrap_or_default());
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}

/// The action with an empty precondition and effect.
fn emptied_action(action: &Action) -> Action {
    let empty = Span::default();
    Action {
        precondition: Some(Condition::And(Vec::new(), empty)),
        effect: Some(Effect::And(Vec::new(), empty)),
        ..action.clone()
    }
}
