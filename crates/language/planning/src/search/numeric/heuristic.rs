//! Heuristic values from the relaxation with numbers: a relaxed plan whose actions have a number of applications, and the same plan after its
//! consumption was made up for.
//!
//! The exploration computes h_add, where a comparison costs as many applications as its distance needs. The relaxed plan follows the best supporters.
//! Then it is balanced. Actions that lower a function which their own condition needs to be high are its consumers (of fuel, money, goods, room): the plan must
//! raise the function by as much as they take. Goals on numbers must hold after all changes of the plan. Producers of the missing amounts are
//! added, with their preconditions.

use super::relaxed::Relaxed;
use super::space::World;
use crate::search::space::NONE;
use crate::task::GroundTask;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const INFINITE: u32 = u32::MAX;
/// Values are capped here, so that sums cannot overflow.
const MOST: u32 = 1 << 28;
/// Applications of an action whose effect does not help in the present state, but may in another.
const IDLE: f64 = 1000.0;
/// Most applications of one action.
const MAX_TIMES: f64 = 1e6;
/// Amounts below this are rounding.
const TINY: f64 = 1e-7;

/// Values of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Estimate {
    /// Cost of the balanced relaxed plan.
    pub(super) balanced: u32,
    /// Cost of the relaxed plan.
    pub(super) plain: u32,
}

/// Values of a relaxed operator during an evaluation.
#[derive(Clone, Copy)]
struct Count {
    /// Preconditions not reached yet.
    open: u32,
    /// Cost of the operator plus the values of its preconditions.
    total: u32,
}

/// A way to raise a function.
#[derive(Clone, Copy)]
struct Producer {
    cost: f64,
    row: u32,
    affect: usize,
}

const NO_PRODUCER: Producer = Producer { cost: f64::INFINITY, row: NONE, affect: 0 };

/// Changes of a function by a relaxed plan.
#[derive(Clone, Copy)]
struct Flow {
    added: f64,
    /// Everything taken.
    taken: f64,
    /// Taken by operators that need the function to be high.
    consumed: f64,
    /// Lowest value after the last of those, or infinity without them.
    floor: f64,
    is_waiting: bool,
}

const NO_FLOW: Flow = Flow { added: 0.0, taken: 0.0, consumed: 0.0, floor: f64::INFINITY, is_waiting: false };

/// Evaluator; its tables are reused from state to state.
pub(super) struct Heuristic<'r> {
    task: &'r GroundTask,
    relaxed: &'r Relaxed,
    /// Cost of one application of each relaxed operator.
    cost: Vec<u32>,
    fresh: Vec<Count>,
    rows: Vec<Count>,
    value: Vec<u32>,
    /// Supporter of each proposition, and for comparisons its entry of the changes.
    supporter: Vec<(u32, usize)>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    floats: Vec<f64>,
    /// Value and size of each function.
    levels: Vec<(f64, f64)>,
    /// For each function the largest distance that a comparison still needs.
    gap: Vec<f64>,
    /// Change by each entry, and the number of the evaluation that computed it where it depends on the state.
    change: Vec<f64>,
    computed: Vec<u32>,
    evaluation: u32,
    /// For each function the producer that covers its distance at the least cost, and the one with the largest change.
    producers: Vec<[Producer; 2]>,
    // The relaxed plan.
    times: Vec<f64>,
    used: Vec<u32>,
    marked: Vec<bool>,
    touched: Vec<u32>,
    stack: Vec<u32>,
    flows: Vec<Flow>,
    flowing: Vec<u32>,
    queue: Vec<u32>,
    by_origin: Vec<f64>,
}

