//! Breadth-first search over pairs of states that the same sequence of ground actions leads to.

use super::ready::{Both, NONE};
use super::{ComparedSide, EquivalenceLimits, SearchEnd};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::search::node_table::{NodeTable, StateId};
use crate::simulate::State;
use planforge_pddl::Number;

/// Pairs expanded between two polls of the resource limits.
const POLL: usize = 64;

/// Result of the search, with actions by common index.
pub(super) struct ProductResult {
    pub(super) end: End,
    pub(super) cost: Option<Vec<u32>>,
    pub(super) pairs: u64,
}

/// Reason why the search ended.
pub(super) enum End {
    /// Every pair was expanded.
    Whole,
    /// All sequences of this many steps were executed.
    Limit(u32, SearchEnd),
    /// The sequence's last step is refused.
    Refused(Vec<u32>, ComparedSide),
    /// The goal holds after the sequence on this side only.
    Goal(Vec<u32>, ComparedSide),
}

/// A difference at the pair being expanded.
enum PairDifference {
    Refused(u32, ComparedSide),
    Goal(StateId, ComparedSide),
}

/// State of the search.
struct Product<'b> {
    both: &'b Both,
    /// Cost of each common action on either side; empty if costs are not compared.
    costs: [Vec<Number>; 2],
    table: NodeTable,
    /// Words of the two states in a packed pair.
    widths: [usize; 2],
    now: [State; 2],
    next: [State; 2],
    packed: Vec<u64>,
    own: Vec<u32>,
    applicable: [Vec<u32>; 2],
    /// The first pair and action whose costs differ.
    cost: Option<(StateId, u32)>,
}

/// Searches until a difference is found, all pairs were visited, or a limit is reached.
pub(super) fn search(
    both: &Both,
    priced: bool,
    limits: &EquivalenceLimits,
    resources: &mut dyn ResourceLimits,
) -> ProductResult {
    let mut product = Product::new(both, priced);
    let mut compared = 0;
    let end = product.run(limits, &mut compared, resources);
    let end = end.unwrap_or_else(|reason| End::Limit(compared, SearchEnd::Stopped(reason)));
    let cost = product.cost.map(|(node, action)| product.sequence(node, action));
    ProductResult { end, cost, pairs: product.table.len() as u64 }
}

impl<'b> Product<'b> {
    fn new(both: &'b Both, priced: bool) -> Self {
        let sides = &both.sides;
        let initial = || [sides[0].simulator.initial(), sides[1].simulator.initial()];
        let now = initial();
        let widths = [0, 1].map(|i: usize| now[i].facts.len() + 4 * now[i].numbers.len());
        let costs = sides.each_ref().map(|side| {
            let cost = |&a: &u32| if a == NONE { Number::ZERO } else { side.simulator.cost(a) };
            if priced { side.action.iter().map(cost).collect() } else { Vec::new() }
        });
        Product {
            both,
            costs,
            table: NodeTable::new(widths[0] + widths[1]),
            widths,
            now,
            next: initial(),
            packed: Vec::new(),
            own: Vec::new(),
            applicable: [Vec::new(), Vec::new()],
            cost: None,
        }
    }

    fn run(
        &mut self,
        limits: &EquivalenceLimits,
        compared: &mut u32,
        resources: &mut dyn ResourceLimits,
    ) -> Result<End, StopReason> {
        let (start, _) = self.insert(crate::search::node_table::NONE, NONE);
        if let Some(PairDifference::Goal(_, side)) = self.goal(start) {
            return Ok(End::Goal(Vec::new(), side));
        }
        let (mut open, mut layer_end, mut charged) = (0, 1, 0);
        while open < self.table.len() {
            if open == layer_end {
                *compared += 1;
                layer_end = self.table.len();
            }
            if limits.max_depth == Some(*compared) {
                return Ok(End::Limit(*compared, SearchEnd::Depth));
            }
            if self.table.len() as u64
                > limits.max_pairs.min(u64::from(NONE - 1 - self.both.steps.len() as u32))
            {
                return Ok(End::Limit(*compared, SearchEnd::Pairs));
            }
            if open.is_multiple_of(POLL) {
                check(resources.poll())?;
                let fresh = (self.table.len() - charged) as u64;
                check(resources.charge(fresh * self.table.bytes_per_state()))?;
                charged = self.table.len();
            }
            match self.expand(open as StateId) {
                None => open += 1,
                Some(PairDifference::Refused(action, by)) => {
                    return Ok(End::Refused(self.sequence(open as StateId, action), by));
                }
                Some(PairDifference::Goal(node, side)) => return Ok(End::Goal(self.table.path(node), side)),
            }
        }
        Ok(End::Whole)
    }

