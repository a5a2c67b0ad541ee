//! Search of ground tasks with numeric conditions, and of plans with a better metric where the metric is not a sum of step costs.
//!
//! [`run`] is the entry point. It searches greedily with a relaxation of the numbers ([`relaxed`], [`heuristic`]). [`Algorithm::Anytime`] continues with
//! weighted searches for a lower price. [`Algorithm::AStar`] and [`Algorithm::BreadthFirst`] are uniform-cost searches without a heuristic.

mod heuristic;
mod open;
mod relaxed;
mod space;

use super::improve::BetterPlan;
use super::space::{Outcome, SearchStatistics};
use super::{Algorithm, SearchRun, reduce};
use crate::resources::{LimitWatch, ResourceLimits, ScopedLimits, StopReason, check};
use crate::task::{Atom, Condition, GroundTask, NumEffect, NumExpr, NumVar, StateMetric};
use open::{Price, Pricing, Progress, Search, is_less, search_uniform};
use planforge_pddl::Number;
use planforge_pddl::ast::AssignOp;
use relaxed::Relaxed;
use space::{NumericSpace, World};

const GREEDY: &str = "lazy greedy search with relaxed plans over numbers";

/// Weights of the heuristics in turn; the last search runs until the end.
const WEIGHTS: [u64; 4] = [5, 3, 2, 1];
const METHODS: [&str; 4] = [
    "weighted search over numbers, weight 5",
    "weighted search over numbers, weight 3",
    "weighted search over numbers, weight 2",
    "weighted search over numbers, weight 1",
];
/// Evaluations with a weight, but for the last, until a plan is found.
const RESTART: u64 = 40_000;
/// Price of the dearest operator in units of the heuristics.
const DEAREST: u64 = 256;

/// Searches a task with numeric conditions, or one whose metric depends on states.
pub(super) fn run(
    task: &GroundTask,
    algorithm: Algorithm,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(BetterPlan),
) -> SearchRun {
    let narrow = reduce(&GroundTask { metric: None, ..task.clone() });
    let mut statistics = SearchStatistics::default();
    let space = NumericSpace::new(&narrow, &[]);
    let searched = {
        let mut limits = ScopedLimits::new(&mut *resources);
        let mut watch = LimitWatch::new(&mut limits, max_nodes.min(u64::from(u32::MAX - 1)));
        match algorithm {
            Algorithm::Greedy | Algorithm::Anytime => greedy(&space, &mut watch, &mut statistics),
            Algorithm::BreadthFirst => search_uniform(&space, true, &mut watch, &mut statistics),
            Algorithm::AStar => search_uniform(&space, false, &mut watch, &mut statistics),
        }
    };
    let is_inexact = space.is_incomplete();
    drop(space);
    let mut run = SearchRun {
        outcome: searched.unwrap_or_else(Outcome::Stopped),
        method: match algorithm {
            Algorithm::Greedy | Algorithm::Anytime => GREEDY,
            Algorithm::BreadthFirst => "breadth-first search",
            Algorithm::AStar => "uniform-cost search",
        },
        note: (algorithm == Algorithm::AStar)
            .then(|| "LM-cut does not apply to numeric conditions, so the search is blind".to_owned()),
        statistics,
        floor: 0,
        stopped: None,
        is_inexact,
        reduced: narrow,
    };
    if algorithm == Algorithm::Anytime
        && let Outcome::Plan(plan) = &run.outcome
    {
        let actions: Vec<u32> = plan.iter().map(|&o| run.task_action(o) as u32).collect();
        improve(task, &actions, max_nodes, &mut ScopedLimits::new(resources), on_plan, &mut run);
    }
    run
}

fn greedy(
    space: &NumericSpace<'_>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Outcome, StopReason> {
    let relaxed = Relaxed::new(space.task);
    watch.charge(relaxed.bytes())?;
    let mut search = Search::new(space, &relaxed, None, |_| 1);
    Ok(match search.run(None, u64::MAX, watch, statistics)? {
        Progress::Plan(plan) => Outcome::Plan(plan),
        Progress::Exhausted | Progress::Paused => Outcome::Unsolvable,
    })
}

