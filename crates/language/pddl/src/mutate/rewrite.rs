//! Rewrites of a domain that preserve its meaning.
//!
//! Each kind is sound for every problem of the domain: additions are implied by the other parts, and only
//! parts whose order is irrelevant are moved. Names of actions, predicates, types and constants are kept, and
//! so is the order of parameters, so that the domain's problem files and plans remain usable.

mod action;

use super::scope::Signatures;
use crate::ast::{Domain, PredicateDecl, TypedName};
use crate::check::allows;
use crate::name::Name;
use crate::print;
use crate::random::Random;
use planforge_diagnostics::Span;
use std::fmt;

/// Kind of rewrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RewriteKind {
    /// The conjuncts of a precondition in another order.
    ReorderedPrecondition,
    /// The conjuncts of an effect in another order; not where two of them change numbers.
    ReorderedEffect,
    /// The actions in another order.
    ReorderedActions,
    /// The predicates declared in another order.
    ReorderedPredicates,
    /// The parameters of an action called otherwise.
    RenamedVariables,
    /// An action's name and its predicates in capitals.
    Capitals,
    /// Some conjuncts of a list in a conjunction of their own.
    NestedConjunction,
    /// A literal is repeated.
    RepeatedLiteral,
    /// `(not (not A))` for a precondition A.
    DoubleNegation,
    /// `(or A B)` is added to a precondition A.
    ImpliedDisjunction,
    /// `(imply A B)` replaces a precondition B next to a precondition A.
    Implication,
    /// `(exists (?any - t) (p ?any))` is added to a precondition `(p ?x)` with `?x - t`.
    ImpliedExistence,
    /// `(= ?x ?x)` as a precondition.
    ReflexiveEquality,
    /// A precondition stated as an effect, where nothing in the effect contradicts it.
    IdleEffect,
    /// `(when A E)` replaces an effect E under a precondition A.
    GuardedEffect,
    /// A predicate declared that nothing uses.
    UnusedPredicate,
}

impl RewriteKind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 16] = [
        Self::ReorderedPrecondition,
        Self::ReorderedEffect,
        Self::ReorderedActions,
        Self::ReorderedPredicates,
        Self::RenamedVariables,
        Self::Capitals,
        Self::NestedConjunction,
        Self::RepeatedLiteral,
        Self::DoubleNegation,
        Self::ImpliedDisjunction,
        Self::Implication,
        Self::ImpliedExistence,
        Self::ReflexiveEquality,
        Self::IdleEffect,
        Self::GuardedEffect,
        Self::UnusedPredicate,
    ];

    /// The kind's name in tables and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReorderedPrecondition => "reordered-precondition",
            Self::ReorderedEffect => "reordered-effect",
            Self::ReorderedActions => "reordered-actions",
            Self::ReorderedPredicates => "reordered-predicates",
            Self::RenamedVariables => "renamed-variables",
            Self::Capitals => "capitals",
            Self::NestedConjunction => "nested-conjunction",
            Self::RepeatedLiteral => "repeated-literal",
            Self::DoubleNegation => "double-negation",
            Self::ImpliedDisjunction => "implied-disjunction",
            Self::Implication => "implication",
            Self::ImpliedExistence => "implied-existence",
            Self::ReflexiveEquality => "reflexive-equality",
            Self::IdleEffect => "idle-effect",
            Self::GuardedEffect => "guarded-effect",
            Self::UnusedPredicate => "unused-predicate",
        }
    }

    /// The requirement that the form needs, where it is beyond `:strips`.
    fn requirement(self) -> Option<&'static str> {
        match self {
            Self::DoubleNegation => Some(":negative-preconditions"),
            Self::ImpliedDisjunction | Self::Implication => Some(":disjunctive-preconditions"),
            Self::ImpliedExistence => Some(":existential-preconditions"),
            Self::ReflexiveEquality => Some(":equality"),
            Self::GuardedEffect => Some(":conditional-effects"),
            _ => None,
        }
    }
}

