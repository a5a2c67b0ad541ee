//! The state space of a task: packed states, applicable operators, successors, and the table of visited states.

use super::mutex::Mutexes;
use super::packing::Packing;
use crate::axioms::AxiomEvaluator;
use crate::bits;
use crate::resources::StopReason;
use crate::simulate::{SuccessorGenerator, apply_facts};
use crate::task::GroundTask;
use std::sync::Arc;

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

    pub(super) fn mutexes(&self) -> Option<&Mutexes> {
        self.mutexes.as_ref()
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

    /// Writes the successor of a state with its derived facts over `next`.
    #[inline]
    pub(crate) fn apply(&self, state: &[u64], operator: u32, next: &mut Vec<u64>) {
        next.clear();
        next.extend_from_slice(state);
        apply_facts(&self.task.operators[operator as usize], next, &[]);
        self.axioms.update(state, next);
    }

    #[inline]
    pub(crate) fn cost(&self, operator: u32) -> u64 {
        self.task.operators[operator as usize].cost
    }

    /// An empty table of reachable states.
    pub(crate) fn table(&self) -> NodeTable {
        let packing = self.mutexes.as_ref().and_then(Mutexes::packing).cloned();
        let words = packing.as_ref().map_or(self.task.words(), |packing| packing.words());
        NodeTable { packing, ..NodeTable::new(words) }
    }
}

/// The initial state with its derived facts.
pub(crate) fn initial_state(task: &GroundTask) -> Vec<u64> {
    let mut state = vec![0; task.words()];
    task.init.iter().for_each(|&f| bits::set(&mut state, f));
    AxiomEvaluator::new(task).close(&mut state, &task.init_numbers);
    state
}

/// Number of a state in the table.
pub(crate) type StateId = u32;

/// No state, no operator, no proposition.
pub(crate) const NONE: u32 = u32::MAX;

/// Set of visited states.
pub(crate) struct NodeTable {
    /// Places of facts, for states that are kept packed.
    packing: Option<Arc<Packing>>,
    /// A packed state.
    row: Vec<u64>,
    /// Words of a state in the arena.
    words: usize,
    arena: Vec<u64>,
    slots: Vec<StateId>,
    parents: Vec<(StateId, u32)>,
}

impl NodeTable {
    /// An empty table of states of `words` words.
    pub(crate) fn new(words: usize) -> Self {
        NodeTable {
            packing: None,
            row: Vec::new(),
            words,
            arena: Vec::new(),
            slots: vec![NONE; 1024],
            parents: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }

    /// A state of a table of the space of a task without known pairs, or of one made by [`NodeTable::new`].
    #[inline]
    pub(crate) fn state(&self, id: StateId) -> &[u64] {
        debug_assert!(self.packing.is_none());
        self.stored(id)
    }

    /// Writes a state over `out`.
    #[inline]
    pub(crate) fn read(&self, id: StateId, out: &mut Vec<u64>) {
        match &self.packing {
            Some(packing) => packing.unpack(self.stored(id), out),
            None => {
                out.clear();
                out.extend_from_slice(self.stored(id));
            }
        }
    }

    #[inline]
    fn stored(&self, id: StateId) -> &[u64] {
        let start = id as usize * self.words;
        &self.arena[start..start + self.words]
    }

    /// The state before and the operator that led here; [`NONE`] for the initial state.
    #[inline]
    pub(crate) fn parent(&self, id: StateId) -> (StateId, u32) {
        self.parents[id as usize]
    }

    pub(crate) fn set_parent(&mut self, id: StateId, parent: StateId, operator: u32) {
        self.parents[id as usize] = (parent, operator);
    }

    #[inline]
    fn hash(state: &[u64]) -> usize {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for &word in state {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        }
        (hash ^ (hash >> 32)) as usize
    }

    /// The number of a state and whether it is new.
    pub(crate) fn insert(&mut self, state: &[u64], parent: StateId, operator: u32) -> (StateId, bool) {
        let Some(packing) = &self.packing else { return self.insert_stored(state, parent, operator) };
        let mut row = std::mem::take(&mut self.row);
        packing.pack(state, &mut row);
        let inserted = self.insert_stored(&row, parent, operator);
        self.row = row;
        inserted
    }

    fn insert_stored(&mut self, state: &[u64], parent: StateId, operator: u32) -> (StateId, bool) {
        if self.parents.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = Self::hash(state) & mask;
        loop {
            let id = self.slots[slot];
            if id == NONE {
                let id = self.parents.len() as StateId;
                self.slots[slot] = id;
                self.arena.extend_from_slice(state);
                self.parents.push((parent, operator));
                return (id, true);
            }
            if self.stored(id) == state {
                return (id, false);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mask = size - 1;
        // The old slots are freed first.
        self.slots = Vec::new();
        let mut slots = vec![NONE; size];
        for id in 0..self.parents.len() as StateId {
            let mut slot = Self::hash(self.stored(id)) & mask;
            while slots[slot] != NONE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = id;
        }
        self.slots = slots;
    }

    /// Operators from the initial state to `id`.
    pub(crate) fn path(&self, id: StateId) -> Vec<u32> {
        let mut path = Vec::new();
        let mut current = self.parent(id);
        while current.1 != NONE {
            path.push(current.1);
            current = self.parent(current.0);
        }
        path.reverse();
        path
    }

    /// Bytes that one more state takes, about.
    pub(crate) fn bytes_per_state(&self) -> u64 {
        8 * self.words as u64 + 8 + 12
    }
}
