//! Equality of two problems of one domain up to the names of their objects (translate-infer-compile paper,
//! Appendix D): initial state, numbers, goal and metric together, objects exchanged only within their type.
//!
//! Both problems become one graph. Its nodes are the objects, the facts and the parts of the goal; edges lead
//! to the parts of a node. Colour refinement separates nodes that can be told apart. Backtracking tries the
//! rest. The paper enumerates permutations type by type. Here the number of steps is that of the choices that
//! refinement leaves, for almost every task the number of interchangeable objects. Hard cases end undecided
//! under a limit.

pub mod are;
mod difference;
pub mod domains;
pub mod goals;
mod graph;
pub mod hde;
pub mod interface;
mod isomorphism;
pub mod joint;
pub mod parameters;

pub use difference::ProblemDifference;
pub use graph::fixed_names;

use crate::resources::{ResourceLimits, StopReason};
use graph::Graph;
use planforge_pddl::ast::{Domain, Problem};

/// Result of comparing two problems.
#[derive(Debug, Clone, PartialEq)]
pub enum ProblemEquivalence {
    /// They are the same under this renaming: (object of the first, object of the second), in the first's order.
    Equal {
        /// Constants are not in it: they are never renamed.
        renaming: Vec<(String, String)>,
    },
    /// No renaming makes them the same.
    Different(ProblemDifference),
    /// The limit on choices, or the budget, ended the search.
    Undecided {
        /// Pairs of objects that were tried.
        choices: u64,
        /// The resource limit that ended the search; `None` if it was the limit on choices.
        stopped: Option<StopReason>,
    },
}

/// Compares two problems of a domain. Names that the domain itself uses (its constants, and undeclared names
/// in its actions) keep their meaning. Every other object may have any name. The order of facts, repeated
/// facts, explicit negative facts in the initial state and the problems' names make no difference.
///
/// `max_choices` bounds the number of pairs of objects tried. It never changes an answer, except to
/// undecided. A pair costs time linear in the problems' size at most (times a logarithm). So does the first
/// refinement, which is the whole cost if no two objects are alike. Interchangeable objects cost one pair
/// each.
pub fn equivalent_problems(
    domain: &Domain,
    first: &Problem,
    second: &Problem,
    max_choices: u64,
    resources: &mut dyn ResourceLimits,
) -> ProblemEquivalence {
    let graph = Graph::new(domain, first, second);
    match isomorphism::find(&graph, max_choices, resources) {
        isomorphism::IsomorphismOutcome::Isomorphism(image) => {
            ProblemEquivalence::Equal { renaming: graph.renaming(&image) }
        }
        isomorphism::IsomorphismOutcome::None => {
            ProblemEquivalence::Different(difference::difference(&graph))
        }
        isomorphism::IsomorphismOutcome::Limit { choices, stopped } => {
            ProblemEquivalence::Undecided { choices, stopped }
        }
    }
}

/// Returns true if two problems are the same up to renaming; `None` if the limit on choices or the resource
/// limits left that open. Does not compute the difference. See [`equivalent_problems`].
pub fn are_equivalent(
    domain: &Domain,
    first: &Problem,
    second: &Problem,
    max_choices: u64,
    resources: &mut dyn ResourceLimits,
) -> Option<bool> {
    match isomorphism::find(&Graph::new(domain, first, second), max_choices, resources) {
        isomorphism::IsomorphismOutcome::Isomorphism(_) => Some(true),
        isomorphism::IsomorphismOutcome::None => Some(false),
        isomorphism::IsomorphismOutcome::Limit { .. } => None,
    }
}

/// One of the two compared domains or problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedSide {
    /// The domain or problem given first.
    First,
    /// The domain or problem given second.
    Second,
}

impl ComparedSide {
    /// Returns the opposite side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            ComparedSide::First => ComparedSide::Second,
            ComparedSide::Second => ComparedSide::First,
        }
    }
}

#[cfg(test)]
mod tests;
