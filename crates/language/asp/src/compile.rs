//! Compiles the materialized representation to a PDDL problem (paper, section 3.4).
//!
//! The paper drops everything that the domain does not declare. Here only what the knowledge file declares
//! for the intermediate representation is dropped; every other name that the domain lacks is an error that
//! points at the lines it comes from. All errors are reported together, each once.

mod facts;
mod objects;
#[cfg(test)]
mod tests;

use crate::{Declarations, Materialized, names};
use objects::Objects;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Condition, Domain, FunctionDecl, PredicateDecl, Problem, TypedName};
use planforge_pddl::{
    Name, TypeHierarchy, TypeId, check_problem, parse_problem, print_problem, undeclared_constants,
};
use rustc_hash::FxHashMap;
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
    add_problem_checks(input, &text, &mut diagnostics);
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

// The compiled text goes through the front end like any other problem.

/// Adds the findings of the problem's own checks. After an error, warnings and advice are left out as likely
/// consequences.
fn add_problem_checks(input: &Input<'_>, text: &str, diagnostics: &mut Vec<Diagnostic>) {
    let parsed = parse_problem(text, input.sources.problem);
    let mut found = parsed.diagnostics;
    found.extend(check_problem(input.domain, &parsed.value, input.sources));
    let faulty = diagnostics.iter().any(Diagnostic::is_error);
    diagnostics.extend(found.into_iter().filter(|diagnostic| !faulty || diagnostic.is_error()));
}

// Diagnostics without repetitions: a rule of the representation makes as many wrong atoms as there are
// objects.

/// Findings that are kept; the rest is counted.
const MOST: usize = crate::syntax::MAX_DIAGNOSTICS;

#[derive(Default)]
struct Findings {
    list: Vec<(Diagnostic, usize)>,
    by_key: FxHashMap<String, usize>,
    dropped: usize,
}

impl Findings {
    /// True if `key` was not reported before and there is room for another diagnostic; otherwise counts it.
    fn is_new(&mut self, key: &str) -> bool {
        if let Some(&index) = self.by_key.get(key) {
            if let Some((_, repeated)) = self.list.get_mut(index) {
                *repeated += 1;
            }
            return false;
        }
        let full = self.list.len() >= MOST;
        self.dropped += usize::from(full);
        !full
    }

    fn add(&mut self, key: String, diagnostic: Diagnostic) {
        self.by_key.insert(key, self.list.len());
        self.list.push((diagnostic, 0));
    }

    fn finish(self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = self
            .list
            .into_iter()
            .map(|(mut diagnostic, repeated)| {
                if repeated > 0 {
                    let plural = if repeated == 1 { "" } else { "s" };
                    diagnostic.message.push_str(&format!(" (and {repeated} further atom{plural} like it)"));
                }
                diagnostic
            })
            .collect();
        if self.dropped > 0 {
            let message = format!("{} further mistakes are not shown; the first {MOST} are", self.dropped);
            let help = "correct the first ones: most of the others follow from them";
            all.push(Diagnostic::error("asp.too-many-mistakes", message).help(help));
        }
        all
    }
}

// The domain's names as the intermediate representation writes them, and back.

/// Names of the domain by their names in the intermediate representation.
struct Spelling<'a> {
    predicates: FxHashMap<String, (usize, &'a PredicateDecl)>,
    functions: FxHashMap<String, (usize, &'a FunctionDecl)>,
    types: FxHashMap<String, TypeId>,
    /// Objects that the domain itself names, declared (with their declaration) or not.
    constants: FxHashMap<String, (&'a Name, Option<&'a TypedName>)>,
    /// Names that the domain's actions use and that nothing declares, in order.
    undeclared: Vec<&'a Name>,
}

/// A PDDL name as the intermediate representation writes it.
fn mangle(name: &Name) -> String {
    names::mangle(name.key())
}

impl<'a> Spelling<'a> {
    fn of(domain: &'a Domain, types: &'a TypeHierarchy) -> Self {
        let undeclared = undeclared_constants(domain, types);
        let mut constants: FxHashMap<String, (&Name, Option<&TypedName>)> = FxHashMap::default();
        for constant in &domain.constants {
            constants.entry(mangle(&constant.name)).or_insert((&constant.name, Some(constant)));
        }
        for name in &undeclared {
            constants.entry(mangle(name)).or_insert((name, None));
        }
        let mut predicates = FxHashMap::default();
        for (index, predicate) in domain.predicates.iter().enumerate() {
            predicates.entry(mangle(&predicate.name)).or_insert((index, predicate));
        }
        let mut functions = FxHashMap::default();
        for (index, function) in domain.functions.iter().enumerate() {
            functions.entry(mangle(&function.name)).or_insert((index, function));
        }
        let mut by_name = FxHashMap::default();
        for id in 0..types.len() as TypeId {
            by_name.entry(mangle(types.name(id))).or_insert(id);
        }
        Self { predicates, functions, types: by_name, constants, undeclared }
    }

    fn predicate(&self, name: &str) -> Option<(usize, &'a PredicateDecl)> {
        find(&self.predicates, name)
    }

    fn function(&self, name: &str) -> Option<(usize, &'a FunctionDecl)> {
        find(&self.functions, name)
    }

    fn ty(&self, name: &str) -> Option<TypeId> {
        find(&self.types, name)
    }

    fn constant(&self, name: &str) -> Option<(&'a Name, Option<&'a TypedName>)> {
        find(&self.constants, name)
    }

    /// Predicates as the intermediate representation writes them, for suggestions.
    fn predicates(&self) -> impl Iterator<Item = &str> {
        self.predicates.keys().map(String::as_str)
    }

    fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    fn types(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }
}

/// Looks a name up. Names in answers match the keys exactly, except names that were written as texts.
fn find<T: Copy>(map: &FxHashMap<String, T>, name: &str) -> Option<T> {
    map.get(name).or_else(|| map.get(&names::mangle(name))).copied()
}
