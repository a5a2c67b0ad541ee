//! Checks of a definition's meaning: names, arities, types, scopes, requirements, use.

mod atoms;
mod declarations;
mod domain;
mod problem;
mod requirements;
mod types;
mod walk;

pub use domain::{check_domain, undeclared_constants, undeclared_requirements};
pub use problem::{TaskSources, UsedRequirement, check_problem, read_task, requirements_used};
pub(crate) use requirements::allows;
pub use types::{TypeFit, TypeHierarchy, TypeId};

use crate::ast::{Domain, FunctionDecl, PredicateDecl, TypedName};
use crate::name::Name;
use crate::sink::Sink;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use requirements::Features;
use rustc_hash::{FxHashMap, FxHashSet};

/// A variable in scope.
struct Binding<'a> {
    variable: &'a TypedName,
    /// The type that counts where the variable itself has none: a rule's head takes its predicate's.
    inherited: Option<&'a crate::ast::TypeRef>,
    used: bool,
}

/// Occurrences of a predicate.
#[derive(Debug, Clone, Default)]
struct Usage {
    /// First positive occurrence in a condition or goal.
    wanted: Option<Span>,
    /// True if the predicate occurs anywhere.
    mentioned: bool,
    added: bool,
    /// First deletion by an effect.
    deleted: Option<Span>,
}

/// The checks of one definition.
struct Checker<'a> {
    sink: Sink,
    types: &'a TypeHierarchy,
    predicates: FxHashMap<&'a str, &'a PredicateDecl>,
    functions: FxHashMap<&'a str, &'a FunctionDecl>,
    /// Constants, and objects where a problem is checked.
    objects: FxHashMap<&'a str, &'a TypedName>,
    /// Predicates that rules define.
    derived: FxHashMap<&'a str, Span>,
    /// Names of preferences, for `is-violated`.
    preferences: Vec<&'a Name>,
    scope: Vec<Binding<'a>>,
    usage: FxHashMap<&'a str, Usage>,
    features: Features,
    /// Constants that nothing declares, the first use of each.
    undeclared: Vec<&'a Name>,
    undeclared_seen: FxHashSet<&'a str>,
    /// A missing predicates section has been reported: every predicate would be undefined.
    predicates_unknown: bool,
    /// True inside an effect, where a type used as an atom has a separate finding.
    in_effect: bool,
    /// True while checking a problem: a domain alone does not determine the objects.
    objects_known: bool,
}

impl<'a> Checker<'a> {
    fn new(domain: &'a Domain, types: &'a TypeHierarchy, source: SourceId) -> Self {
        let has_section = domain.sections.iter().any(|s| s.keyword.is(":predicates"));
        let mut derived = FxHashMap::default();
        for rule in &domain.derived {
            derived.entry(rule.predicate.key()).or_insert(rule.predicate.span);
        }
        let mut checker = Self {
            sink: Sink::new(source),
            types,
            predicates: FxHashMap::default(),
            functions: FxHashMap::default(),
            objects: FxHashMap::default(),
            derived,
            preferences: Vec::new(),
            scope: Vec::new(),
            usage: FxHashMap::default(),
            features: Features::default(),
            undeclared: Vec::new(),
            undeclared_seen: FxHashSet::default(),
            predicates_unknown: domain.predicates.is_empty() && !has_section && !domain.sections.is_empty(),
            in_effect: false,
            objects_known: false,
        };
        for predicate in &domain.predicates {
            checker.predicates.entry(predicate.name.key()).or_insert(predicate);
        }
        for function in &domain.functions {
            checker.functions.entry(function.name.key()).or_insert(function);
        }
        for constant in &domain.constants {
            checker.objects.entry(constant.name.key()).or_insert(constant);
        }
        checker
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }

    fn error(&mut self, code: &'static str, message: String, span: Span) -> &mut Self {
        let source = self.sink.source;
        self.push(Diagnostic::error(code, message).at(source, span, ""));
        self
    }

    fn warning(&mut self, code: &'static str, message: String, span: Span) {
        let source = self.sink.source;
        self.push(Diagnostic::warning(code, message).at(source, span, ""));
    }

    /// An error about an unknown name, with the nearest known one.
    fn unknown(&mut self, code: &'static str, message: String, name: &Name, known: KnownNames) {
        if self.sink.is_full() {
            return;
        }
        let suggestion = match known {
            KnownNames::Predicates => {
                self.sink.suggestion(name.key(), self.predicates.values().map(|p| p.name.as_str()))
            }
            KnownNames::Functions => {
                self.sink.suggestion(name.key(), self.functions.values().map(|f| f.name.as_str()))
            }
            KnownNames::Types => self.sink.suggestion(name.key(), self.types.names().map(Name::as_str)),
            KnownNames::Objects => {
                self.sink.suggestion(name.key(), self.objects.values().map(|o| o.name.as_str()))
            }
            KnownNames::Variables => {
                self.sink.suggestion(name.key(), self.scope.iter().map(|b| b.variable.name.as_str()))
            }
            KnownNames::Preferences => {
                self.sink.suggestion(name.key(), self.preferences.iter().map(|p| p.as_str()))
            }
        };
        let mut diagnostic = Diagnostic::error(code, message).at(self.sink.source, name.span, "");
        diagnostic.help.extend(suggestion);
        self.push(diagnostic);
    }
}

/// The kind of known names that an unknown name is compared with.
#[derive(Debug, Clone, Copy)]
enum KnownNames {
    Predicates,
    Functions,
    Types,
    Objects,
    Variables,
    Preferences,
}
