//! The delete relaxation: operators without deletes over propositions, which are facts, negations of facts where some
//! condition needs them, and an artificial goal.
//!
//! [`FfHeuristic`] is h_FF on h_add's best supporters, with preferred operators.

use super::space::NONE;
use crate::bits;
use crate::csr::Csr;
use crate::task::{Condition, Fact, GroundTask};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The delete-relaxed task.
pub(crate) struct Relaxed {
    pub(crate) propositions: usize,
    /// True in every state.
    pub(crate) truth: u32,
    /// Added by an operator of cost 0 whose preconditions are the goal.
    pub(crate) goal: u32,
    pub(crate) preconditions: Csr,
    pub(crate) effects: Csr,
    /// Proposition to the operators that need it.
    pub(crate) needed_by: Csr,
    /// The task's operator behind each relaxed operator; [`NONE`] for axioms and the goal.
    pub(crate) origin: Vec<u32>,
    pub(crate) cost: Vec<u64>,
    /// Fact to the proposition of its negation.
    negation: Vec<u32>,
    /// Facts that have one.
    negated: Vec<Fact>,
}

/// State of building the relaxed task.
struct Builder {
    relaxed: Relaxed,
    basic: usize,
}

impl Relaxed {
    /// Relaxes a task with a goal, which need not be the task's. Negations of derived facts count as true: optimistic, so that
    /// nothing reachable is lost.
    pub(crate) fn new(task: &GroundTask, goal: &Condition) -> Self {
        let facts = task.facts.len();
        let mut relaxed = Relaxed {
            propositions: facts,
            truth: 0,
            goal: 0,
            preconditions: Csr::new(),
            effects: Csr::new(),
            needed_by: Csr::new(),
            origin: Vec::new(),
            cost: Vec::new(),
            negation: vec![NONE; facts],
            negated: Vec::new(),
        };
        let conditions = task
            .operators
            .iter()
            .flat_map(|o| std::iter::once(&o.precondition).chain(o.conditional.iter().map(|c| &c.condition)))
            .chain(task.axioms.iter().map(|a| &a.condition))
            .chain(std::iter::once(goal));
        for &fact in conditions.flat_map(|c| c.negative.iter()) {
            if (fact as usize) < task.basic_facts && relaxed.negation[fact as usize] == NONE {
                relaxed.negation[fact as usize] = relaxed.propositions as u32;
                relaxed.negated.push(fact);
                relaxed.propositions += 1;
            }
        }
        relaxed.truth = relaxed.propositions as u32;
        relaxed.goal = relaxed.truth + 1;
        relaxed.propositions += 2;
        let mut builder = Builder { relaxed, basic: task.basic_facts };
        for (o, operator) in task.operators.iter().enumerate() {
            let base = [&operator.precondition];
            builder.push(&base, &operator.add, &operator.delete, o as u32, operator.cost);
            for effect in &operator.conditional {
                let both = [&operator.precondition, &effect.condition];
                builder.push(&both, &effect.add, &effect.delete, o as u32, operator.cost);
            }
        }
        for axiom in &task.axioms {
            builder.push(&[&axiom.condition], &[axiom.head], &[], NONE, 0);
        }
        let reached = builder.relaxed.goal;
        builder.push(&[goal], &[reached], &[], NONE, 0);
        let mut relaxed = builder.relaxed;
        relaxed.needed_by = relaxed.preconditions.transpose(relaxed.propositions);
        relaxed
    }

    pub(crate) fn operators(&self) -> usize {
        self.origin.len()
    }

    /// Calls `f` with each proposition that a state makes true.
    #[inline]
    pub(crate) fn for_each_true(&self, state: &[u64], mut f: impl FnMut(u32)) {
        bits::ones(state).for_each(&mut f);
        for &fact in &self.negated {
            if !bits::get(state, fact) {
                f(self.negation[fact as usize]);
            }
        }
        f(self.truth);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.preconditions.bytes()
            + self.effects.bytes()
            + self.needed_by.bytes()
            + 12 * self.origin.len() as u64
    }
}

impl Builder {
    fn push(&mut self, conditions: &[&Condition], add: &[Fact], delete: &[Fact], origin: u32, cost: u64) {
        let relaxed = &mut self.relaxed;
        let mut pre: Vec<u32> = Vec::new();
        for condition in conditions {
            pre.extend(condition.positive.iter());
            let basic = condition.negative.iter().filter(|f| (**f as usize) < self.basic);
            pre.extend(basic.map(|&f| relaxed.negation[f as usize]));
        }
        pre.sort_unstable();
        pre.dedup();
        let deleted = delete.iter().map(|&f| relaxed.negation.get(f as usize).copied().unwrap_or(NONE));
        let mut effects: Vec<u32> = add.iter().copied().chain(deleted.filter(|&p| p != NONE)).collect();
        effects.retain(|p| !pre.contains(p));
        if effects.is_empty() {
            return;
        }
        if pre.is_empty() {
            pre.push(relaxed.truth);
        }
        relaxed.preconditions.push_row(&pre);
        relaxed.effects.push_row(&effects);
        relaxed.origin.push(origin);
        relaxed.cost.push(cost);
    }
}

/// Evaluator; its tables are reused from state to state.
pub(crate) struct FfHeuristic<'r> {
    relaxed: &'r Relaxed,
    value: Vec<u32>,
    supporter: Vec<u32>,
    operators: Vec<Count>,
    /// The counts at the start: all preconditions, and the cost of the operator as the heuristic counts it.
    fresh: Vec<Count>,
    /// Propositions by value.
    buckets: Vec<Vec<u32>>,
    /// Values beyond the buckets. Sums of sums can be high where plans are short.
    far: BinaryHeap<Reverse<(u32, u32)>>,
    marked: Vec<bool>,
    touched: Vec<u32>,
    /// Propositions of the last relaxed plan.
    used: Vec<u32>,
    in_plan: Vec<bool>,
    stack: Vec<u32>,
    plan: Vec<u32>,
}

