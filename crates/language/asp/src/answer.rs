//! ExplainedAnswers of the reasoner as materialized representations with derivations, or as conflicts.

use crate::Materialized;
use crate::codes::program as code;
use crate::derivations::{self, Derivations, Violation};
use crate::program::{Assembled, Origin};
use crate::stages::{Outcome, SolveResult};
use crate::syntax::ast::{Head, Term};
use planforge_diagnostics::Diagnostic;
use std::collections::BTreeSet;

/// Atoms that a message names before it counts the rest.
const NAMED: usize = 6;

#[derive(Debug)]
pub struct ExplainedAnswer<'a> {
    /// The parts of the problem.
    pub materialized: Materialized,
    /// The derivation of each atom; the first atoms are those of `materialized`.
    pub derivations: Derivations<'a>,
}

impl ExplainedAnswer<'_> {
    /// The atoms that make the problem, as text.
    fn problem(&self) -> BTreeSet<String> {
        self.materialized.atoms.iter().map(Term::to_string).collect()
    }
}

/// The answers to a job, without doubles, in the order of their atoms.
#[derive(Debug)]
pub struct ExplainedAnswers<'a> {
    /// At least one answer. No two make the same problem.
    pub answers: Vec<ExplainedAnswer<'a>>,
    /// True if there are no other answers.
    pub complete: bool,
}

/// Reads a reply.
///
/// # Errors
/// Conflicts, each with the lines involved, or a limit that the reasoner reached.
pub fn read_answers<'a>(
    assembled: &'a Assembled,
    reply: &SolveResult,
) -> Result<ExplainedAnswers<'a>, Vec<Diagnostic>> {
    match &reply.outcome {
        Outcome::Solved | Outcome::Violated => {}
        Outcome::NoAnswer => return Err(vec![no_answer_error(assembled)]),
        Outcome::TooManyObjects { ty, missing } => {
            return Err(vec![too_many_objects(assembled, ty, *missing)]);
        }
        Outcome::Unsettled => return Err(vec![unsettled_error(assembled)]),
    }
    let read = |atoms: &Vec<String>| {
        let derivations = derivations::read(&assembled.table, &assembled.job.naming, atoms);
        let terms = (0..derivations.len() as u32).filter_map(|atom| derivations.term(atom));
        ExplainedAnswer { materialized: Materialized::of(terms), derivations }
    };
    let mut answers: Vec<(BTreeSet<String>, ExplainedAnswer<'a>)> = Vec::new();
    let mut conflicts = Vec::new();
    for atoms in &reply.answers {
        let answer = read(atoms);
        let found = find_conflicts(&answer.derivations);
        if !found.is_empty() {
            conflicts.push(found);
            continue;
        }
        let problem = answer.problem();
        if answers.iter().all(|(other, _)| *other != problem) {
            answers.push((problem, answer));
        }
    }
    if answers.is_empty() {
        return Err(conflicts.into_iter().next().unwrap_or_else(|| vec![no_answer_error(assembled)]));
    }
    answers.sort_by(|(a, _), (b, _)| a.cmp(b));
    let answers = answers.into_iter().map(|(_, answer)| answer).collect();
    Ok(ExplainedAnswers { answers, complete: reply.complete })
}

/// The atoms of two answers' problems that the other one does not have.
pub fn differing_atoms(a: &ExplainedAnswer<'_>, b: &ExplainedAnswer<'_>) -> (Vec<String>, Vec<String>) {
    let (first, second) = (a.problem(), b.problem());
    let only =
        |these: &BTreeSet<String>, those: &BTreeSet<String>| these.difference(those).cloned().collect();
    (only(&first, &second), only(&second, &first))
}

