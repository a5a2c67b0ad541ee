//! Single mistakes in a problem: in the facts of the initial state or in the conjuncts of the goal.

use crate::ast::{Atom, Condition, Domain, InitElement, Problem, Term, TypedName};
use crate::print;
use planforge_diagnostics::Span;
use rustc_hash::FxHashSet;
use std::fmt;

/// Part of a problem that a mistake is made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemPart {
    /// The initial state.
    Init,
    /// The goal.
    Goal,
    /// The trajectory constraints. Only [`super::quantity_mistakes`] makes mistakes in them.
    Constraints,
    /// The metric. Only [`super::quantity_mistakes`] makes mistakes in it.
    Metric,
}

/// A problem with one mistake.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemMutant {
    /// The part with the mistake.
    pub part: ProblemPart,
    /// The replaced or omitted fact, as PDDL on one line; `None` for an addition.
    pub before: Option<String>,
    /// The new fact, as PDDL on one line; `None` for an omission.
    pub after: Option<String>,
    /// The problem with the mistake. Spans are those of the original.
    pub problem: Problem,
}

impl fmt::Display for ProblemMutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_change(f, self.part, self.before.as_deref(), self.after.as_deref())
    }
}

/// Writes a mistake: `init: (p a) became (p b)`.
pub(super) fn write_change(
    f: &mut fmt::Formatter<'_>,
    part: ProblemPart,
    before: Option<&str>,
    after: Option<&str>,
) -> fmt::Result {
    f.write_str(match part {
        ProblemPart::Init => "init: ",
        ProblemPart::Goal => "goal: ",
        ProblemPart::Constraints => "constraints: ",
        ProblemPart::Metric => "metric: ",
    })?;
    match (before, after) {
        (Some(before), Some(after)) => write!(f, "{before} became {after}"),
        (Some(before), None) => write!(f, "{before} omitted"),
        (None, Some(after)) => write!(f, "{after} added"),
        (None, None) => Ok(()),
    }
}

/// Lists every mistake in one part of a problem, in the order of the text: each fact omitted, each fact with one argument replaced by
/// another object of the same declared type, and that fact added beside the original. Facts are atoms and negated atoms at the
/// top level. A fact that is there already is not made, and the last conjunct of a goal is not omitted. A mistake may be harmless.
pub fn problem_mutants(domain: &Domain, problem: &Problem, part: ProblemPart) -> Vec<ProblemMutant> {
    let facts: Vec<Fact> = match part {
        ProblemPart::Init => problem.init.iter().map(Fact::of_init).collect(),
        ProblemPart::Goal => conjuncts(&problem.goal).iter().map(Fact::of_condition).collect(),
        ProblemPart::Constraints | ProblemPart::Metric => Vec::new(),
    };
    let known: FxHashSet<String> = facts.iter().map(Fact::key).collect();
    let objects: Vec<&TypedName> = domain.constants.iter().chain(&problem.objects).collect();
    let mut found = Vec::new();
    for (index, fact) in facts.iter().enumerate() {
        let Some(atom) = fact.atom() else { continue };
        let mut add = |before: bool, after: Option<&Fact>| {
            let mut changed = facts.clone();
            match (before, after) {
                (true, Some(new)) => changed[index] = new.clone(),
                (true, None) => drop(changed.remove(index)),
                (false, Some(new)) => changed.push(new.clone()),
                (false, None) => return,
            }
            found.push(ProblemMutant {
                part,
                before: before.then(|| fact.text()),
                after: after.map(Fact::text),
                problem: with_facts(problem, changed, part),
            });
        };
        if part == ProblemPart::Init || facts.len() > 1 {
            add(true, None);
        }
        for replaced in replacements(atom, &objects) {
            let new = fact.with_atom(replaced);
            if !known.contains(&new.key()) {
                add(true, Some(&new));
                add(false, Some(&new));
            }
        }
    }
    found
}

/// The atom with one argument replaced by another object of the same declared type, in every way.
fn replacements(atom: &Atom, objects: &[&TypedName]) -> Vec<Atom> {
    let type_of = |object: &TypedName| object.ty.as_ref().map(|ty| ty.alternatives.clone());
    let mut found = Vec::new();
    for (position, arg) in atom.args.iter().enumerate() {
        let Some(old) = objects.iter().find(|o| o.name == *arg.name()) else { continue };
        for new in objects.iter().filter(|o| o.name != old.name && type_of(o) == type_of(old)) {
            let mut replaced = atom.clone();
            replaced.args[position] = Term::Constant(new.name.clone());
            found.push(replaced);
        }
    }
    found
}

/// A fact of the initial state or a conjunct of the goal.
#[derive(Debug, Clone)]
enum Fact {
    Init(InitElement),
    Condition(Condition),
}

impl Fact {
    fn of_init(element: &InitElement) -> Self {
        Fact::Init(element.clone())
    }

    fn of_condition(condition: &Condition) -> Self {
        Fact::Condition(condition.clone())
    }

    /// The atom, negated or not; `None` for other constructs, which are left as they are.
    fn atom(&self) -> Option<&Atom> {
        match self {
            Fact::Init(InitElement::Atom(atom)) | Fact::Condition(Condition::Atom(atom)) => Some(atom),
            Fact::Condition(Condition::Not(inner, _)) => match &**inner {
                Condition::Atom(atom) => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    fn with_atom(&self, atom: Atom) -> Self {
        match self {
            Fact::Init(_) => Fact::Init(InitElement::Atom(atom)),
            Fact::Condition(Condition::Not(_, span)) => {
                Fact::Condition(Condition::Not(Box::new(Condition::Atom(atom)), *span))
            }
            Fact::Condition(_) => Fact::Condition(Condition::Atom(atom)),
        }
    }

    fn text(&self) -> String {
        let text = match self {
            Fact::Init(element) => print::print_init(element),
            Fact::Condition(condition) => print::print_condition(condition),
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Names compare without regard to case.
    fn key(&self) -> String {
        self.text().to_lowercase()
    }
}

pub(super) fn conjuncts(condition: &Option<Condition>) -> &[Condition] {
    match condition {
        Some(Condition::And(parts, _)) => parts,
        Some(single) => std::slice::from_ref(single),
        None => &[],
    }
}

fn with_facts(problem: &Problem, facts: Vec<Fact>, part: ProblemPart) -> Problem {
    let mut changed = problem.clone();
    match part {
        ProblemPart::Init => {
            changed.init = facts
                .into_iter()
                .filter_map(|f| if let Fact::Init(e) = f { Some(e) } else { None })
                .collect();
        }
        ProblemPart::Goal => {
            let parts = facts.into_iter();
            let parts = parts.filter_map(|f| if let Fact::Condition(c) = f { Some(c) } else { None });
            changed.goal = Some(Condition::And(parts.collect(), Span::default()));
        }
        ProblemPart::Constraints | ProblemPart::Metric => {}
    }
    changed
}
