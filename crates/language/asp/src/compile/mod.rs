//! From the materialized representation to problem PDDL (paper, section 3.4).
//!
//! Where the paper drops whatever the domain does not declare, here only what the knowledge file declares as belonging to the
//! intermediate representation is dropped; every other name that the domain does not have is a mistake and told as one, with the
//! lines that it came from. All mistakes are told at once, each once.

mod check;
mod codes;
mod facts;
mod findings;
mod numbers;
mod objects;
#[cfg(test)]
mod random_tests;
mod spelling;
#[cfg(test)]
mod tests;

pub use codes::CODES;

use crate::{Declarations, Materialized};
use findings::Findings;
use objects::Objects;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::{Condition, Domain, Problem};
use planforge_pddl::{Name, print_problem};
use spelling::Spelling;
use std::collections::{BTreeMap, BTreeSet};

/// What a problem is compiled from.
pub struct Input<'a> {
    /// The domain.
    pub domain: &'a Domain,
    /// The answer.
    pub materialized: &'a Materialized,
    /// What belongs to the intermediate representation alone.
    pub ir_only: &'a IrOnly,
    /// What to call the problem; characters that PDDL does not have in names become hyphens.
    pub name: &'a str,
    /// What the task's text calls an object that the answer calls so: `tile0-1` for `tile0_1` ([`crate::names::spellings`]). PDDL then
    /// has the text's names, which plans are told with and which a reference has too.
    pub spellings: &'a BTreeMap<String, String>,
    /// Where an atom (by its index in [`Materialized::atoms`]) came from: the lines of the intermediate representation and the
    /// knowledge file, the nearest first.
    pub places: &'a dyn Fn(u32) -> Vec<Place>,
    /// What findings of the problem's own checks point into.
    pub sources: planforge_pddl::TaskSources,
}

/// Types and predicates of the intermediate representation that PDDL does not get, as the representation writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IrOnly {
    /// Types, for example `block` in a domain that has only `object`.
    pub types: BTreeSet<String>,
    /// Predicates, for example `floortile_grid`. `map` is always one.
    pub predicates: BTreeSet<String>,
}

impl From<&Declarations> for IrOnly {
    fn from(declarations: &Declarations) -> Self {
        Self {
            types: declarations.types.iter().map(|ty| ty.name.clone()).collect(),
            predicates: declarations.predicates.iter().map(|predicate| predicate.name.clone()).collect(),
        }
    }
}

/// A place in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which source.
    pub source: SourceId,
    /// Where in it.
    pub span: Span,
}

/// The section of a problem that an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    /// `:objects`.
    Objects,
    /// `:init`.
    Init,
    /// `:goal`.
    Goal,
    /// `:metric`.
    Metric,
}

/// One object, fact, number or metric of the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where in the problem.
    pub section: Section,
    /// As the problem writes it: `(clean shot5)`, `shot5 - shot`.
    pub pddl: String,
    /// Indices in [`Materialized::atoms`] of what it was made from; of an object, those that decide its type. None where the domain
    /// alone asked for it.
    pub atoms: Vec<u32>,
}

/// A compiled problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The problem's text, as far as it could be compiled: diagnostics of the problem's own checks point into it.
    pub text: String,
    /// What the problem consists of, in the order in which it writes it; where there is an error, what could be compiled.
    pub entries: Vec<Entry>,
    /// Everything found: by the compiler, and by the checks that every problem goes through.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// The problem; none where a diagnostic is an error: what is left of a faulty task is another task.
    pub fn problem(&self) -> Option<&str> {
        (!self.diagnostics.iter().any(Diagnostic::is_error)).then_some(self.text.as_str())
    }
}

/// Compiles a problem.
pub fn compile(input: &Input<'_>) -> Compiled {
    let types = TypeHierarchy::of(input.domain);
    let spelling = Spelling::of(input.domain, &types);
    let mut compiler = Compiler {
        input,
        types: &types,
        spelling,
        objects: Objects::default(),
        findings: Findings::default(),
    };
    compiler.read_objects();
    let objects = compiler.object_list();
    let init = compiler.init();
    let goal = compiler.goal();
    let metric = compiler.metric();
    let mut problem = Problem {
        name: Some(Name::synthetic(&problem_name(input.name))),
        domain_name: input.domain.name.clone(),
        objects: objects.0,
        init: init.0,
        goal: Some(Condition::And(goal.0, Span::default())),
        metric: metric.0,
        ..Problem::default()
    };
    problem.requirements = compiler.requirements(&problem);
    let text = print_problem(&problem);
    let mut diagnostics = compiler.findings.finish();
    check::checked(input, &text, &mut diagnostics);
    Compiled { text, entries: [objects.1, init.1, goal.1, metric.1].concat(), diagnostics }
}

/// Everything that the parts of the compiler share.
struct Compiler<'a> {
    input: &'a Input<'a>,
    types: &'a TypeHierarchy,
    spelling: Spelling<'a>,
    objects: Objects,
    findings: Findings,
}

impl Compiler<'_> {
    /// Tells what `key` stands for, once. A rule of the representation may make the same mistake a hundred thousand times, so what is
    /// said of it is made only where it is kept.
    fn report(&mut self, key: String, make: impl FnOnce(&Self) -> Diagnostic) {
        if self.findings.is_new(&key) {
            let diagnostic = make(self);
            self.findings.add(key, diagnostic);
        }
    }

    /// Points a diagnostic at where an atom came from.
    fn placed(&self, mut diagnostic: Diagnostic, atom: u32) -> Diagnostic {
        for place in (self.input.places)(atom).into_iter().take(MOST_PLACES) {
            diagnostic = match diagnostic.labels.is_empty() {
                true => diagnostic.at(place.source, place.span, ""),
                false => diagnostic.also(place.source, place.span, "from here"),
            };
        }
        diagnostic
    }

    /// Adds where another atom came from.
    fn also(&self, diagnostic: Diagnostic, atom: u32, message: &str) -> Diagnostic {
        match (self.input.places)(atom).first() {
            Some(place) => diagnostic.also(place.source, place.span, message),
            None => diagnostic,
        }
    }

    /// An atom as the reasoner writes it.
    fn written(&self, atom: u32) -> String {
        self.input.materialized.atoms.get(atom as usize).map(ToString::to_string).unwrap_or_default()
    }
}

/// Lines that a diagnostic points at; a fact that follows from more is told by its derivation.
const MOST_PLACES: usize = 3;

/// Whether PDDL takes a text as a name.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

fn problem_name(wanted: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = wanted.chars().map(kept).collect();
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => format!("problem-{name}").trim_end_matches('-').to_owned(),
    }
}
