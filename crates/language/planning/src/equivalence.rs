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
mod fixed_names;
pub mod goals;
mod graph;
pub mod hde;
pub mod interface;
pub mod parameters;
mod partition;
mod search;
mod side;

pub use difference::ProblemDifference;
pub use fixed_names::fixed_names;
pub use side::ComparedSide;

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
    match search::find(&graph, max_choices, resources) {
        search::IsomorphismOutcome::Isomorphism(image) => {
            ProblemEquivalence::Equal { renaming: graph.renaming(&image) }
        }
        search::IsomorphismOutcome::None => ProblemEquivalence::Different(difference::difference(&graph)),
        search::IsomorphismOutcome::Limit { choices, stopped } => {
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
    match search::find(&Graph::new(domain, first, second), max_choices, resources) {
        search::IsomorphismOutcome::Isomorphism(_) => Some(true),
        search::IsomorphismOutcome::None => Some(false),
        search::IsomorphismOutcome::Limit { .. } => None,
    }
}

#[cfg(test)]
mod tests;