impl<'r> Heuristic<'r> {
    /// `cost` gives the cost of each of the task's operators, 1 or more.
    pub(super) fn new(task: &'r GroundTask, relaxed: &'r Relaxed, cost: impl Fn(u32) -> u32) -> Self {
        let cost: Vec<u32> = relaxed.origin.iter().map(|&o| if o == NONE { 0 } else { cost(o) }).collect();
        let open = (0..relaxed.rows()).map(|row| relaxed.preconditions.row(row).len() as u32);
        let fresh: Vec<Count> = open.zip(&cost).map(|(open, &total)| Count { open, total }).collect();
        let functions = relaxed.functions.len();
        Heuristic {
            task,
            relaxed,
            rows: fresh.clone(),
            fresh,
            value: vec![INFINITE; relaxed.propositions],
            supporter: vec![(NONE, 0); relaxed.propositions],
            heap: BinaryHeap::new(),
            floats: Vec::new(),
            levels: vec![(0.0, 0.0); functions],
            gap: vec![0.0; functions],
            change: relaxed.affects.iter().map(|a| a.delta).collect(),
            computed: relaxed.affects.iter().map(|a| if a.delta.is_nan() { 0 } else { NONE }).collect(),
            evaluation: 0,
            producers: Vec::new(),
            times: vec![0.0; cost.len()],
            cost,
            used: Vec::new(),
            marked: vec![false; relaxed.propositions],
            touched: Vec::new(),
            stack: Vec::new(),
            flows: vec![NO_FLOW; functions],
            flowing: Vec::new(),
            queue: Vec::new(),
            by_origin: vec![0.0; task.operators.len()],
        }
    }

    /// The values; `None` where the goal cannot be reached. Writes the applicable operators of the relaxed plan over `preferred`, and those that raise a
    /// function which it needs to be higher over `helpful`.
    pub(super) fn evaluate(
        &mut self,
        world: &World,
        preferred: &mut Vec<u32>,
        helpful: &mut Vec<u32>,
    ) -> Option<Estimate> {
        preferred.clear();
        helpful.clear();
        self.explore(world);
        if self.value[self.relaxed.goal as usize] == INFINITE {
            return None;
        }
        Some(self.extract(preferred, helpful))
    }

    #[inline]
    fn enqueue(&mut self, proposition: u32, value: u32, supporter: (u32, usize)) {
        if value < self.value[proposition as usize] {
            self.value[proposition as usize] = value;
            self.supporter[proposition as usize] = supporter;
            self.heap.push(Reverse((value, proposition)));
        }
    }

    /// Values of all propositions.
    fn explore(&mut self, world: &World) {
        let relaxed = self.relaxed;
        self.evaluation = (self.evaluation + 1) % NONE;
        if self.evaluation == 0 {
            self.evaluation = 1;
        }
        self.value.fill(INFINITE);
        self.rows.copy_from_slice(&self.fresh);
        self.producers.clear();
        self.producers.resize(relaxed.functions.len(), [NO_PRODUCER; 2]);
        self.floats.clear();
        self.floats.extend(world.numbers.iter().map(|n| n.to_f64()));
        for (level, function) in self.levels.iter_mut().zip(&relaxed.functions) {
            *level = function.value(&self.floats);
        }
        self.gap.fill(1.0);
        relaxed.for_each_true(&world.facts, |p| self.enqueue(p, 0, (NONE, 0)));
        for (c, comparison) in relaxed.comparisons.iter().enumerate() {
            let level = self.levels[comparison.function as usize];
            if comparison.holds(level, &world.numbers) {
                self.enqueue(relaxed.first_comparison + c as u32, 0, (NONE, 0));
            } else {
                let gap = &mut self.gap[comparison.function as usize];
                *gap = gap.max(comparison.bound - level.0);
            }
        }
        while let Some(Reverse((value, proposition))) = self.heap.pop() {
            if value > self.value[proposition as usize] {
                continue;
            }
            for &row in relaxed.needed_by.row(proposition as usize) {
                let count = &mut self.rows[row as usize];
                count.total = count.total.saturating_add(value).min(MOST);
                count.open -= 1;
                if count.open == 0 {
                    self.reach(row);
                }
            }
        }
    }

