//! Checks of a definition's meaning: names, arities, types, scopes, use, and requirements: what a definition uses, what it declares,
//! and the difference.

mod condition;
mod definition;
mod types;

pub use definition::{
    TaskSources, UsedRequirement, check_domain, check_problem, read_task, requirements_used,
    undeclared_constants, undeclared_requirements,
};

use crate::ast::{Domain, FunctionDecl, PredicateDecl, TypedName};
use crate::hierarchy::TypeHierarchy;
use crate::name::Name;
use crate::sink::Sink;
use planforge_diagnostics::{Diagnostic, Edit, SourceId, Span};
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

/// A feature of PDDL that a requirement allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Feature {
    Typing,
    Negation,
    Disjunction,
    Equality,
    Exists,
    Forall,
    ConditionalEffects,
    ActionCosts,
    Numeric,
    Durative,
    DurationInequalities,
    Derived,
    TimedLiterals,
    Preferences,
    Constraints,
}

const FEATURES: [(Feature, &str); 15] = [
    (Feature::Typing, ":typing"),
    (Feature::Negation, ":negative-preconditions"),
    (Feature::Disjunction, ":disjunctive-preconditions"),
    (Feature::Equality, ":equality"),
    (Feature::Exists, ":existential-preconditions"),
    (Feature::Forall, ":universal-preconditions"),
    (Feature::ConditionalEffects, ":conditional-effects"),
    (Feature::ActionCosts, ":action-costs"),
    (Feature::Numeric, ":numeric-fluents"),
    (Feature::Durative, ":durative-actions"),
    (Feature::DurationInequalities, ":duration-inequalities"),
    (Feature::Derived, ":derived-predicates"),
    (Feature::TimedLiterals, ":timed-initial-literals"),
    (Feature::Preferences, ":preferences"),
    (Feature::Constraints, ":constraints"),
];

/// The first use of each feature.
#[derive(Debug, Clone, Default)]
struct Features {
    first: [Option<Span>; FEATURES.len()],
}

impl Features {
    fn note(&mut self, feature: Feature, span: Span) {
        if let Some(index) = FEATURES.iter().position(|(f, _)| *f == feature) {
            self.first[index].get_or_insert(span);
        }
    }

    fn used(&self) -> impl Iterator<Item = (Feature, &'static str, Span)> {
        FEATURES.iter().zip(self.first).filter_map(|((f, name), span)| Some((*f, *name, span?)))
    }
}

/// The features that a requirement keyword, in lower case, allows.
fn allowed_by(requirement: &str) -> &'static [Feature] {
    use Feature::*;
    match requirement {
        ":typing" => &[Typing],
        ":negative-preconditions" => &[Negation],
        ":disjunctive-preconditions" => &[Disjunction],
        ":equality" => &[Equality],
        ":existential-preconditions" => &[Exists],
        ":universal-preconditions" => &[Forall],
        ":quantified-preconditions" => &[Exists, Forall],
        ":conditional-effects" => &[ConditionalEffects],
        ":adl" => &[Typing, Negation, Disjunction, Equality, Exists, Forall, ConditionalEffects],
        ":ucpop" => &[Typing, Negation, Disjunction, Equality, Exists, Forall, ConditionalEffects, Derived],
        ":action-costs" => &[ActionCosts],
        ":fluents" | ":numeric-fluents" => &[ActionCosts, Numeric],
        ":durative-actions" => &[Durative],
        ":duration-inequalities" => &[DurationInequalities],
        ":derived-predicates" | ":domain-axioms" => &[Derived],
        ":timed-initial-literals" => &[TimedLiterals, Durative],
        ":preferences" | ":goal-utilities" => &[Preferences],
        ":constraints" => &[Constraints],
        _ => &[],
    }
}

/// Returns true if the declared requirements include this one or a wider one such as `:adl`.
pub(crate) fn allows(declared: &[Name], requirement: &str) -> bool {
    let allowed: Vec<Feature> = declared.iter().flat_map(|name| allowed_by(name.key())).copied().collect();
    allowed_by(requirement).iter().all(|feature| allowed.contains(feature))
}

/// Place where a definition can take further requirements.
enum Insertion {
    /// After the last keyword of a section that is there.
    Append(u32),
    /// As a new section that ends here, where another begins.
    SectionBefore(u32),
    /// As a new section that begins here, where another ends.
    SectionAfter(u32),
    /// Nowhere that could be made out.
    None,
}

/// Returns each requirement of a feature that is used and not allowed, with the feature's first use.
fn missing_requirements(features: &Features, declared: &[&Name]) -> Vec<(&'static str, Span)> {
    let allowed: Vec<Feature> = declared.iter().flat_map(|name| allowed_by(name.key())).copied().collect();
    features
        .used()
        .filter(|(feature, ..)| !allowed.contains(feature))
        // `:numeric-fluents` covers costs, so the lesser one need not be added beside it.
        .filter(|(f, ..)| {
            *f != Feature::ActionCosts || !features.used().any(|(other, ..)| other == Feature::Numeric)
        })
        .map(|(_, name, span)| (name, span))
        .collect()
}

/// One warning that names every feature used without its requirement; the fix declares them.
fn report_undeclared(
    features: &Features,
    declared: &[&Name],
    insertion: Insertion,
    source: SourceId,
) -> Option<Diagnostic> {
    let missing = missing_requirements(features, declared);
    let (first, rest) = missing.split_first()?;
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let plural = if rest.is_empty() { "" } else { "s" };
    let message = format!("undeclared requirement{plural} {}", names.join(", "));
    let mut diagnostic = Diagnostic::warning("pddl.undeclared-requirement", message).at(
        source,
        first.1,
        format!("needs {}", first.0),
    );
    for (name, span) in rest {
        diagnostic = diagnostic.also(source, *span, format!("needs {name}"));
    }
    let names = names.join(" ");
    let edit = match insertion {
        Insertion::Append(at) => Edit { source, span: Span::empty(at), replacement: format!(" {names}") },
        Insertion::SectionBefore(at) => {
            let replacement = format!("(:requirements :strips {names})\n  ");
            Edit { source, span: Span::empty(at), replacement }
        }
        Insertion::SectionAfter(at) => {
            let replacement = format!("\n  (:requirements :strips {names})");
            Edit { source, span: Span::empty(at), replacement }
        }
        Insertion::None => return Some(diagnostic),
    };
    Some(diagnostic.fix(format!("declare {names}"), vec![edit]))
}

/// Declared requirements that nothing in the domain uses, and that are not about what problems may have alone.
fn report_unused_requirements(features: &Features, declared: &[Name], source: SourceId) -> Vec<Diagnostic> {
    declared
        .iter()
        .filter(|name| {
            let allowed = allowed_by(name.key());
            let is_for_problems = |feature: &Feature| {
                matches!(feature, Feature::TimedLiterals | Feature::Preferences | Feature::Constraints)
            };
            !allowed.is_empty()
                && !allowed.iter().any(is_for_problems)
                && !features.used().any(|(feature, ..)| allowed.contains(&feature))
        })
        .map(|name| {
            Diagnostic::advice("pddl.unused-requirement", format!("nothing here needs `{name}`"))
                .at(source, name.span, "")
        })
        .collect()
}