impl fmt::Display for RewriteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A domain in other words.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewrite {
    /// Kind of the rewrite.
    pub kind: RewriteKind,
    /// The action rewritten; `None` where it concerns the whole domain.
    pub action: Option<Name>,
    /// Description of the change, as a clause.
    pub change: String,
    /// A requirement that the domain declares now because the new form needs it.
    pub declared: Option<&'static str>,
    /// The rewritten domain. Its spans are those of the original; print it to obtain a text.
    pub domain: Domain,
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(action) = &self.action {
            write!(f, "action {action}: ")?;
        }
        write!(f, "{} ({})", self.change, self.kind)?;
        self.declared.map_or(Ok(()), |requirement| write!(f, ", {requirement} declared"))
    }
}

/// A rewrite of that kind, drawn uniformly among the places where it can be made; `None` where there is none.
///
/// Where the domain declares requirements and they do not allow the new form, it declares what the form needs in addition. A domain that
/// declares none stays so.
pub fn random_rewrite(domain: &Domain, kind: RewriteKind, random: &mut Random) -> Option<Rewrite> {
    let (action, change, mut rewritten) = match kind {
        RewriteKind::ReorderedActions => {
            (None, "the actions in another order".to_owned(), actions(domain, random)?)
        }
        RewriteKind::ReorderedPredicates => {
            let change = "the predicates in another order".to_owned();
            (None, change, predicates(domain, random)?)
        }
        RewriteKind::UnusedPredicate => {
            let (change, rewritten) = unused_predicate(domain, random);
            (None, change, rewritten)
        }
        _ => {
            let signatures = Signatures::of(domain);
            let made = action::rewrites(domain, &signatures, kind, random);
            let (number, action, change) = random.pick(&made)?.clone();
            let mut rewritten = domain.clone();
            let name = action.name.clone();
            *rewritten.actions.get_mut(number)? = action;
            (Some(name), change, rewritten)
        }
    };
    let missing = |needed: &&str| !domain.requirements.is_empty() && !allows(&domain.requirements, needed);
    let declared = kind.requirement().filter(missing);
    rewritten.requirements.extend(declared.map(Name::synthetic));
    Some(Rewrite { kind, action, change, declared, domain: rewritten })
}

/// Returns the items in another order; `None` if there is no other.
fn reorder<T: Clone>(items: &[T], same: impl Fn(&T, &T) -> bool, random: &mut Random) -> Option<Vec<T>> {
    let mut other = items.to_vec();
    random.shuffle_front(&mut other, items.len());
    let unchanged = |other: &[T]| items.iter().zip(other).all(|(a, b)| same(a, b));
    if unchanged(&other) && !other.is_empty() {
        other.rotate_left(1);
    }
    (!unchanged(&other)).then_some(other)
}

fn actions(domain: &Domain, random: &mut Random) -> Option<Domain> {
    // Of two definitions of one name the first counts.
    let repeated = |i: usize| domain.actions[..i].iter().any(|other| other.name == domain.actions[i].name);
    if (0..domain.actions.len()).any(repeated) {
        return None;
    }
    let actions = reorder(&domain.actions, |a, b| a.name == b.name, random)?;
    Some(Domain { actions, ..domain.clone() })
}

fn predicates(domain: &Domain, random: &mut Random) -> Option<Domain> {
    let predicates = reorder(&domain.predicates, |a, b| a.name == b.name, random)?;
    Some(Domain { predicates, ..domain.clone() })
}

fn unused_predicate(domain: &Domain, random: &mut Random) -> (String, Domain) {
    let name = Name::synthetic(&fresh("noted", &print::print_domain(domain)));
    // Of any declared type, or of none.
    let ty = random.pick(&domain.types).map(|t| crate::ast::TypeRef::single(t.name.at(Span::default())));
    let parameters = vec![TypedName { name: Name::synthetic("?x"), ty }];
    let change = format!("({name} {}) declared and not used", print::print_typed_list(&parameters));
    let mut rewritten = domain.clone();
    rewritten.predicates.push(PredicateDecl { name, parameters, span: Span::default() });
    (change, rewritten)
}

/// A name that begins with the stem and that the text nowhere has.
fn fresh(stem: &str, text: &str) -> String {
    let text = text.to_lowercase();
    let mut name = stem.to_owned();
    let mut number = 1;
    while text.contains(&name) {
        number += 1;
        name = format!("{stem}{number}");
    }
    name
}