    /// A relaxed operator whose preconditions are reached.
    fn reach(&mut self, row: u32) {
        let relaxed = self.relaxed;
        let total = self.rows[row as usize].total;
        for &effect in relaxed.effects.row(row as usize) {
            self.enqueue(effect, total, (row, 0));
        }
        let cost = f64::from(self.cost[row as usize]);
        let before = f64::from(total) - cost;
        for a in relaxed.affects_of(row) {
            let affect = &relaxed.affects[a];
            let f = affect.function as usize;
            let level = self.levels[f].0;
            let is_constant = !affect.delta.is_nan();
            if is_constant && affect.delta < 0.0 {
                continue;
            }
            let of = relaxed.comparisons_of.row(f);
            let is_new = |c: &u32| self.value[(relaxed.first_comparison + c) as usize] > total;
            let is_goal = relaxed.goal_bound[f] > f64::NEG_INFINITY;
            if !is_constant
                && !is_goal
                && self.producers[f][0].cost <= f64::from(total)
                && !of.iter().any(is_new)
            {
                continue;
            }
            let change = self.change_by(a);
            for &c in of {
                let comparison = &relaxed.comparisons[c as usize];
                let proposition = relaxed.first_comparison + c;
                if self.value[proposition as usize] == 0 {
                    continue;
                }
                if affect.target < comparison.bound - 1e-5 * (1.0 + comparison.bound.abs()) {
                    continue;
                }
                let times = applications(comparison.bound - level, change);
                let value = (before + cost * times).min(f64::from(MOST)) as u32;
                self.enqueue(proposition, value, (row, a));
            }
            if change > TINY {
                let cost = before + cost * (self.gap[f] / change).max(1.0);
                let [cheap, strong] = &mut self.producers[f];
                if cost < cheap.cost {
                    *cheap = Producer { cost, row, affect: a };
                }
                if strong.row == NONE || change > self.change[strong.affect] {
                    *strong = Producer { cost, row, affect: a };
                }
            }
        }
    }

    /// The change by an entry in the present state.
    fn change_by(&mut self, a: usize) -> f64 {
        if self.computed[a] != NONE && self.computed[a] != self.evaluation {
            self.computed[a] = self.evaluation;
            let affect = &self.relaxed.affects[a];
            self.change[a] = if affect.target.is_nan() {
                self.relaxed.change(self.task, affect.row, affect.function, &mut self.floats)
            } else {
                affect.target - self.levels[affect.function as usize].0
            };
        }
        self.change[a]
    }

    /// The relaxed plan.
    fn extract(&mut self, preferred: &mut Vec<u32>, helpful: &mut Vec<u32>) -> Estimate {
        self.require(self.relaxed.goal);
        self.support();
        let plain = self.length();
        if !self.balance(0) {
            // The cheap producers consume more than they bring.
            self.clear();
            self.require(self.relaxed.goal);
            self.support();
            self.balance(1);
        }
        let balanced = self.length();
        for &row in &self.used {
            let origin = self.relaxed.origin[row as usize];
            if origin != NONE && self.rows[row as usize].total == self.cost[row as usize] {
                preferred.push(origin);
            }
        }
        self.add_producers(helpful);
        self.clear();
        Estimate { balanced, plain }
    }

    /// Adds the applicable operators that raise a function which the relaxed plan needs to be higher.
    fn add_producers(&mut self, helpful: &mut Vec<u32>) {
        let relaxed = self.relaxed;
        for i in 0..self.touched.len() {
            let p = self.touched[i];
            let Some(c) = p.checked_sub(relaxed.first_comparison).filter(|_| self.value[p as usize] > 0)
            else {
                continue;
            };
            for &a in relaxed.affects_on.row(relaxed.comparisons[c as usize].function as usize) {
                let row = relaxed.affects[a as usize].row as usize;
                let count = self.rows[row];
                if count.open == 0 && count.total == self.cost[row] && self.change_by(a as usize) > TINY {
                    helpful.push(relaxed.origin[row]);
                }
            }
        }
    }

    fn clear(&mut self) {
        self.used.drain(..).for_each(|row| self.times[row as usize] = 0.0);
        self.touched.drain(..).for_each(|p| self.marked[p as usize] = false);
        self.flowing.drain(..).for_each(|f| self.flows[f as usize] = NO_FLOW);
    }

    fn require(&mut self, proposition: u32) {
        if !std::mem::replace(&mut self.marked[proposition as usize], true) {
            self.touched.push(proposition);
            self.stack.push(proposition);
        }
    }

    /// Adds supporters of all required propositions.
    fn support(&mut self) {
        let relaxed = self.relaxed;
        while let Some(proposition) = self.stack.pop() {
            if self.value[proposition as usize] == 0 {
                continue;
            }
            let (row, affect) = self.supporter[proposition as usize];
            let Some(c) = proposition.checked_sub(relaxed.first_comparison) else {
                if self.times[row as usize] == 0.0 {
                    self.apply(row, 1.0);
                }
                continue;
            };
            let comparison = &relaxed.comparisons[c as usize];
            let f = comparison.function as usize;
            let missing = comparison.bound - self.levels[f].0 - self.flows[f].added;
            if missing.is_nan() || missing > TINY {
                self.apply(row, applications(missing, self.change[affect]));
            }
        }
    }

