//! The LM-cut heuristic: disjunctive action landmarks found as cuts in the justification graph of h_max.

use super::cost::Cost;
use super::relaxed::{NONE, Relaxed};

/// Side of the cut that a proposition is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Unseen,
    Goal,
    Before,
}

/// Values of an operator during an evaluation. They share a struct because they are read together.
#[derive(Clone, Copy)]
struct OperatorState<C> {
    /// Cost left by the landmarks found so far.
    cost: C,
    /// Preconditions not reached yet.
    open: u32,
    /// The precondition with the highest value.
    supporter: u32,
    /// Value of that precondition.
    highest: C,
}

/// Evaluator; its tables are reused from state to state.
pub(crate) struct LmCut<'r, C> {
    relaxed: &'r Relaxed,
    operators: Vec<OperatorState<C>>,
    /// Initial values of `operators`.
    fresh: Vec<OperatorState<C>>,
    value: Vec<C>,
    /// Proposition to the operators that add it.
    added_by: crate::simulate::Csr,
    zone: Vec<Zone>,
    queue: Queue<C>,
    stack: Vec<u32>,
    cut: Vec<u32>,
}

/// A priority queue of propositions: buckets while values are small, a heap otherwise.
struct Queue<C> {
    buckets: Vec<Vec<u32>>,
    heap: std::collections::BinaryHeap<std::cmp::Reverse<(C, u32)>>,
    current: usize,
    /// Entries in the buckets.
    near: usize,
}

/// Values below this go to buckets.
const NEAR: usize = 1024;

impl<C: Cost> Queue<C> {
    fn new() -> Self {
        Queue {
            buckets: vec![Vec::new(); NEAR],
            heap: std::collections::BinaryHeap::new(),
            current: NEAR,
            near: 0,
        }
    }

