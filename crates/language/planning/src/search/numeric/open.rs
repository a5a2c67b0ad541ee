//! Searches of states with numbers: lazy best-first search with two heuristics and preferred operators, greedy or weighted by a price, and
//! uniform-cost search.

use super::heuristic::Heuristic;
use super::relaxed::Relaxed;
use super::space::{NumericSpace, VALUE_BYTES, Values, World};
use crate::resources::{LimitWatch, StopReason};
use crate::search::greedy::Lists;
use crate::search::space::{NONE, NodeTable, Outcome, SearchStatistics, StateId};
use crate::task::NumExpr;
use planforge_pddl::Number;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Pops by which a preferred open list is ahead after progress.
const BOOST: i64 = 1000;

/// The operator is applicable and part of the relaxed plan.
const IN_PLAN: u8 = 1;
/// The operator raises a function that the relaxed plan needs to be higher.
const HELPFUL: u8 = 2;
/// The operators that each list prefers.
const PREFERRED: [u8; 2] = [IN_PLAN, IN_PLAN | HELPFUL];

/// The quantity that is minimised.
#[derive(Clone, Copy)]
pub(super) enum Price<'t> {
    /// The sum of the operators' costs.
    Steps,
    /// The value of an expression in the last state, or with `true` its negation.
    Metric(&'t NumExpr, bool),
}

impl Price<'_> {
    /// The price of the path to a state; undefined where the metric has no value.
    pub(super) fn of(self, before: Number, cost: u64, world: &World) -> Number {
        match self {
            Price::Steps => before + Number::integer(cost.into()),
            Price::Metric(expr, maximize) => {
                let value = expr.value(&world.numbers);
                if maximize { -value } else { value }
            }
        }
    }
}

/// How a search that looks at prices orders states.
#[derive(Clone, Copy)]
pub(super) struct Pricing<'t> {
    pub(super) price: Price<'t>,
    pub(super) weight: u64,
    /// Price of one unit of the heuristics' values.
    pub(super) unit: f64,
    /// True if states at the price of the best plan are left out.
    pub(super) prunes: bool,
}

/// Result of a part of a search.
pub(super) enum Progress {
    /// Operators of a plan.
    Plan(Vec<u32>),
    /// There is no plan that is cheaper than the ceiling.
    Exhausted,
    /// The work of this part is done.
    Paused,
}

/// State of one search. It can pause and continue.
pub(super) struct Search<'s, 't> {
    space: &'s NumericSpace<'t>,
    heuristic: Heuristic<'s>,
    table: NodeTable,
    values: Values,
    /// Of the balanced and of the plain relaxed plan.
    lists: [Lists<u64>; 2],
    /// Why each operator is preferred in the state under expansion.
    preferred: Vec<u8>,
    pricing: Option<Pricing<'t>>,
    /// Price of the best way to each state that was found.
    reached: Vec<Number>,
    /// Values beside each state.
    sides: Vec<Number>,
    start_price: f64,
    /// True once a step may have lowered the price. A loop may then be a cheaper way to its own state, so parents are not replaced any more.
    falls: bool,
    started: bool,
    world: World,
    next: World,
    row: Vec<u64>,
    favourites: Vec<u32>,
    helpful: Vec<u32>,
    operators: Vec<u32>,
}

impl<'s, 't> Search<'s, 't> {
    /// A greedy search, or with `pricing` one for cheap plans. `cost` is what the heuristics count for each operator.
    pub(super) fn new(
        space: &'s NumericSpace<'t>,
        relaxed: &'s Relaxed,
        pricing: Option<Pricing<'t>>,
        cost: impl Fn(u32) -> u32,
    ) -> Self {
        Search {
            space,
            heuristic: Heuristic::new(space.task, relaxed, cost),
            table: NodeTable::new(space.words()),
            values: Values::default(),
            lists: [Lists::new(u64::MAX), Lists::new(u64::MAX)],
            preferred: vec![0; space.task.operators.len()],
            pricing,
            reached: Vec::new(),
            sides: Vec::new(),
            start_price: 0.0,
            falls: false,
            started: false,
            world: World::default(),
            next: World::default(),
            row: Vec::new(),
            favourites: Vec::new(),
            helpful: Vec::new(),
            operators: Vec::new(),
        }
    }