/// The task whose operators also change the variables that only the metric reads, and these variables.
fn with_metric(task: &GroundTask) -> (GroundTask, Vec<NumVar>) {
    let mut wide = reduce(task);
    let Some(mut metric) = wide.metric.take() else { return (wide, Vec::new()) };
    let mut side: Vec<NumVar> = wide.operators.iter().flat_map(|o| &o.metric).map(|e| e.variable).collect();
    side.sort_unstable();
    side.dedup();
    // Variables that decide whether an operator is applicable distinguish states.
    let partial = wide.operators.iter().filter(|o| o.partial);
    let deciding: Vec<NumVar> = partial.flat_map(|o| &o.numeric).map(|e| e.variable).collect();
    side.retain(|v| !deciding.contains(v));
    for operator in &mut wide.operators {
        operator.numeric = operator.numeric.iter().chain(&operator.metric).cloned().collect();
    }
    for &(variable, value) in &metric.start {
        wide.init_numbers[variable as usize] = value;
    }
    if metric.expr.counts_steps() {
        let steps = wide.variables.len() as NumVar;
        wide.variables.push(Atom { predicate: u32::MAX, args: Box::default() });
        wide.init_numbers.push(Number::ZERO);
        let step = NumEffect {
            condition: Condition::default(),
            variable: steps,
            op: AssignOp::Increase,
            value: NumExpr::Constant(Number::ONE),
            from_zero: false,
        };
        for operator in &mut wide.operators {
            operator.numeric = operator.numeric.iter().chain([&step]).cloned().collect();
        }
        metric.expr = metric.expr.with_steps(steps);
        side.push(steps);
    }
    wide.metric = Some(metric);
    (wide, side)
}

/// The value of the metric after ground actions; `None` where it has none, or no exact one.
pub(crate) fn metric_value(task: &GroundTask, actions: &[u32]) -> Option<Number> {
    let (wide, side) = with_metric(task);
    let metric = wide.metric.as_ref()?;
    let space = NumericSpace::new(&wide, &side);
    let plan = follow(&space, actions)?;
    let last = space.replay(&plan).last()?;
    Some(metric.expr.value(&last.numbers)).filter(|value| !value.is_undefined() && !value.is_inexact())
}

/// Operators that execute ground actions; `None` if one is not applicable.
fn follow(space: &NumericSpace<'_>, actions: &[u32]) -> Option<Vec<u32>> {
    let mut operators_of = vec![Vec::new(); space.task.actions.len()];
    for (o, operator) in space.task.operators.iter().enumerate() {
        operators_of[operator.action as usize].push(o as u32);
    }
    let (mut world, mut next) = (space.initial(), World::default());
    let mut plan = Vec::with_capacity(actions.len());
    for &action in actions {
        let operator = *operators_of[action as usize].iter().find(|&&o| {
            space.holds(&space.task.operators[o as usize].precondition, &world)
                && space.apply(&world, o, &mut next)
        })?;
        std::mem::swap(&mut world, &mut next);
        plan.push(operator);
    }
    Some(plan)
}

/// The best plan so far.
struct Best {
    plan: Vec<u32>,
    price: Number,
}

/// Improves a plan until a limit.
struct Improvement<'a, 't> {
    space: &'a NumericSpace<'t>,
    price: Price<'t>,
    best: Best,
    on_plan: &'a mut dyn FnMut(BetterPlan),
    method: &'static str,
}

impl Improvement<'_, '_> {
    /// The price of a plan; undefined if it does not reach the goal.
    fn price_of(&self, plan: &[u32]) -> Number {
        let mut price = Number::ZERO;
        let mut count = 0;
        let mut last = World::default();
        for (i, world) in self.space.replay(plan).enumerate() {
            let cost = i.checked_sub(1).map_or(0, |i| self.space.task.operators[plan[i] as usize].cost);
            price = self.price.of(price, cost, &world);
            count = i;
            last = world;
        }
        if count == plan.len() && self.space.is_goal(&last) { price } else { Number::UNDEFINED }
    }