    #[inline]
    fn push(&mut self, value: C, proposition: u32) {
        if let Some(bucket) = value.below(NEAR) {
            self.buckets[bucket].push(proposition);
            self.near += 1;
            self.current = self.current.min(bucket);
        } else {
            self.heap.push(std::cmp::Reverse((value, proposition)));
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(C, u32)> {
        while self.near > 0 {
            if let Some(proposition) = self.buckets[self.current].pop() {
                self.near -= 1;
                return Some((C::from_index(self.current), proposition));
            }
            self.current += 1;
        }
        self.current = NEAR;
        self.heap.pop().map(|std::cmp::Reverse(entry)| entry)
    }
}

impl<'r, C: Cost> LmCut<'r, C> {
    pub(crate) fn new(relaxed: &'r Relaxed) -> Self {
        let fresh: Vec<OperatorState<C>> = (0..relaxed.operators())
            .map(|o| OperatorState {
                cost: C::of(relaxed.cost[o]),
                open: relaxed.preconditions.row(o).len() as u32,
                supporter: NONE,
                highest: C::default(),
            })
            .collect();
        LmCut {
            relaxed,
            operators: fresh.clone(),
            fresh,
            value: vec![C::INFINITE; relaxed.propositions],
            added_by: relaxed.effects.transpose(relaxed.propositions),
            zone: vec![Zone::Unseen; relaxed.propositions],
            queue: Queue::new(),
            stack: Vec::new(),
            cut: Vec::new(),
        }
    }

    /// A lower bound on the cost to the goal; `None` where the delete relaxation does not reach it.
    pub(crate) fn evaluate(&mut self, state: &[u64]) -> Option<C> {
        let relaxed = self.relaxed;
        self.operators.copy_from_slice(&self.fresh);
        self.value.fill(C::INFINITE);
        self.explore(state);
        let goal = relaxed.goal as usize;
        if self.value[goal] == C::INFINITE {
            return None;
        }
        let mut total = C::default();
        while self.value[goal] != C::default() {
            self.zone.fill(Zone::Unseen);
            self.mark_goal_zone();
            self.find_cut(state);
            let least = self.cut.iter().map(|&o| self.operators[o as usize].cost).min().unwrap_or_default();
            if least == C::default() {
                // Cannot happen while the goal's value is positive; ending here keeps the bound admissible in any case.
                return Some(total);
            }
            total = total + least;
            for &o in &self.cut {
                let cost = &mut self.operators[o as usize].cost;
                *cost = cost.minus(least);
            }
            self.update_values();
        }
        Some(total)
    }

    /// h_max, which applies to conditional effects and axioms too: it counts no step twice. `None` as for [`LmCut::evaluate`].
    pub(crate) fn h_max(&mut self, state: &[u64]) -> Option<C> {
        self.operators.copy_from_slice(&self.fresh);
        self.value.fill(C::INFINITE);
        self.explore(state);
        let value = self.value[self.relaxed.goal as usize];
        (value != C::INFINITE).then_some(value)
    }

    #[inline]
    fn enqueue(&mut self, proposition: u32, value: C) {
        if value < self.value[proposition as usize] {
            self.value[proposition as usize] = value;
            self.queue.push(value, proposition);
        }
    }

    /// h_max of all propositions.
    fn explore(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        relaxed.for_each_true(state, |p| self.enqueue(p, C::default()));
        while let Some((value, proposition)) = self.queue.pop() {
            if self.value[proposition as usize] < value {
                continue;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let shape = &mut self.operators[operator as usize];
                shape.open -= 1;
                if shape.open == 0 {
                    shape.supporter = proposition;
                    shape.highest = value;
                    let target = value + shape.cost;
                    for &effect in relaxed.effects.row(operator as usize) {
                        self.enqueue(effect, target);
                    }
                }
            }
        }
    }

    /// Propositions from which the goal is reached at no cost through supporters.
    fn mark_goal_zone(&mut self) {
        let relaxed = self.relaxed;
        self.zone[relaxed.goal as usize] = Zone::Goal;
        self.stack.push(relaxed.goal);
        while let Some(proposition) = self.stack.pop() {
            for &operator in self.added_by.row(proposition as usize) {
                let shape = self.operators[operator as usize];
                if shape.cost == C::default() && shape.open == 0 {
                    let supporter = shape.supporter as usize;
                    if self.zone[supporter] == Zone::Unseen {
                        self.zone[supporter] = Zone::Goal;
                        self.stack.push(supporter as u32);
                    }
                }
            }
        }
    }

    /// Operators that lead from what is reachable outside the goal zone into it.
    fn find_cut(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        self.cut.clear();
        let (zone, stack) = (&mut self.zone, &mut self.stack);
        relaxed.for_each_true(state, |p| {
            if zone[p as usize] == Zone::Unseen {
                zone[p as usize] = Zone::Before;
                stack.push(p);
            }
        });
        while let Some(proposition) = self.stack.pop() {
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let shape = self.operators[operator as usize];
                if shape.supporter != proposition || shape.open != 0 {
                    continue;
                }
                let mut enters = false;
                for &effect in relaxed.effects.row(operator as usize) {
                    let zone = &mut self.zone[effect as usize];
                    match zone {
                        Zone::Goal => enters = true,
                        Zone::Before => {}
                        Zone::Unseen => {
                            *zone = Zone::Before;
                            self.stack.push(effect);
                        }
                    }
                }
                if enters {
                    self.cut.push(operator);
                }
            }
        }
    }

    /// h_max after the costs of the cut fell.
    fn update_values(&mut self) {
        let relaxed = self.relaxed;
        let cut = std::mem::take(&mut self.cut);
        for &operator in &cut {
            let shape = self.operators[operator as usize];
            let target = shape.highest + shape.cost;
            for &effect in relaxed.effects.row(operator as usize) {
                self.enqueue(effect, target);
            }
        }
        self.cut = cut;
        while let Some((value, proposition)) = self.queue.pop() {
            if self.value[proposition as usize] < value {
                continue;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let o = operator as usize;
                let shape = self.operators[o];
                if shape.supporter != proposition || shape.open != 0 || shape.highest <= value {
                    continue;
                }
                let (supporter, highest) = self.highest_precondition(o);
                self.operators[o].supporter = supporter;
                if highest != shape.highest {
                    self.operators[o].highest = highest;
                    let target = highest + shape.cost;
                    for &effect in relaxed.effects.row(o) {
                        self.enqueue(effect, target);
                    }
                }
            }
        }
    }

    #[inline]
    fn highest_precondition(&self, o: usize) -> (u32, C) {
        let mut best = (NONE, C::default());
        for &p in self.relaxed.preconditions.row(o) {
            let value = self.value[p as usize];
            if best.0 == NONE || value > best.1 {
                best = (p, value);
            }
        }
        best
    }
}
