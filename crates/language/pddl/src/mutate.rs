//! Seeded mistakes in a domain: omitted, added and confused parts.
//!
//! [`all_mutations`] lists every mistake of a kind, [`random_mutations`] draws some of several kinds,
//! [`apply_mutations`] applies them. [`Omissions`] draws uniformly among the ways to omit exactly k terms, or
//! among pairs of damaged domains that differ in exactly d terms, as in the studies behind Figure 2 of the
//! exploration-walk paper. A *term* is a top-level conjunct of an instantaneous action's precondition or
//! effect, whatever its form.
//!
//! A mistake need not matter: an omitted precondition may be implied by the others. Only a comparison decides
//! whether a mutated domain still has the same meaning, never the kind of the mistake.
//!
//! [`action::action_mutants`] generates alternatives to one action, unreadable texts included.
//!
//! [`problem_mutants`] lists single mistakes in a problem's initial state or goal.
//!
//! [`random_rewrite`] rewrites a domain without changing its meaning: every verifier of domains has to accept
//! the result.

pub mod action;
mod apply;
mod list;
mod omit;
mod problem;
mod rewrite;

pub use apply::{apply_mutations, apply_mutations_to_problem};
pub use list::{ListedTerm, all_mutations, differing_terms, random_mutations, terms};
pub use omit::{DamagedDomain, KeepPolicy, Omissions, PairSampler};
pub use problem::{ProblemMutant, ProblemPart, problem_mutants};
pub use rewrite::{Rewrite, RewriteKind, random_rewrite};

use crate::ast::{Condition, Effect, TypeRef};
use crate::name::Name;
use crate::print;
use std::fmt;

/// Kind of mistake.
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
    /// The type of an action's parameter is replaced by a wider one: its parent, or `object`.
    WidenedType,
}

impl MutationKind {
    /// All kinds, in the order of tables.
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

/// One of an action's two lists of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TermList {
    /// Conjuncts of the precondition.
    Precondition,
    /// Conjuncts of the effect.
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

/// Place of a mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutationPlace {
    /// A term of an action.
    Term {
        /// The list that contains the term.
        list: TermList,
        /// The term's position in it from 0; an addition has none.
        index: Option<usize>,
    },
    /// A predicate's argument, everywhere.
    Argument {
        /// Name of the predicate.
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
    /// Kind of the mistake.
    pub kind: MutationKind,
    /// The action it is made in; `None` for one that concerns the whole domain.
    pub action: Option<Name>,
    /// Place of the mistake.
    pub place: MutationPlace,
    /// The replaced part, as PDDL on one line; `None` for an addition.
    pub before: Option<String>,
    /// The new part, as PDDL on one line; `None` for an omission.
    pub after: Option<String>,
    /// Atoms whose declared argument types are narrower than the new type. Only a widened type has any; the
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

/// Edit of the tree that makes the mistake.
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