/// A cost in units, and one more: steps of cost 0 count too.
pub(super) fn scaled(cost: u64, unit: u64) -> u32 {
    u32::try_from(cost / unit).unwrap_or(u32::MAX - 1) + 1
}

/// Values of an operator during an evaluation. They share a struct because they are read together.
#[derive(Clone, Copy)]
struct Count {
    /// Preconditions not reached yet.
    open: u32,
    /// Cost of the operator plus the values of its preconditions.
    total: u32,
}

const INFINITE: u32 = u32::MAX;
/// Values are capped here, so that sums cannot overflow.
const MOST: u32 = 1 << 20;
/// Values below this have buckets.
const NEAR: u32 = 1 << 12;

impl<'r> FfHeuristic<'r> {
    /// Counts steps or, with a unit, costs. Plans are found with fewer expansions if steps count.
    pub(crate) fn new(relaxed: &'r Relaxed, operators: usize, unit: Option<u64>) -> Self {
        let of = |(&origin, &cost): (&u32, &u64)| match unit {
            _ if origin == NONE => 0,
            None => 1,
            Some(unit) => scaled(cost, unit),
        };
        let open = (0..relaxed.operators()).map(|o| relaxed.preconditions.row(o).len() as u32);
        let totals = relaxed.origin.iter().zip(&relaxed.cost).map(of);
        let fresh: Vec<Count> = open.zip(totals).map(|(open, total)| Count { open, total }).collect();
        FfHeuristic {
            relaxed,
            value: vec![INFINITE; relaxed.propositions],
            supporter: vec![NONE; relaxed.propositions],
            operators: fresh.clone(),
            fresh,
            buckets: Vec::new(),
            far: BinaryHeap::new(),
            marked: vec![false; relaxed.propositions],
            touched: Vec::new(),
            used: Vec::new(),
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

    #[inline]
    fn enqueue(&mut self, proposition: u32, value: u32, supporter: u32) {
        if value < self.value[proposition as usize] {
            self.value[proposition as usize] = value;
            self.supporter[proposition as usize] = supporter;
            if value >= NEAR {
                self.far.push(Reverse((value, proposition)));
                return;
            }
            let bucket = value as usize;
            if bucket >= self.buckets.len() {
                self.buckets.resize_with(bucket + 1, Vec::new);
            }
            self.buckets[bucket].push(proposition);
        }
    }

    /// A proposition of the lowest value, with the value that it was queued with. `bucket` is where the last one was.
    #[inline]
    fn pop(&mut self, bucket: &mut usize) -> Option<(u32, u32)> {
        while let Some(propositions) = self.buckets.get_mut(*bucket) {
            if let Some(proposition) = propositions.pop() {
                return Some((*bucket as u32, proposition));
            }
            *bucket += 1;
        }
        self.far.pop().map(|Reverse(entry)| entry)
    }

    /// Values of all propositions up to the goal's.
    fn explore(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        self.value.fill(INFINITE);
        self.operators.copy_from_slice(&self.fresh);
        self.buckets.iter_mut().for_each(Vec::clear);
        self.far.clear();
        relaxed.for_each_true(state, |p| self.enqueue(p, 0, NONE));
        let mut bucket = 0;
        while let Some((queued, proposition)) = self.pop(&mut bucket) {
            let value = self.value[proposition as usize];
            if value < queued {
                continue;
            }
            if proposition == relaxed.goal {
                return;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let count = &mut self.operators[operator as usize];
                count.total = count.total.saturating_add(value);
                count.open -= 1;
                if count.open == 0 {
                    let total = count.total.min(MOST);
                    for &effect in relaxed.effects.row(operator as usize) {
                        self.enqueue(effect, total, operator);
                    }
                }
            }
        }
    }

    /// The relaxed plan's length or cost.
    fn extract(&mut self, preferred: &mut Vec<u32>) -> u32 {
        let relaxed = self.relaxed;
        self.stack.push(relaxed.goal);
        self.marked[relaxed.goal as usize] = true;
        self.touched.push(relaxed.goal);
        let mut length = 0u32;
        while let Some(proposition) = self.stack.pop() {
            let supporter = self.supporter[proposition as usize];
            if supporter == NONE {
                continue;
            }
            let origin = relaxed.origin[supporter as usize];
            if origin != NONE && !self.in_plan[origin as usize] {
                self.in_plan[origin as usize] = true;
                self.plan.push(origin);
                let cost = self.fresh[supporter as usize].total;
                length = length.saturating_add(cost);
                if self.operators[supporter as usize].total == cost {
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
        self.plan.drain(..).for_each(|o| self.in_plan[o as usize] = false);
        self.touched.iter().for_each(|&p| self.marked[p as usize] = false);
        std::mem::swap(&mut self.touched, &mut self.used);
        self.touched.clear();
        length
    }

    #[cfg(test)]
    pub(super) fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Facts that a relaxed plan of the state uses or adds; `None` where even the delete relaxation does not reach the goal.
    pub(super) fn relaxed_plan_facts(&mut self, state: &[u64]) -> Option<impl Iterator<Item = Fact> + '_> {
        self.evaluate(state, &mut Vec::new())?;
        let facts = self.relaxed.negation.len() as Fact;
        Some(self.used.iter().copied().filter(move |&p| p < facts))
    }
}