    /// Searches a plan that is cheaper than `ceiling` until `evaluations` more were made.
    pub(super) fn run(
        &mut self,
        ceiling: Option<Number>,
        evaluations: u64,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<Progress, StopReason> {
        let end = statistics.evaluated.saturating_add(evaluations);
        if !std::mem::replace(&mut self.started, true) {
            self.next = self.space.initial();
            self.space.pack(&self.next, &mut self.values, &mut self.row);
            let (root, _) = self.table.insert(&self.row, NONE, NONE);
            let price = self.pricing.map_or(Number::ZERO, |p| p.price.of(Number::ZERO, 0, &self.next));
            self.start_price = price.to_f64();
            self.remember(root, true, price);
            let is_goal = self.space.is_goal(&self.next);
            self.expand(root, statistics);
            if is_goal && ceiling.is_none() {
                return Ok(Progress::Plan(Vec::new()));
            }
        }
        while statistics.evaluated < end {
            watch.tick(self.table.len(), self.bytes_per_state())?;
            let Some((parent, operator)) = Lists::pop(&mut self.lists) else {
                return Ok(Progress::Exhausted);
            };
            if let Some(plan) = self.visit(parent, operator, ceiling, statistics) {
                return Ok(Progress::Plan(plan));
            }
        }
        Ok(Progress::Paused)
    }

    /// Generates a successor, evaluates it and queues its successors. Returns a plan if it is a goal below the ceiling.
    fn visit(
        &mut self,
        parent: StateId,
        operator: u32,
        ceiling: Option<Number>,
        statistics: &mut SearchStatistics,
    ) -> Option<Vec<u32>> {
        self.load(parent);
        if !self.space.apply(&self.world, operator, &mut self.next) {
            return None;
        }
        statistics.generated += 1;
        let mut price = Number::ZERO;
        if let Some(pricing) = self.pricing {
            let before = self.reached[parent as usize];
            let cost = self.space.task.operators[operator as usize].cost;
            price = pricing.price.of(before, cost, &self.next);
            // Prices that are undefined or inexact have no order that excludes loops.
            self.falls |= price.parts().is_none() || before.parts().is_none() || is_less(price, before);
            if pricing.prunes && ceiling.is_some_and(|ceiling| !is_less(price, ceiling)) {
                return None;
            }
        }
        self.space.pack(&self.next, &mut self.values, &mut self.row);
        let (id, new) = self.table.insert(&self.row, parent, operator);
        if !new {
            let is_better =
                self.pricing.is_some() && !self.falls && is_less(price, self.reached[id as usize]);
            if !is_better {
                return None;
            }
            self.table.set_parent(id, parent, operator);
        }
        self.remember(id, new, price);
        let is_plan = self.space.is_goal(&self.next) && ceiling.is_none_or(|ceiling| is_less(price, ceiling));
        self.expand(id, statistics);
        is_plan.then(|| self.table.path(id))
    }

    fn bytes_per_state(&self) -> u64 {
        let states = self.table.len() as u64 + 1;
        let waiting: usize = self.lists.iter().map(|l| l.all.len() + l.preferred.len()).sum();
        let beside = if self.pricing.is_some() { 32 * (1 + self.space.side_len() as u64) } else { 0 };
        self.table.bytes_per_state()
            + beside
            + 16 * (1 + waiting as u64 / states)
            + VALUE_BYTES * self.values.len() as u64 / states
    }

    /// Unpacks a state.
    fn load(&mut self, id: StateId) {
        let sides = self.space.side_len();
        let side = match self.pricing {
            Some(_) => &self.sides[id as usize * sides..(id as usize + 1) * sides],
            None => &[],
        };
        self.space.unpack(self.table.state(id), side, &self.values, &mut self.world);
    }

    /// Records the price of the way to the state `next`.
    fn remember(&mut self, id: StateId, new: bool, price: Number) {
        if self.pricing.is_none() {
            return;
        }
        if new {
            self.reached.push(price);
            self.sides.extend(self.space.side(&self.next));
        } else {
            self.reached[id as usize] = price;
            let start = id as usize * self.space.side_len();
            for (i, value) in self.space.side(&self.next).enumerate() {
                self.sides[start + i] = value;
            }
        }
    }

    /// Evaluates the state `next` and queues its successors.
    fn expand(&mut self, id: StateId, statistics: &mut SearchStatistics) {
        statistics.evaluated += 1;
        let Some(estimate) = self.heuristic.evaluate(&self.next, &mut self.favourites, &mut self.helpful)
        else {
            return;
        };
        let values = [estimate.balanced, estimate.plain].map(u64::from);
        let mut progress = false;
        for (list, value) in self.lists.iter_mut().zip(values) {
            if value < list.best {
                list.best = value;
                progress = true;
            }
        }
        if progress {
            self.lists.iter_mut().for_each(|l| l.turns[1] -= BOOST);
        }
        let keys = match &self.pricing {
            None => values,
            Some(pricing) => {
                let spent = self.reached[id as usize].to_f64() - self.start_price;
                let spent = (spent / pricing.unit).clamp(0.0, 1e15);
                let spent = if spent.is_nan() { 0 } else { spent as u64 };
                values.map(|value| pricing.weight.saturating_mul(value).saturating_add(spent))
            }
        };
        statistics.expanded += 1;
        self.space.applicable(&self.next, &mut self.operators);
        self.favourites.iter().for_each(|&o| self.preferred[o as usize] |= IN_PLAN);
        self.helpful.iter().for_each(|&o| self.preferred[o as usize] |= HELPFUL);
        for &operator in &self.operators {
            let preferred = self.preferred[operator as usize];
            for ((list, key), kinds) in self.lists.iter_mut().zip(keys).zip(PREFERRED) {
                list.all.push(key, (id, operator));
                if preferred & kinds != 0 {
                    list.preferred.push(key, (id, operator));
                }
            }
        }
        self.favourites.iter().chain(&self.helpful).for_each(|&o| self.preferred[o as usize] = 0);
    }
}

/// Returns true if both have a value and the first is the smaller one.
pub(super) fn is_less(a: Number, b: Number) -> bool {
    a.compare(b).is_some_and(std::cmp::Ordering::is_lt)
}

/// Bytes of a state in uniform-cost search beside the table, about.
const UNIFORM_BYTES: u64 = 50;

/// A cheapest plan, or with `steps` one with fewest steps.
pub(super) fn search_uniform(
    space: &NumericSpace<'_>,
    steps: bool,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Outcome, StopReason> {
    let mut table = NodeTable::new(space.words());
    let mut values = Values::default();
    let mut reached: Vec<u128> = vec![0];
    let mut open = BinaryHeap::new();
    let (mut world, mut next) = (space.initial(), World::default());
    let (mut row, mut operators) = (Vec::new(), Vec::new());
    space.pack(&world, &mut values, &mut row);
    let (root, _) = table.insert(&row, NONE, NONE);
    open.push(Reverse((0, root)));
    while let Some(Reverse((cost, id))) = open.pop() {
        if cost > reached[id as usize] {
            continue;
        }
        space.unpack(table.state(id), &[], &values, &mut world);
        if space.is_goal(&world) {
            return Ok(Outcome::Plan(table.path(id)));
        }
        statistics.expanded += 1;
        space.applicable(&world, &mut operators);
        for &operator in &operators {
            let per_value = VALUE_BYTES * values.len() as u64 / (table.len() as u64 + 1);
            watch.tick(table.len(), table.bytes_per_state() + UNIFORM_BYTES + per_value)?;
            if !space.apply(&world, operator, &mut next) {
                continue;
            }
            statistics.generated += 1;
            let own = if steps { 1 } else { space.task.operators[operator as usize].cost };
            let total = cost + u128::from(own);
            space.pack(&next, &mut values, &mut row);
            let (child, new) = table.insert(&row, id, operator);
            if new {
                reached.push(total);
            } else if total < reached[child as usize] {
                reached[child as usize] = total;
                table.set_parent(child, id, operator);
            } else {
                continue;
            }
            open.push(Reverse((total, child)));
        }
    }
    Ok(Outcome::Unsolvable)
}