    fn sequence(&self, node: StateId, action: u32) -> Vec<u32> {
        let mut path = self.table.path(node);
        path.push(action);
        path
    }

    /// Tries every action of either side, in their common order.
    fn expand(&mut self, node: StateId) -> Option<PairDifference> {
        self.load(node);
        for (i, side) in self.both.sides.iter().enumerate() {
            side.simulator.applicable_into(&self.now[i], &mut self.own);
            let list = &mut self.applicable[i];
            list.clear();
            list.extend(self.own.iter().map(|&a| side.rank[a as usize]).filter(|&r| r != NONE));
            list.sort_unstable();
        }
        for at in 0.. {
            let pair = [0, 1].map(|i: usize| self.applicable[i].get(at).copied());
            match pair {
                [Some(a), Some(b)] if a == b => {
                    if let Some(found) = self.step(node, a) {
                        return Some(found);
                    }
                }
                [None, None] => break,
                // The lists are sorted: what is smaller here is not in the other.
                [a, b] => {
                    let (a, b) = (a.unwrap_or(NONE), b.unwrap_or(NONE));
                    let by = if a < b { ComparedSide::Second } else { ComparedSide::First };
                    return Some(PairDifference::Refused(a.min(b), by));
                }
            }
        }
        None
    }

    /// Executes an action that both allow.
    fn step(&mut self, node: StateId, action: u32) -> Option<PairDifference> {
        for (i, side) in self.both.sides.iter().enumerate() {
            self.next[i].clone_from(&self.now[i]);
            side.simulator.apply(&mut self.next[i], side.action[action as usize]);
        }
        if self.cost.is_none() && !self.costs[0].is_empty() {
            let [a, b] = [0, 1].map(|i: usize| self.costs[i][action as usize]);
            if a != b {
                self.cost = Some((node, action));
            }
        }
        let (reached, fresh) = self.insert(node, action);
        if fresh { self.goal(reached) } else { None }
    }

    /// Returns the difference if exactly one goal holds in the pair inserted last.
    fn goal(&self, node: StateId) -> Option<PairDifference> {
        let [a, b] = [0, 1].map(|i: usize| self.both.sides[i].simulator.is_goal(&self.next[i]));
        (a != b)
            .then_some(PairDifference::Goal(node, if a { ComparedSide::First } else { ComparedSide::Second }))
    }

    /// Puts the pair in `next` into the table.
    fn insert(&mut self, parent: StateId, action: u32) -> (StateId, bool) {
        self.packed.clear();
        for state in &self.next {
            self.packed.extend_from_slice(&state.facts);
            self.packed.extend(state.numbers.iter().flat_map(|n| n.to_words()));
        }
        self.table.insert(&self.packed, parent, action)
    }

    /// Puts a pair of the table into `now`.
    fn load(&mut self, node: StateId) {
        let mut words = self.table.state(node);
        for (state, &width) in self.now.iter_mut().zip(&self.widths) {
            let (own, rest) = words.split_at(width);
            let (facts, numbers) = own.split_at(state.facts.len());
            state.facts.copy_from_slice(facts);
            let numbers = numbers.as_chunks().0;
            state.numbers.iter_mut().zip(numbers).for_each(|(n, words)| *n = Number::from_words(*words));
            words = rest;
        }
    }
}
