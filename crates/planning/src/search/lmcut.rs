//! The LM-cut heuristic: disjunctive action landmarks found as cuts in the justification graph of h_max.

use super::relaxed::{NONE, Relaxed};

const INFINITE: u32 = u32::MAX;

/// Where a proposition lies relative to the cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Unseen,
    Goal,
    Before,
}

/// Evaluator; its tables are reused from state to state.
pub(crate) struct LmCut<'r> {
    relaxed: &'r Relaxed,
    /// Costs left by the landmarks found so far.
    cost: Vec<u32>,
    value: Vec<u32>,
    /// The precondition with the highest value.
    supporter: Vec<u32>,
    supporter_value: Vec<u32>,
    open: Vec<u32>,
    open_template: Vec<u32>,
    /// Proposition to the operators that add it.
    added_by: crate::csr::Csr,
    zone: Vec<Zone>,
    queue: Queue,
    stack: Vec<u32>,
    cut: Vec<u32>,
}

/// A priority queue of propositions: buckets while values are small, a heap otherwise.
struct Queue {
    buckets: Vec<Vec<u32>>,
    heap: std::collections::BinaryHeap<std::cmp::Reverse<(u32, u32)>>,
    current: usize,
}

/// Values below this go to buckets.
const NEAR: usize = 1024;

impl Queue {
    fn new() -> Self {
        Queue { buckets: vec![Vec::new(); NEAR], heap: std::collections::BinaryHeap::new(), current: NEAR }
    }

    #[inline]
    fn push(&mut self, value: u32, proposition: u32) {
        if (value as usize) < NEAR {
            self.buckets[value as usize].push(proposition);
            self.current = self.current.min(value as usize);
        } else {
            self.heap.push(std::cmp::Reverse((value, proposition)));
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, u32)> {
        while self.current < NEAR {
            if let Some(proposition) = self.buckets[self.current].pop() {
                return Some((self.current as u32, proposition));
            }
            self.current += 1;
        }
        self.heap.pop().map(|std::cmp::Reverse(entry)| entry)
    }
}

impl<'r> LmCut<'r> {
    pub(crate) fn new(relaxed: &'r Relaxed) -> Self {
        let operators = relaxed.operators();
        let open_template: Vec<u32> =
            (0..operators).map(|o| relaxed.preconditions.row(o).len() as u32).collect();
        LmCut {
            relaxed,
            cost: relaxed.cost.clone(),
            value: vec![INFINITE; relaxed.propositions],
            supporter: vec![NONE; operators],
            supporter_value: vec![0; operators],
            open: open_template.clone(),
            open_template,
            added_by: relaxed.effects.transpose(relaxed.propositions),
            zone: vec![Zone::Unseen; relaxed.propositions],
            queue: Queue::new(),
            stack: Vec::new(),
            cut: Vec::new(),
        }
    }

    /// A lower bound on the cost to the goal; `None` where the delete relaxation does not reach it.
    pub(crate) fn evaluate(&mut self, state: &[u64]) -> Option<u32> {
        let relaxed = self.relaxed;
        self.cost.copy_from_slice(&relaxed.cost);
        self.value.fill(INFINITE);
        self.open.copy_from_slice(&self.open_template);
        self.explore(state);
        let goal = relaxed.goal as usize;
        if self.value[goal] == INFINITE {
            return None;
        }
        let mut total = 0u32;
        while self.value[goal] != 0 {
            self.zone.fill(Zone::Unseen);
            self.mark_goal_zone();
            self.find_cut(state);
            let least = self.cut.iter().map(|&o| self.cost[o as usize]).min().unwrap_or(0);
            if least == 0 {
                // Cannot happen while the goal's value is positive; ending here keeps the bound admissible in any case.
                return Some(total);
            }
            total = total.saturating_add(least);
            for &o in &self.cut {
                self.cost[o as usize] -= least;
            }
            self.update_values();
        }
        Some(total)
    }

    #[inline]
    fn enqueue(&mut self, proposition: u32, value: u32) {
        if value < self.value[proposition as usize] {
            self.value[proposition as usize] = value;
            self.queue.push(value, proposition);
        }
    }

    /// h_max of all propositions.
    fn explore(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        relaxed.for_each_true(state, |p| self.enqueue(p, 0));
        while let Some((value, proposition)) = self.queue.pop() {
            if self.value[proposition as usize] < value {
                continue;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let o = operator as usize;
                self.open[o] -= 1;
                if self.open[o] == 0 {
                    self.supporter[o] = proposition;
                    self.supporter_value[o] = value;
                    let target = value.saturating_add(self.cost[o]);
                    for &effect in relaxed.effects.row(o) {
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
                let o = operator as usize;
                if self.cost[o] == 0 && self.open[o] == 0 {
                    let supporter = self.supporter[o] as usize;
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
                let o = operator as usize;
                if self.supporter[o] != proposition || self.open[o] != 0 {
                    continue;
                }
                let mut enters = false;
                for &effect in relaxed.effects.row(o) {
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
            let o = operator as usize;
            let target = self.supporter_value[o].saturating_add(self.cost[o]);
            for &effect in relaxed.effects.row(o) {
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
                if self.supporter[o] != proposition || self.open[o] != 0 || self.supporter_value[o] <= value {
                    continue;
                }
                let (supporter, highest) = self.highest_precondition(o);
                self.supporter[o] = supporter;
                if highest != self.supporter_value[o] {
                    self.supporter_value[o] = highest;
                    let target = highest.saturating_add(self.cost[o]);
                    for &effect in relaxed.effects.row(o) {
                        self.enqueue(effect, target);
                    }
                }
            }
        }
    }

    #[inline]
    fn highest_precondition(&self, o: usize) -> (u32, u32) {
        let mut best = (NONE, 0);
        for &p in self.relaxed.preconditions.row(o) {
            let value = self.value[p as usize];
            if best.0 == NONE || value > best.1 {
                best = (p, value);
            }
        }
        best
    }
}