    /// Takes a plan that is cheaper or, at the same price, has fewer steps.
    fn offer(&mut self, plan: Vec<u32>, method: &'static str) {
        let price = self.price_of(&plan);
        let is_first = self.best.price.is_undefined();
        let is_better =
            is_less(price, self.best.price) || price == self.best.price && plan.len() < self.best.plan.len();
        if is_first || is_better {
            let operators = &self.space.task.operators;
            let actions = plan.iter().map(|&o| operators[o as usize].action).collect();
            let cost = plan.iter().map(|&o| u128::from(operators[o as usize].cost)).sum();
            (self.on_plan)(BetterPlan { actions, cost, floor: 0, method });
            self.best = Best { plan, price };
            self.method = method;
        }
    }

    /// Drops steps, and those that need them, as long as the goal is reached at no higher price.
    fn eliminate(&mut self, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let mut plan = self.best.plan.clone();
        let mut price = self.best.price;
        let mut at = 0;
        let mut next = World::default();
        while at < plan.len() {
            check(resources.poll())?;
            let mut world = self.space.initial();
            let mut kept = Vec::with_capacity(plan.len());
            for (i, &operator) in plan.iter().enumerate() {
                let shape = &self.space.task.operators[operator as usize];
                if i != at
                    && self.space.holds(&shape.precondition, &world)
                    && self.space.apply(&world, operator, &mut next)
                {
                    std::mem::swap(&mut world, &mut next);
                    kept.push(operator);
                }
            }
            let without = self.price_of(&kept);
            if !without.is_undefined() && !is_less(price, without) {
                (plan, price) = (kept, without);
            } else {
                at += 1;
            }
        }
        self.offer(plan, "action elimination");
        Ok(())
    }
}

/// Improves the plan of a run.
fn improve(
    task: &GroundTask,
    actions: &[u32],
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(BetterPlan),
    run: &mut SearchRun,
) {
    let (wide, side) = with_metric(task);
    let space = NumericSpace::new(&wide, &side);
    let price = match &wide.metric {
        Some(metric) => Price::Metric(&metric.expr, task.maximize),
        None => Price::Steps,
    };
    let Some(plan) = follow(&space, actions) else {
        if let Outcome::Plan(plan) = &run.outcome {
            let cost = plan.iter().map(|&o| u128::from(run.cost(o))).sum();
            on_plan(BetterPlan { actions: actions.to_vec(), cost, floor: 0, method: GREEDY });
        }
        let note = "the metric of the first plan is beyond exact arithmetic, so it is not improved";
        run.note = Some(note.to_owned());
        return;
    };
    let best = Best { plan: Vec::new(), price: Number::UNDEFINED };
    let mut improvement = Improvement { space: &space, price, best, on_plan, method: GREEDY };
    improvement.offer(plan, GREEDY);
    let max_generated = run.statistics.generated.saturating_add(max_nodes);
    let stopped = improvement.eliminate(resources).and_then(|()| {
        // A metric without a value, which no plan improves.
        if improvement.best.price.is_undefined() {
            return Ok(false);
        }
        search_better(&mut improvement, max_generated, resources, &mut run.statistics)
    });
    let is_free = task.cost_unsupported.is_none() && improvement.best.price.is_zero();
    let stopped = if is_free { Ok(true) } else { stopped };
    let operators = &wide.operators;
    let cost = improvement.best.plan.iter().map(|&o| u128::from(operators[o as usize].cost)).sum();
    let proven = stopped == Ok(true) && task.cost_unsupported.is_none() && !space.is_incomplete();
    run.floor = if proven { cost } else { 0 };
    run.stopped = stopped.err();
    run.method = improvement.method;
    run.outcome = Outcome::Plan(improvement.best.plan);
    run.reduced = wide.clone();
}