    /// Adds applications of a relaxed operator.
    fn apply(&mut self, row: u32, times: f64) {
        let relaxed = self.relaxed;
        let first = self.times[row as usize] == 0.0;
        self.times[row as usize] += times;
        if first {
            self.used.push(row);
            for &p in relaxed.preconditions.row(row as usize) {
                self.require(p);
            }
        }
        for a in relaxed.affects_of(row) {
            let affect = &relaxed.affects[a];
            // An assignment has its effect once.
            let times = if affect.target.is_nan() { times } else { f64::from(u8::from(first)) };
            let own = self.change_by(a);
            let change = times * own;
            let f = affect.function as usize;
            let is_goal = relaxed.goal_bound[f] > f64::NEG_INFINITY;
            let flow = &mut self.flows[f];
            if flow.added == 0.0 && flow.taken == 0.0 {
                self.flowing.push(affect.function);
            }
            if change > 0.0 {
                flow.added += change;
            } else if change < 0.0 {
                flow.taken -= change;
                if affect.need > f64::NEG_INFINITY {
                    flow.consumed -= change;
                    flow.floor = flow.floor.min(affect.need + own);
                }
                let is_watched = is_goal || flow.floor < f64::INFINITY;
                if is_watched && !std::mem::replace(&mut flow.is_waiting, true) {
                    self.queue.push(affect.function);
                }
            }
        }
    }

    /// Adds producers for consumers and for goals on numbers. Returns false if that does not end.
    fn balance(&mut self, kind: usize) -> bool {
        let mut repairs = 64 + 4 * self.used.len();
        // Goals come after consumers, whose producers may serve the goals too.
        let mut late = Vec::new();
        while let Some((function, is_late)) =
            self.queue.pop().map(|f| (f, false)).or_else(|| late.pop().map(|f| (f, true)))
        {
            let f = function as usize;
            self.flows[f].is_waiting = false;
            let (flow, level) = (self.flows[f], self.levels[f].0);
            let for_goal = self.relaxed.goal_bound[f] - (level + flow.added - flow.taken);
            let for_consumers = if flow.floor < f64::INFINITY {
                flow.floor - (level + flow.added - flow.consumed)
            } else {
                f64::NEG_INFINITY
            };
            let producer = self.producers[f][kind];
            if for_consumers <= TINY && !is_late {
                if for_goal > TINY {
                    late.push(function);
                }
                continue;
            }
            let missing = for_goal.max(for_consumers);
            if missing <= TINY || missing.is_nan() || producer.row == NONE {
                continue;
            }
            if repairs == 0 {
                self.queue.drain(..).for_each(|f| self.flows[f as usize].is_waiting = false);
                return false;
            }
            repairs -= 1;
            let missing = if is_late { missing } else { for_consumers };
            self.apply(producer.row, applications(missing, self.change[producer.affect]));
            self.support();
            if !is_late && for_goal > for_consumers {
                late.push(function);
            }
        }
        true
    }

    /// Cost of the relaxed plan. Relaxed operators of one operator take place together.
    fn length(&mut self) -> u32 {
        let mut sum = 0.0;
        for &row in &self.used {
            let origin = self.relaxed.origin[row as usize];
            if origin != NONE {
                let own = self.times[row as usize] * f64::from(self.cost[row as usize]);
                let counted = &mut self.by_origin[origin as usize];
                if own > *counted {
                    sum += own - *counted;
                    *counted = own;
                }
            }
        }
        for &row in &self.used {
            let origin = self.relaxed.origin[row as usize];
            if origin != NONE {
                self.by_origin[origin as usize] = 0.0;
            }
        }
        sum.min(f64::from(MOST)) as u32
    }
}

/// Applications that cover a distance.
fn applications(distance: f64, change: f64) -> f64 {
    if distance.is_nan() || change.is_nan() {
        1.0
    } else if change > 0.0 {
        (distance / change - TINY).ceil().clamp(1.0, MAX_TIMES)
    } else {
        IDLE
    }
}
