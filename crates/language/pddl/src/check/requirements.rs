//! Requirements: what a definition uses, what it declares, and the difference.

use crate::name::Name;
use planforge_diagnostics::{Diagnostic, Edit, SourceId, Span};

/// A feature of PDDL that a requirement allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
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
pub(super) struct Features {
    first: [Option<Span>; FEATURES.len()],
}

impl Features {
    pub(super) fn note(&mut self, feature: Feature, span: Span) {
        if let Some(index) = FEATURES.iter().position(|(f, _)| *f == feature) {
            self.first[index].get_or_insert(span);
        }
    }

    pub(super) fn used(&self) -> impl Iterator<Item = (Feature, &'static str, Span)> {
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
pub(super) enum Insertion {
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
pub(super) fn missing(features: &Features, declared: &[&Name]) -> Vec<(&'static str, Span)> {
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
pub(super) fn report_undeclared(
    features: &Features,
    declared: &[&Name],
    insertion: Insertion,
    source: SourceId,
) -> Option<Diagnostic> {
    let missing = missing(features, declared);
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

/// Declared requirements that nothing in the domain uses.
pub(super) fn report_unused_requirements(
    features: &Features,
    declared: &[Name],
    source: SourceId,
) -> Vec<Diagnostic> {
    declared
        .iter()
        .filter(|name| {
            let allowed = allowed_by(name.key());
            !allowed.is_empty() && !features.used().any(|(feature, ..)| allowed.contains(&feature))
        })
        .map(|name| {
            Diagnostic::advice("pddl.unused-requirement", format!("nothing here needs `{name}`"))
                .at(source, name.span, "")
        })
        .collect()
}