/// Weighted searches, one after the other. Returns true if there is no cheaper plan.
fn search_better(
    improvement: &mut Improvement<'_, '_>,
    max_generated: u64,
    resources: &mut dyn ResourceLimits,
    statistics: &mut SearchStatistics,
) -> Result<bool, StopReason> {
    let space = improvement.space;
    let relaxed = Relaxed::new(space.task);
    check(resources.charge(relaxed.bytes()))?;
    let costs = || space.task.operators.iter().map(|o| o.cost);
    let dearest = costs().max().unwrap_or(1);
    let is_uniform = costs().min() == costs().max();
    let unit = if is_uniform { dearest.max(1) } else { dearest.div_ceil(DEAREST).max(1) };
    let prunes = space.task.metric.as_ref().is_none_or(|metric| only_grows(metric, space.task));
    let count = |o: u32| {
        let cost = space.task.operators[o as usize].cost;
        if is_uniform { 1 } else { u32::try_from(cost / unit).unwrap_or(u32::MAX / 2) + 1 }
    };
    for (i, &weight) in WEIGHTS.iter().enumerate() {
        let is_last = i + 1 == WEIGHTS.len();
        let mut limits = ScopedLimits::new(&mut *resources);
        let nodes = max_generated.saturating_sub(statistics.generated).min(u64::from(u32::MAX - 1));
        if nodes == 0 {
            return Err(StopReason::Nodes);
        }
        let mut watch = LimitWatch::new(&mut limits, nodes);
        let unit = match improvement.price {
            Price::Steps => unit as f64,
            // The average growth of the price in a step of the best plan.
            Price::Metric(..) => {
                let start = improvement.price.of(Number::ZERO, 0, &space.initial()).to_f64();
                let grown = (improvement.best.price.to_f64() - start).abs();
                (grown / improvement.best.plan.len().max(1) as f64).max(1e-6)
            }
        };
        let pricing = Pricing { price: improvement.price, weight, unit, prunes };
        let mut search = Search::new(space, &relaxed, Some(pricing), count);
        let mut budget = RESTART;
        loop {
            let before = statistics.evaluated;
            let turn = if is_last { u64::MAX } else { budget };
            match search.run(Some(improvement.best.price), turn, &mut watch, statistics) {
                Ok(Progress::Plan(plan)) => {
                    improvement.offer(plan, METHODS[i]);
                    watch.poll()?;
                    // Other plans are often near: the search continues for as long as it took to find this one.
                    budget = (statistics.evaluated - before).max(RESTART);
                }
                Ok(Progress::Exhausted) => return Ok(prunes),
                Ok(Progress::Paused) => break,
                Err(StopReason::Memory | StopReason::Nodes) if !is_last => break,
                Err(reason) => return Err(reason),
            }
        }
        drop(search);
        drop(limits);
        improvement.eliminate(resources)?;
    }
    Ok(false)
}

/// True if the metric gets no better by any change whose amount is known.
fn only_grows(metric: &StateMetric, task: &GroundTask) -> bool {
    let sign = if task.maximize { -Number::ONE } else { Number::ONE };
    let Some(linear) = crate::ground::Linear::new(&metric.expr, sign) else { return false };
    let mut variables = Vec::new();
    metric.expr.for_each_variable(&mut |v| variables.push(v));
    task.operators.iter().flat_map(|o| &o.numeric).filter(|e| variables.contains(&e.variable)).all(|e| {
        let factor = linear.coefficients.get(&e.variable).copied().unwrap_or(Number::ZERO);
        match (e.op, &e.value) {
            (AssignOp::Increase, NumExpr::Constant(c)) => !(factor * *c).is_negative(),
            (AssignOp::Decrease, NumExpr::Constant(c)) => !(-(factor * *c)).is_negative(),
            (AssignOp::Increase, _) => !factor.is_negative(),
            _ => factor.is_zero(),
        }
    })
}
