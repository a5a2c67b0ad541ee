//! The state space of a task: packed states, applicable operators, successors.

use super::mutex::Mutexes;
use super::node_table::NodeTable;
use crate::bits;
use crate::resources::StopReason;
use crate::simulate::{AxiomEvaluator, SuccessorGenerator, apply_facts};
use crate::task::GroundTask;

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Operators of a plan.
    Plan(Vec<u32>),
    /// Every state that could lead to the goal was visited.
    Unsolvable,
    /// A limit ended the search.
    Stopped(StopReason),
}

/// Counts of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchStatistics {
    /// Number of expanded states.
    pub expanded: u64,
    /// States evaluated by a heuristic.
    pub evaluated: u64,
    /// Number of generated successors.
    pub generated: u64,
}

impl std::ops::AddAssign for SearchStatistics {
    fn add_assign(&mut self, other: Self) {
        self.expanded += other.expanded;
        self.evaluated += other.evaluated;
        self.generated += other.generated;
    }
}

/// A task prepared for search.
pub(crate) struct Space<'t> {
    pub(crate) task: &'t GroundTask,
    axioms: AxiomEvaluator,
    generator: SuccessorGenerator,
    mutexes: Option<Mutexes>,
}

impl<'t> Space<'t> {
    pub(crate) fn new(task: &'t GroundTask, mutexes: Option<Mutexes>) -> Self {
        Space {
            task,
            axioms: AxiomEvaluator::new(task),
            generator: SuccessorGenerator::new(
                task.operators.iter().map(|o| &o.precondition),
                task.facts.len(),
            ),
            mutexes,
        }
    }

    pub(crate) fn initial(&self) -> Vec<u64> {
        initial_state(self.task)
    }

    /// Returns true if pairs of facts show that no plan leads from a state to the goal.
    #[inline]
    pub(crate) fn is_dead_end(&self, state: &[u64]) -> bool {
        self.mutexes.as_ref().is_some_and(|m| m.is_dead_end(state))
    }

    #[inline]
    pub(crate) fn is_goal(&self, state: &[u64]) -> bool {
        self.task.goal.holds(state, &[])
    }

    /// Writes the applicable operators over `out`.
    #[inline]
    pub(crate) fn applicable(&self, state: &[u64], out: &mut Vec<u32>) {
        out.clear();
        self.generator.for_each(state, &[], &mut |o| out.push(o));
    }

    /// Writes the successor over `next`.
    #[inline]
    pub(crate) fn apply(&self, state: &[u64], operator: u32, next: &mut Vec<u64>) {
        next.clear();
        next.extend_from_slice(state);
        apply_facts(&self.task.operators[operator as usize], next, &[]);
        self.axioms.close(next, &[]);
    }

    #[inline]
    pub(crate) fn cost(&self, operator: u32) -> u64 {
        self.task.operators[operator as usize].cost
    }

    pub(crate) fn table(&self) -> NodeTable {
        NodeTable::new(self.task.words())
    }
}

/// The initial state with its derived facts.
pub(crate) fn initial_state(task: &GroundTask) -> Vec<u64> {
    let mut state = vec![0; task.words()];
    task.init.iter().for_each(|&f| bits::set(&mut state, f));
    AxiomEvaluator::new(task).close(&mut state, &[]);
    state
}
