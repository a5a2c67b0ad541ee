//! ExplainedAnswers of the reasoner as materialized representations with derivations, or as conflicts.

mod conflict;

use crate::Materialized;
use crate::codes::program as code;
use crate::derivations::{self, Derivations};
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
        let found = conflict::conflicts(&answer.derivations);
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
