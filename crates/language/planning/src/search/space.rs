//! The state space of a task: packed states, applicable operators, successors.

use super::mutex::Mutexes;
use super::node_table::NodeTable;
use crate::axioms::AxiomEvaluator;
use crate::bits;
use crate::resources::{ResourceLimits, StopReason, check};
use crate::simulate::apply_facts;
use crate::successors::SuccessorGenerator;
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
    pub(crate) fn cost(&self, operator: u32) -> u32 {
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

/// Watches the limits of a search.
pub(crate) struct Watch<'b> {
    resources: &'b mut dyn ResourceLimits,
    max_nodes: u64,
    charged: usize,
    calls: u32,
}

impl<'b> Watch<'b> {
    pub(crate) fn new(resources: &'b mut dyn ResourceLimits, max_nodes: u64) -> Self {
        Watch { resources, max_nodes, charged: 0, calls: 0 }
    }

    /// Called for each node. Charges `per_node` bytes for every node added since the last poll.
    pub(crate) fn tick(&mut self, nodes: usize, per_node: u64) -> Result<(), StopReason> {
        // Minutes of cheap steps count beyond 32 bits.
        self.calls = self.calls.wrapping_add(1);
        if nodes as u64 > self.max_nodes {
            return Err(StopReason::Nodes);
        }
        if !self.calls.is_multiple_of(16) {
            return Ok(());
        }
        let fresh = nodes - self.charged;
        self.charged = nodes;
        check(self.resources.charge(fresh as u64 * per_node))?;
        check(self.resources.poll())
    }

    /// Charges bytes at once.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), StopReason> {
        check(self.resources.charge(bytes))
    }

    /// Polls the resource limits.
    pub(crate) fn poll(&mut self) -> Result<(), StopReason> {
        check(self.resources.poll())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Unlimited;

    #[test]
    fn a_search_of_any_number_of_steps_goes_on_asking() {
        let mut resources = Unlimited;
        let mut watch = Watch { calls: u32::MAX, ..Watch::new(&mut resources, 5) };
        for _ in 0..3 {
            assert_eq!(watch.tick(5, 1), Ok(()));
        }
        assert_eq!(watch.tick(6, 1), Err(StopReason::Nodes));
    }
}
