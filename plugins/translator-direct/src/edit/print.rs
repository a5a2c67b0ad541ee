//! A domain as the calls that make it from its interface, and the interface itself: the two halves of an in-context example.

use super::read::emptied;
use crate::calls::{ACTION, PREDICATES};
use planforge_pddl::ast::Domain;
use planforge_pddl::{print_condition, print_effect, print_typed_list};
use std::fmt::Write as _;

/// The domain without predicates, conditions and effects.
pub(crate) fn template_of(domain: &Domain) -> Domain {
    Domain { predicates: Vec::new(), actions: domain.actions.iter().map(emptied).collect(), ..domain.clone() }
}

/// The calls that make the domain from its template, as Python.
pub(crate) fn as_calls(domain: &Domain) -> String {
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

/// Strings one a line, indented; the last line leads back to the bracket.
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
