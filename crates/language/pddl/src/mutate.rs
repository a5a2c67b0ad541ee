//! Seeded mistakes in a domain: what a writer forgets, adds or mixes up.
//!
//! [`all_mutations`] lists every mistake of a kind, [`random_mutations`] draws some of several kinds, [`apply_mutations`] makes
//! them. [`Omissions`] draws uniformly among the ways to omit exactly k terms, or among pairs of damaged domains that
//! differ in exactly d terms, as the studies behind Figure 2 of the exploration-walk paper do. A *term* is a top-level
//! conjunct of an instantaneous action's precondition or effect, whatever its form.
//!
//! A mistake need not matter: an omitted precondition may be implied by the others. Whether a mutated domain still means
//! the same is a question for a comparison, never for the kind of the mistake.
//!
//! [`action::action_mutants`] makes of one action what somebody else might write instead, unreadable texts included.
//!
//! [`random_rewrite`] writes a domain otherwise without changing what it means: what every judge of domains has to accept.

pub mod action;
mod apply;
mod atoms;
mod list;
mod omit;
mod parameters;
mod rewrite;
mod scope;
mod terms;

pub use apply::{apply_mutations, apply_mutations_to_problem};
pub use list::{all_mutations, random_mutations};
pub use omit::{DamagedDomain, KeepPolicy, Omissions, PairSampler};
pub use rewrite::{Rewrite, RewriteKind, random_rewrite};
pub use terms::{ListedTerm, differing_terms, terms};

use crate::ast::{Condition, Effect, TypeRef};
use crate::name::Name;
use crate::print;
use std::fmt;

/// What kind of mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MutationKind {
    /// A term is left out.
    Omission,
    /// A well-typed literal that does not belong there is added.
    Addition,
    /// Two arguments of a literal have changed places; it is still well typed.
    SwappedArguments,
    /// A variable of a literal is replaced by another whose type fits the place.
    ReplacedArgument,
    /// A literal is negated.
    Negation,
    /// A literal has another predicate that takes the same arguments.
    Retarget,
    /// A predicate has lost one of its arguments, in its declaration and wherever it is used, the problem included: the
    /// criticality of predicate design in the exploration-walk paper's Appendix A.2 (`(free ?g)` for `(free ?r ?g)`).
    PredicateArgument,
    /// Two parameters of an action have changed places in its list, each with its type: plans name them in another order.
    SwappedParameters,
    /// A parameter of an action has a wider type: the parent of its own, or `object`.
    WidenedType,
}

impl MutationKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Omission,
        Self::Addition,
        Self::SwappedArguments,
        Self::ReplacedArgument,
        Self::Negation,
        Self::Retarget,
        Self::PredicateArgument,
        Self::SwappedParameters,
        Self::WidenedType,
    ];

    /// The kind's name in tables and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Omission => "omission",
            Self::Addition => "addition",
            Self::SwappedArguments => "swapped-arguments",
            Self::ReplacedArgument => "replaced-argument",
            Self::Negation => "negation",
            Self::Retarget => "retarget",
            Self::PredicateArgument => "predicate-argument",
            Self::SwappedParameters => "swapped-parameters",
            Self::WidenedType => "widened-type",
        }
    }
}

impl fmt::Display for MutationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of an action's two lists of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TermList {
    /// The precondition's conjuncts.
    Precondition,
    /// The effect's conjuncts.
    Effect,
}

impl fmt::Display for TermList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Precondition => "precondition",
            Self::Effect => "effect",
        })
    }
}

/// Where a mutation is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutationPlace {
    /// An action's term.
    Term {
        /// Which list of the action.
        list: TermList,
        /// The term's position in it from 0; an addition has none.
        index: Option<usize>,
    },
    /// A predicate's argument, everywhere.
    Argument {
        /// The predicate.
        predicate: Name,
        /// The argument's position from 0.
        position: usize,
    },
    /// Parameters of an action, by position from 0.
    Parameters(Vec<usize>),
}

/// One mistake in one domain: what it is, and how to make it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mutation {
    /// What kind of mistake.
    pub kind: MutationKind,
    /// The action it is made in; `None` for one that concerns the whole domain.
    pub action: Option<Name>,
    /// Where.
    pub place: MutationPlace,
    /// What stood there, as PDDL on one line; `None` for an addition.
    pub before: Option<String>,
    /// What stands there now; `None` for an omission.
    pub after: Option<String>,
    /// Atoms that took what stood there and declare a narrower type than what they are given now. Only a widened type has any; the
    /// other kinds keep every literal well typed.
    pub ill_typed: Vec<String>,
    edit: Edit,
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.action, &self.place) {
            (Some(action), MutationPlace::Term { list, .. }) => write!(f, "action {action}: {list} ")?,
            (Some(action), MutationPlace::Parameters(positions)) => {
                let plural = if positions.len() == 1 { "" } else { "s" };
                write!(f, "action {action}: parameter{plural} ")?;
            }
            _ => f.write_str("predicate ")?,
        }
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{before} became {after} ({})", self.kind),
            (Some(before), None) => write!(f, "{before} omitted"),
            (None, Some(after)) => write!(f, "{after} added"),
            (None, None) => Ok(()),
        }?;
        match self.ill_typed.as_slice() {
            [] => Ok(()),
            atoms => write!(f, ", wider than {} may be given", atoms.join(", ")),
        }
    }
}

/// A term by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Site {
    /// Index in `Domain.actions`.
    action: usize,
    list: TermList,
    /// Index among the list's conjuncts.
    index: usize,
}

/// A term of either list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Condition(Condition),
    Effect(Effect),
}

impl Part {
    fn list(&self) -> TermList {
        match self {
            Self::Condition(_) => TermList::Precondition,
            Self::Effect(_) => TermList::Effect,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Condition(condition) => print::print_condition(condition),
            Self::Effect(effect) => print::print_effect(effect),
        }
    }
}

/// A mutation as it is made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Edit {
    Remove(Site),
    Replace(Site, Part),
    Insert { action: usize, part: Part },
    DropArgument { predicate: Name, position: usize },
    SwapParameters { action: usize, first: usize, second: usize },
    WidenType { action: usize, position: usize, ty: Option<TypeRef> },
}

impl Edit {
    /// The term that it changes.
    fn site(&self) -> Option<Site> {
        match self {
            Self::Remove(site) | Self::Replace(site, _) => Some(*site),
            _ => None,
        }
    }

    /// The action that it changes; `None` for one that concerns the whole domain.
    fn action(&self) -> Option<usize> {
        match self {
            Self::Remove(site) | Self::Replace(site, _) => Some(site.action),
            Self::Insert { action, .. }
            | Self::SwapParameters { action, .. }
            | Self::WidenType { action, .. } => Some(*action),
            Self::DropArgument { .. } => None,
        }
    }
}
