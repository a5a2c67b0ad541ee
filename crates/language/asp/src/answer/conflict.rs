//! Conflicts: what the library and the knowledge file rule out, each with the lines of the representation that bring it about.

use super::list;
use crate::codes::program as code;
use crate::derivations::{Derivations, Violation};
use crate::syntax::ast::Term;
use planforge_diagnostics::Diagnostic;

/// Lines that one conflict shows.
const MOST_LINES: usize = 8;

/// The most conflicts reported for one answer.
const MOST_CONFLICTS: usize = 50;

/// Every conflict of an answer.
pub(super) fn conflicts(derivations: &Derivations<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for atom in 0..derivations.len() as u32 {
        let Some(Term::Function { name, arguments }) = derivations.term(atom) else { continue };
        match (name.as_str(), arguments.as_slice()) {
            ("conflict", [what]) => found.push(conflict(derivations, atom, what)),
            ("mapped", [state, _, predicate, _]) => {
                found.extend(check_map_predicate(derivations, atom, state, predicate))
            }
            _ => {}
        }
    }
    found.extend(derivations.violations().map(|violation| constraint(derivations, &violation)));
    found.truncate(MOST_CONFLICTS);
    found
}

/// A map by something that relates no two objects.
fn check_map_predicate(
    derivations: &Derivations<'_>,
    atom: u32,
    state: &Term,
    predicate: &Term,
) -> Option<Diagnostic> {
    let predicates = &derivations.table().predicates;
    let name = predicate.to_string();
    if predicates.contains(&(name.clone(), 2)) {
        return None;
    }
    let message = format!("a map in `{state}` is by `{name}`, which is no predicate of two arguments");
    let found = with_lines(Diagnostic::error(code::MAP_PREDICATE, message), derivations, &[atom]);
    let near = predicates.iter().filter(|(_, arguments)| *arguments == 2).map(|(name, _)| name.as_str());
    Some(match crate::answer::nearest(&name, near) {
        Some(near) => found.help(format!("there is a predicate `{near}`")),
        None => found.help("a predicate that only the representation has is declared with ir_predicate"),
    })
}

/// A conflict that a rule derived.
fn conflict(derivations: &Derivations<'_>, atom: u32, what: &Term) -> Diagnostic {
    let premises = derivations.derivation(atom).map(|derivation| derivation.premises).unwrap_or_default();
    let (name, arguments) = match what {
        Term::Function { name, arguments } => (name.as_str(), arguments.as_slice()),
        _ => ("", [].as_slice()),
    };
    let text: Vec<String> = arguments.iter().map(Term::to_string).collect();
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    match (name, text.as_slice()) {
        ("too_many", [ty, wanted, there]) => {
            let members = derivations.members(ty);
            let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
            let message = format!(
                "there {} {there} of type `{ty}` ({}), and the text counts {wanted}",
                if *there == "1" { "is" } else { "are" },
                list(&names)
            );
            let lines: Vec<u32> =
                premises.iter().copied().chain(members.iter().map(|(_, atom)| *atom)).collect();
            with_lines(Diagnostic::error(code::TOO_MANY, message), derivations, &lines)
                .help("correct the count, or the name of the object that should be another one")
        }
        ("two_counts", [ty, one, other]) => {
            let message = format!("`{ty}` is counted twice: {one} and {other}");
            with_lines(Diagnostic::error(code::TWO_COUNTS, message), derivations, &premises)
                .help("keep the right one")
        }
        ("no_count", [ty, count]) => {
            let message = format!("`{count}` is no number of objects of type `{ty}`");
            with_lines(Diagnostic::error(code::NO_COUNT, message), derivations, &premises)
                .help("write a number from 0, or leave the line out")
        }
        ("map_sizes", [state, one, predicate, other, first, second]) => {
            let message = format!(
                "`map({one}, {predicate}, {other})` in `{state}` pairs types of different size: {first} of `{one}`, {second} of `{other}`"
            );
            with_lines(Diagnostic::error(code::MAP_SIZES, message), derivations, &premises)
                .help("correct a count, or say the relation object by object")
        }
        ("map_empty", [state, one, predicate, other]) => {
            let message = format!(
                "`map({one}, {predicate}, {other})` in `{state}` pairs nothing: there is no `{one}` and no `{other}`"
            );
            with_lines(Diagnostic::error(code::MAP_SIZES, message), derivations, &premises)
                .help("count the objects of one of the types, or correct the types")
        }
        ("two_places", [grid, object, row, column, other_row, other_column]) => {
            let message = format!(
                "`{object}` has two places on the grid `{grid}`: row {row}, column {column} and row {other_row}, column {other_column}"
            );
            with_lines(Diagnostic::error(code::GRID, message), derivations, &premises)
                .help("correct a row or column")
        }
        ("one_place", [grid, row, column, object, other]) => {
            let message = format!(
                "`{object}` and `{other}` are both in row {row}, column {column} of the grid `{grid}`"
            );
            with_lines(Diagnostic::error(code::GRID, message), derivations, &premises)
                .help("correct a row or column")
        }
        _ => {
            let message = match what {
                Term::Text(text) => text.clone(),
                other => format!("the knowledge file finds the conflict `{other}`"),
            };
            let mut found = with_lines(Diagnostic::error(code::CONFLICT, message), derivations, &premises);
            if let Some((id, span)) = derivations.places(atom).first().copied() {
                found = found.also(id, span, "the rule that finds it");
            }
            found.help("correct one of the lines, or the rule")
        }
    }
}

/// The diagnostic for a violated constraint.
fn constraint(derivations: &Derivations<'_>, violation: &Violation) -> Diagnostic {
    let rule = &derivations.table().rules[violation.rule as usize];
    let values: Vec<String> =
        violation.values.iter().map(|(variable, value)| format!("{variable} = {value}")).collect();
    let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
    let place = derivations.table().place(violation.rule);
    let message = format!(
        "the constraint `{}` (line {} of {}) is violated{with}",
        rule.written,
        place.line,
        derivations.table().source_name(violation.rule),
    );
    let found = with_lines(Diagnostic::error(code::CONSTRAINT, message), derivations, &violation.premises);
    let found = match (rule.id, found.labels.is_empty()) {
        (Some(id), true) => found.at(id, rule.span, ""),
        (Some(id), false) => found.also(id, rule.span, "the constraint"),
        (None, _) => found,
    };
    found.help("correct one of the lines that it conflicts with, or the constraint")
}

/// Adds the lines of the representation behind these atoms, each once; the first one is the primary label.
fn with_lines(mut found: Diagnostic, derivations: &Derivations<'_>, atoms: &[u32]) -> Diagnostic {
    for atom in atoms {
        let place = derivations.text_place(*atom).or_else(|| derivations.places(*atom).first().copied());
        let Some((id, span)) = place else { continue };
        if found.labels.iter().any(|label| label.source == id && label.span == span)
            || found.labels.len() == MOST_LINES
        {
            continue;
        }
        let says = derivations.term(*atom).map(|term| format!("`{term}`")).unwrap_or_default();
        found = if found.labels.is_empty() { found.at(id, span, says) } else { found.also(id, span, says) };
    }
    found
}
