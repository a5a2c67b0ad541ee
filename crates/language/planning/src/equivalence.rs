//! Whether two problems of one domain are the same but for the names of their objects (translate-infer-compile paper,
//! Appendix D): initial state, numbers, goal and metric together, objects exchanged only within their type.
//!
//! Both problems become one graph: objects, and a node for every fact and every part of the goal, with edges to what stands in
//! it. Colour refinement separates what can be told apart; the rest is tried by backtracking. Where the paper enumerates
//! permutations type by type, the number of steps here is that of the choices that refinement leaves, which for almost every task is
//! the number of interchangeable objects. Hard cases end undecided under a limit.

pub mod are;
mod difference;
pub mod domains;
pub mod goals;
mod graph;
pub mod hde;
pub mod interface;
mod partition;
mod search;
mod side;

pub use difference::ProblemDifference;
pub use graph::fixed_names;
pub use side::ComparedSide;

use crate::resources::{ResourceLimits, StopReason};
use graph::Graph;
use planforge_pddl::ast::{Domain, Problem};

/// How two problems compare.
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
        /// What ended it; `None` where it was the limit on choices.
        stopped: Option<StopReason>,
    },
}

/// Compares two problems of a domain. Names that the domain itself uses (its constants, and names in its actions that it forgets to
/// declare) stand for themselves; every other object may be called anything. The order of facts, repeated facts, explicit negative
/// facts in the initial state and the problems' names make no difference.
///
/// `max_choices` bounds how many pairs of objects are tried; a true answer never depends on it, except to be undecided. A pair costs
/// time linear in the problems' size at most (times a logarithm), and so does the first refinement, which is all there is to it where
/// no two objects look alike. Interchangeable objects cost a pair each.
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

/// Whether two problems are the same up to renaming, without what differs; `None` where the limit on choices, or the budget, left
/// that open. See [`equivalent_problems`].
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
