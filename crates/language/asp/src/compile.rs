//! Compiles the materialized representation to a PDDL problem (paper, section 3.4).
//!
//! The paper drops everything that the domain does not declare. Here only what the knowledge file declares
//! for the intermediate representation is dropped; every other name that the domain lacks is an error that
//! points at the lines it comes from. All errors are reported together, each once.

mod arguments;
mod check;
mod facts;
mod findings;
mod numbers;
mod objects;
#[cfg(test)]
mod random_tests;
mod spelling;
#[cfg(test)]
mod tests;

pub use crate::codes::compile::CODES;

use crate::{Declarations, Materialized};
use findings::Findings;
use objects::Objects;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::{Condition, Domain, Problem};
use planforge_pddl::{Name, print_problem};
use spelling::Spelling;
use std::collections::{BTreeMap, BTreeSet};

/// Input of [`compile`].
pub struct Input<'a> {
    pub domain: &'a Domain,
    pub materialized: &'a Materialized,
    /// Names of the intermediate representation alone.
    pub ir_only: &'a IrOnly,
    /// Name of the problem; characters that PDDL names cannot have become hyphens.
    pub name: &'a str,
    /// Spellings of objects in the task's text by their names in the answer: `tile0-1` for `tile0_1`
    /// ([`crate::names::spellings`]). The problem uses the spellings of the text, as plans and references do.
    pub spellings: &'a BTreeMap<String, String>,
    /// Origins of an atom (by its index in [`Materialized::atoms`]): lines of the intermediate representation
    /// and the knowledge file, the nearest first.
    pub places: &'a dyn Fn(u32) -> Vec<Place>,
    /// Source numbers for the diagnostics of the problem's own checks.
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
    pub source: SourceId,
    pub span: Span,
}

/// A section of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Section {
    Objects,
    Init,
    Goal,
    Metric,
}

/// One object, fact, number or metric of the problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub section: Section,
    /// As the problem writes it: `(clean shot5)`, `shot5 - shot`.
    pub pddl: String,
    /// Indices in [`Materialized::atoms`] of the atoms behind the entry; for an object, those that decide its
    /// type. Empty if only the domain requires it.
    pub atoms: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The problem's text, as far as it could be compiled: diagnostics of the problem's own checks point into it.
    pub text: String,
    /// The parts of the problem in printed order; after an error, the parts that could be compiled.
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
    check::add_problem_checks(input, &text, &mut diagnostics);
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
    /// Reports a diagnostic once for each `key`. A rule may make the same mistake a hundred thousand times,
    /// so the diagnostic is built only when it is kept.
    fn report(&mut self, key: String, make: impl FnOnce(&Self) -> Diagnostic) {
        if self.findings.is_new(&key) {
            let diagnostic = make(self);
            self.findings.add(key, diagnostic);
        }
    }

    /// Adds the origins of an atom to a diagnostic.
    fn with_origins(&self, mut diagnostic: Diagnostic, atom: u32) -> Diagnostic {
        for place in (self.input.places)(atom).into_iter().take(MOST_PLACES) {
            diagnostic = match diagnostic.labels.is_empty() {
                true => diagnostic.at(place.source, place.span, ""),
                false => diagnostic.also(place.source, place.span, "from here"),
            };
        }
        diagnostic
    }

    /// Adds the origin of another atom.
    fn with_other_origin(&self, diagnostic: Diagnostic, atom: u32, message: &str) -> Diagnostic {
        match (self.input.places)(atom).first() {
            Some(place) => diagnostic.also(place.source, place.span, message),
            None => diagnostic,
        }
    }

    /// An atom as the reasoner writes it.
    fn print_atom_text(&self, atom: u32) -> String {
        self.input.materialized.atoms.get(atom as usize).map(ToString::to_string).unwrap_or_default()
    }
}

/// The most lines that a diagnostic points at.
const MOST_PLACES: usize = 3;

/// True if PDDL accepts the text as a name.
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
