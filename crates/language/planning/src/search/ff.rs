//! The FF heuristic on h_add's best supporters, with preferred operators.

use super::relaxed::{NONE, Relaxed};

/// Evaluator; its tables are reused from state to state.
pub(crate) struct FfHeuristic<'r> {
    relaxed: &'r Relaxed,
    /// Cost of each operator as the heuristic counts it.
    cost: Vec<u32>,
    value: Vec<u32>,
    supporter: Vec<u32>,
    /// Preconditions not reached yet.
    open: Vec<u32>,
    open_template: Vec<u32>,
    /// Cost of the operator plus the values of its preconditions.
    total: Vec<u32>,
    buckets: Vec<Vec<u32>>,
    marked: Vec<bool>,
    touched: Vec<u32>,
    in_plan: Vec<bool>,
    stack: Vec<u32>,
    plan: Vec<u32>,
}

const INFINITE: u32 = u32::MAX;
/// Values are capped here, so that sums cannot overflow.
const MOST: u32 = 1 << 20;

impl<'r> FfHeuristic<'r> {
    /// Counts steps (not costs): plans are found with fewer expansions.
    pub(crate) fn new(relaxed: &'r Relaxed, operators: usize) -> Self {
        let cost = relaxed.origin.iter().map(|&o| u32::from(o != NONE)).collect();
        let open_template: Vec<u32> =
            (0..relaxed.operators()).map(|o| relaxed.preconditions.row(o).len() as u32).collect();
        FfHeuristic {
            relaxed,
            cost,
            value: vec![INFINITE; relaxed.propositions],
            supporter: vec![NONE; relaxed.propositions],
            open: open_template.clone(),
            total: vec![0; relaxed.operators()],
            open_template,
            buckets: Vec::new(),
            marked: vec![false; relaxed.propositions],
            touched: Vec::new(),
            in_plan: vec![false; operators],
            stack: Vec::new(),
            plan: Vec::new(),
        }
    }

    /// The heuristic value and, in `preferred`, the applicable operators of the relaxed plan; `None` where even the delete
    /// relaxation does not reach the goal.
    pub(crate) fn evaluate(&mut self, state: &[u64], preferred: &mut Vec<u32>) -> Option<u32> {
        preferred.clear();
        self.explore(state);
        if self.value[self.relaxed.goal as usize] == INFINITE {
            return None;
        }
        Some(self.extract(preferred))
    }

    fn enqueue(&mut self, proposition: u32, value: u32, supporter: u32) {
        let value = value.min(MOST);
        if value < self.value[proposition as usize] {
            self.value[proposition as usize] = value;
            self.supporter[proposition as usize] = supporter;
            let bucket = value as usize;
            if bucket >= self.buckets.len() {
                self.buckets.resize_with(bucket + 1, Vec::new);
            }
            self.buckets[bucket].push(proposition);
        }
    }

    /// Values of all propositions up to the goal's.
    fn explore(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        self.value.fill(INFINITE);
        self.open.copy_from_slice(&self.open_template);
        self.total.copy_from_slice(&self.cost);
        for bucket in &mut self.buckets {
            bucket.clear();
        }
        relaxed.for_each_true(state, |p| self.enqueue(p, 0, NONE));
        let mut bucket = 0;
        while bucket < self.buckets.len() {
            let Some(proposition) = self.buckets[bucket].pop() else {
                bucket += 1;
                continue;
            };
            let value = self.value[proposition as usize];
            if (value as usize) < bucket {
                continue;
            }
            if proposition == relaxed.goal {
                return;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let o = operator as usize;
                self.total[o] = self.total[o].saturating_add(value);
                self.open[o] -= 1;
                if self.open[o] == 0 {
                    let total = self.total[o];
                    for &effect in relaxed.effects.row(o) {
                        self.enqueue(effect, total, operator);
                    }
                }
            }
        }
    }

    /// The relaxed plan's length.
    fn extract(&mut self, preferred: &mut Vec<u32>) -> u32 {
        let relaxed = self.relaxed;
        self.stack.push(relaxed.goal);
        self.marked[relaxed.goal as usize] = true;
        self.touched.push(relaxed.goal);
        while let Some(proposition) = self.stack.pop() {
            let supporter = self.supporter[proposition as usize];
            if supporter == NONE {
                continue;
            }
            let origin = relaxed.origin[supporter as usize];
            if origin != NONE && !self.in_plan[origin as usize] {
                self.in_plan[origin as usize] = true;
                self.plan.push(origin);
                if self.total[supporter as usize] == self.cost[supporter as usize] {
                    preferred.push(origin);
                }
            }
            for &p in relaxed.preconditions.row(supporter as usize) {
                if !std::mem::replace(&mut self.marked[p as usize], true) {
                    self.touched.push(p);
                    self.stack.push(p);
                }
            }
        }
        let length = self.plan.len() as u32;
        self.plan.drain(..).for_each(|o| self.in_plan[o as usize] = false);
        self.touched.drain(..).for_each(|p| self.marked[p as usize] = false);
        length
    }
}