/// The refusal of a representation whose answers make different problems. `a` and `b` are two of them.
pub fn ambiguity(answers: &ExplainedAnswers<'_>, a: usize, b: usize) -> Diagnostic {
    let count = answers.answers.len();
    let least = if answers.complete { "" } else { "at least " };
    let message =
        format!("the representation can be read in {least}{count} ways that make different problems");
    let mut found = Diagnostic::error(code::AMBIGUOUS, message);
    if let (Some(first), Some(second)) = (answers.answers.get(a), answers.answers.get(b)) {
        let (only_first, only_second) = differing_atoms(first, second);
        for (reading, atoms, answer) in [("one", only_first, first), ("another", only_second, second)] {
            if atoms.is_empty() {
                continue;
            }
            found = found.help(format!("in {reading} of them there is {}", list(&atoms)));
            for atom in atoms.iter().take(NAMED) {
                let term = crate::syntax::parse_ground_term(atom);
                let place = term
                    .and_then(|term| answer.derivations.find(&term))
                    .map(|a| answer.derivations.places(a));
                if let Some((id, span)) = place.unwrap_or_default().first().copied()
                    && !found.labels.iter().any(|label| label.source == id && label.span == span)
                {
                    found = found.also(id, span, format!("leaves open `{atom}`"));
                }
            }
        }
    }
    found.help("say which of them is meant")
}

/// Advice for several answers that make the same problem up to the names of objects, of which the first is
/// used.
pub fn several_answers_advice(answers: &ExplainedAnswers<'_>) -> Diagnostic {
    let least = if answers.complete { "" } else { "at least " };
    let message = format!(
        "{least}{} answers differ only in the names of objects, and the first one was taken",
        answers.answers.len()
    );
    Diagnostic::advice(code::SEVERAL, message)
}

/// `a`, `b` and 3 more.
pub(crate) fn list(items: &[String]) -> String {
    let mut shown: Vec<String> = items.iter().take(NAMED).map(|item| format!("`{item}`")).collect();
    let more = items.len().saturating_sub(NAMED);
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The name that is most like another one.
fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    among
        .map(|other| (strsim::normalized_damerau_levenshtein(name, other), other))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, other)| other)
}

/// The diagnostic for a program without answers. The answer does not show which rule contradicts itself, so
/// the message says where to look.
fn no_answer_error(assembled: &Assembled) -> Diagnostic {
    let mut found =
        Diagnostic::error(code::NO_ANSWER, "the rules deny each other, so that there is no answer");
    let negates = assembled.table.rules.iter().filter(|rule| {
        matches!(rule.origin, Origin::Text | Origin::Knowledge)
            && rule
                .rule
                .body
                .iter()
                .any(|literal| matches!(literal, crate::syntax::ast::Literal::Atom { negated: true, .. }))
    });
    for rule in negates.take(NAMED) {
        if let Some(id) = rule.id {
            found = found.also(id, rule.span, "depends on what does not hold");
        }
    }
    found.help("look for a rule whose conclusion is negated among its own conditions")
}

fn too_many_objects(assembled: &Assembled, ty: &str, missing: i64) -> Diagnostic {
    let most = assembled.job.max_objects;
    let message =
        format!("{missing} objects of type `{ty}` would have to be made; at most {most} are, of all types");
    let found = Diagnostic::error(code::TOO_MANY_OBJECTS, message);
    counting(assembled, ty, found).help("correct the count")
}

fn unsettled_error(assembled: &Assembled) -> Diagnostic {
    let mut found =
        Diagnostic::error(code::UNSETTLED, "the objects that are made ask for others, again and again");
    for rule in assembled.table.rules.iter().filter(|rule| !rule.rule.body.is_empty()) {
        if let (Head::Atom(head), Some(id)) = (&rule.rule.head, rule.id)
            && head.name == "cardinality"
        {
            found = found.also(id, rule.span, "counts what it brings about");
        }
    }
    found.help("look for a count that depends on itself")
}

/// Adds the lines that count objects of a type.
fn counting(assembled: &Assembled, ty: &str, mut found: Diagnostic) -> Diagnostic {
    for rule in &assembled.table.rules {
        let Head::Atom(head) = &rule.rule.head else { continue };
        let counts = head.name == "cardinality"
            && head.arguments.first().is_some_and(|term| match term {
                Term::Function { name, arguments } => name == ty && arguments.is_empty(),
                _ => true,
            });
        if let (true, Some(id)) = (counts, rule.id) {
            found = found.at(id, rule.span, "");
        }
    }
    found
}

// Conflicts: what the library and the knowledge file rule out, each with the lines of the representation that bring it about.

/// Lines that one conflict shows.
const MOST_LINES: usize = 8;

/// The most conflicts reported for one answer.
const MOST_CONFLICTS: usize = 50;

/// Every conflict of an answer.
fn find_conflicts(derivations: &Derivations<'_>) -> Vec<Diagnostic> {
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
    Some(match nearest(&name, near) {
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
