//! State-space search over a ground task.
//!
//! Only the part of the task that matters for its goal is searched: irrelevant facts and operators, and operators that another
//! makes superfluous, are left out. Plans of the reduced task are plans of the whole.

mod astar;
mod greedy;
mod improve;
mod landmarks;
mod mutex;
mod neighbourhood;
mod numeric;
mod packing;
mod projections;
mod relaxed;
mod rounds;
mod space;
mod top_k;
mod width;
mod windows;

pub(crate) use mutex::ReachablePairs;
pub(crate) use numeric::metric_value;
pub(crate) use relaxed::{FfHeuristic, Relaxed};
pub use space::SearchStatistics;
pub(crate) use space::{NONE, NodeTable, Outcome, Space, StateId, initial_state};
pub(crate) use top_k::{End as PlansEnd, PlanRequest, Plans};

use crate::resources::{LimitWatch, ResourceLimits, ScopedLimits, StopReason};
use crate::task::{
    Axiom, Condition, ConditionalEffect, Fact, GroundTask, NumEffect, NumExpr, NumVar, Operator,
};
use greedy::Guidance;
use mutex::Mutexes;
use rustc_hash::FxHashMap;
use std::hash::BuildHasher as _;

/// Search algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Lazy greedy best-first search with h_FF, landmark count and preferred operators: fast, any plan.
    #[default]
    Greedy,
    /// A* with LM-cut and, where that takes long, projections: a cheapest plan. Blind where LM-cut does not apply (axioms, conditional effects).
    AStar,
    /// Breadth-first: a plan with fewest steps, without a heuristic.
    BreadthFirst,
    /// The greedy search, then better plans until a limit or a proof that none is cheaper.
    Anytime,
}

/// Result of a search, with statistics.
pub(crate) struct SearchRun {
    pub(crate) outcome: Outcome,
    pub(crate) method: &'static str,
    pub(crate) note: Option<String>,
    pub(crate) statistics: SearchStatistics,
    /// No plan costs less; 0 if nothing more is known.
    pub(crate) floor: u128,
    /// The limit that ended the improvement of the plan.
    pub(crate) stopped: Option<StopReason>,
    /// True if states were left out because their numbers are beyond exact arithmetic: then nothing is proven.
    pub(crate) is_inexact: bool,
    reduced: GroundTask,
}

impl SearchRun {
    /// The action of an operator of the outcome.
    pub(crate) fn task_action(&self, operator: u32) -> usize {
        self.reduced.operators[operator as usize].action as usize
    }

    /// The cost of an operator of the outcome.
    pub(crate) fn cost(&self, operator: u32) -> u64 {
        self.reduced.operators[operator as usize].cost
    }
}

pub(crate) use improve::BetterPlan;

/// Searches for a plan with the given algorithm.
pub(crate) fn run_search(
    task: &GroundTask,
    algorithm: Algorithm,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
) -> SearchRun {
    run_search_with(task, algorithm, max_nodes, resources, &mut |_| ())
}

/// Searches for a plan with the given algorithm. [`Algorithm::Anytime`] calls `on_plan` with each better plan. No further
/// search starts once `max_nodes` states were generated after the first plan.
pub(crate) fn run_search_with(
    task: &GroundTask,
    algorithm: Algorithm,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
    on_plan: &mut dyn FnMut(BetterPlan),
) -> SearchRun {
    if task.numeric_condition.is_some() {
        return numeric::run(task, algorithm, max_nodes, resources, on_plan);
    }
    let mut reduced = reduce(task);
    let mut resources = ScopedLimits::new(resources);
    let mut watch = LimitWatch::new(&mut resources, max_nodes.min(u64::from(u32::MAX - 1)));
    let mutexes = match Mutexes::find(&reduced, &space::initial_state(&reduced), &mut watch) {
        Ok(mutexes) => mutexes,
        Err(reason) => {
            return SearchRun {
                outcome: Outcome::Stopped(reason),
                method: "mutex analysis",
                note: None,
                statistics: SearchStatistics::default(),
                floor: 0,
                stopped: None,
                is_inexact: false,
                reduced,
            };
        }
    };
    if let Some(mutexes) = &mutexes {
        let operators = std::mem::take(&mut reduced.operators);
        let useful = operators.into_iter().enumerate().filter(|(o, _)| mutexes.is_useful(*o));
        reduced.operators = useful.map(|(_, operator)| operator).collect();
    }
    let space = Space::new(&reduced, mutexes);
    let mut statistics = SearchStatistics::default();
    let mut note = None;
    let (mut floor, mut stopped) = (0, None);
    let (outcome, method) = match algorithm {
        Algorithm::Greedy => match Guidance::new(&reduced, &mut watch) {
            Ok(guidance) => {
                width::search(&space, &guidance, width::ROUNDS, max_nodes, &mut resources, &mut statistics)
            }
            Err(reason) => (Outcome::Stopped(reason), greedy::METHOD),
        },
        Algorithm::Anytime => {
            let found = improve::search(&space, max_nodes, &mut resources, &mut statistics, on_plan);
            (floor, stopped) = (found.floor, found.stopped);
            (found.outcome, found.method)
        }
        Algorithm::BreadthFirst => {
            (astar::search_breadth_first(&space, &mut watch, &mut statistics), "breadth-first search")
        }
        Algorithm::AStar => {
            let reason = if !reduced.axioms.is_empty() {
                Some("derived predicates")
            } else if reduced.has_conditional_effects() {
                Some("conditional effects")
            } else {
                None
            };
            note = reason.map(|r| format!("LM-cut does not apply to {r}, so the search is blind"));
            astar::search(&space, reason.is_some(), &mut watch, &mut statistics)
        }
    };
    drop(space);
    SearchRun { outcome, method, note, statistics, floor, stopped, is_inexact: false, reduced }
}

/// Searches for several plans. Nothing of the task is left out first but what no plan can contain: what is superfluous for a
/// plan is part of others.
pub(crate) fn run_top_k(
    task: &GroundTask,
    wanted: &PlanRequest<'_>,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
) -> Plans {
    let mut resources = ScopedLimits::new(resources);
    let mut watch = LimitWatch::new(&mut resources, max_nodes.min(u64::from(u32::MAX - 1)));
    match Mutexes::find(task, &space::initial_state(task), &mut watch) {
        Ok(mutexes) => top_k::search(&Space::new(task, mutexes), wanted, &mut watch),
        Err(reason) => Plans {
            plans: Vec::new(),
            end: PlansEnd::Stopped(reason),
            method: "mutex analysis",
            statistics: SearchStatistics::default(),
        },
    }
}

/// [`relevant`] with one operator, the cheapest, of those with the same conditions and effects.
pub(crate) fn reduce(task: &GroundTask) -> GroundTask {
    let mut reduced = relevant(task);
    // With a metric over states, equal operators may change it differently.
    if reduced.metric.is_none() {
        reduced.operators = cheapest(std::mem::take(&mut reduced.operators).into_iter());
    }
    reduced
}

/// Returns the task without operators, facts and numeric effects that cannot help to reach the goal, or to change the metric if that depends
/// on states.
pub(crate) fn relevant(task: &GroundTask) -> GroundTask {
    let wanted = NeededParts::find(task);
    let mut number = vec![u32::MAX; task.facts.len()];
    let mut facts = Vec::new();
    let mut basic_facts = 0;
    for (f, atom) in task.facts.iter().enumerate() {
        if wanted.positive[f] || wanted.negative[f] {
            number[f] = facts.len() as u32;
            facts.push(atom.clone());
        }
        if f + 1 == task.basic_facts {
            basic_facts = facts.len();
        }
    }
    let map = |list: &[Fact]| -> Box<[Fact]> {
        list.iter().map(|&f| number[f as usize]).filter(|&n| n != u32::MAX).collect()
    };
    let condition = |c: &Condition| Condition {
        positive: map(&c.positive),
        negative: map(&c.negative),
        numeric: c.numeric.clone(),
    };
    let numeric = |list: &[NumEffect], partial: bool| -> Box<[NumEffect]> {
        let kept = list.iter().filter(|e| partial || wanted.variables[e.variable as usize]);
        kept.map(|e| NumEffect { condition: condition(&e.condition), ..e.clone() }).collect()
    };
    let helps = |operator: &&Operator| {
        wanted.changed_by(&operator.add, &operator.delete)
            || operator.conditional.iter().any(|c| wanted.changed_by(&c.add, &c.delete))
            || numeric_effects(task, operator).any(|e| wanted.variables[e.variable as usize])
    };
    let operators = task.operators.iter().filter(helps).map(|o| Operator {
        action: o.action,
        precondition: condition(&o.precondition),
        add: map(&o.add),
        delete: map(&o.delete),
        conditional: o
            .conditional
            .iter()
            .map(|c| ConditionalEffect {
                condition: condition(&c.condition),
                add: map(&c.add),
                delete: map(&c.delete),
            })
            .filter(|c| !c.add.is_empty() || !c.delete.is_empty())
            .collect(),
        numeric: numeric(&o.numeric, o.partial),
        metric: numeric(&o.metric, false),
        partial: o.partial,
        cost: o.cost,
    });
    GroundTask {
        symbols: task.symbols.clone(),
        variables: task.variables.clone(),
        actions: task.actions.clone(),
        operators: operators.collect(),
        axioms: task
            .axioms
            .iter()
            .filter(|a| number[a.head as usize] != u32::MAX)
            .map(|a| Axiom {
                head: number[a.head as usize],
                condition: condition(&a.condition),
                stratum: a.stratum,
            })
            .collect(),
        init: map(&task.init).into(),
        goal: condition(&task.goal),
        facts,
        basic_facts,
        init_numbers: task.init_numbers.clone(),
        goal_unreachable: task.goal_unreachable,
        cost_scale: task.cost_scale,
        metric_start: task.metric_start,
        maximize: task.maximize,
        cost_unsupported: task.cost_unsupported.clone(),
        metric: task.metric.clone(),
        numeric_condition: task.numeric_condition.clone(),
    }
}

/// The numeric effects of an operator, also those that only the task's metric reads.
fn numeric_effects<'t>(task: &GroundTask, operator: &'t Operator) -> impl Iterator<Item = &'t NumEffect> {
    let of_metric = if task.metric.is_some() { &*operator.metric } else { &[] };
    operator.numeric.iter().chain(of_metric)
}

/// Parts that can help: facts by their truth or falsity, and numeric variables.
struct NeededParts {
    positive: Vec<bool>,
    negative: Vec<bool>,
    variables: Vec<bool>,
    /// Parts whose changes are not followed yet.
    queue: Vec<Part>,
}

#[derive(Clone, Copy)]
enum Part {
    Fact(Fact, bool),
    Variable(NumVar),
}

impl NeededParts {
    /// Computes the backward closure from the goal and, if the task has one, from the metric over states. An operator that helps makes all its
    /// conditions needed, and the variables of its numeric effects. A fact that it deletes stays in the task only if some condition mentions it.
    fn find(task: &GroundTask) -> Self {
        let count = task.facts.len();
        let mut wanted = NeededParts {
            positive: vec![false; count],
            negative: vec![false; count],
            variables: vec![false; task.variables.len()],
            queue: Vec::new(),
        };
        let mut changers: [Vec<Vec<u32>>; 2] = [vec![Vec::new(); count], vec![Vec::new(); count]];
        let mut variable_changers: Vec<Vec<u32>> = vec![Vec::new(); task.variables.len()];
        for (o, operator) in task.operators.iter().enumerate() {
            let adds = operator.add.iter().chain(operator.conditional.iter().flat_map(|c| c.add.iter()));
            adds.for_each(|&f| changers[0][f as usize].push(o as u32));
            let deletes =
                operator.delete.iter().chain(operator.conditional.iter().flat_map(|c| c.delete.iter()));
            deletes.for_each(|&f| changers[1][f as usize].push(o as u32));
            numeric_effects(task, operator)
                .for_each(|e| variable_changers[e.variable as usize].push(o as u32));
        }
        let mut rules_of: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (a, axiom) in task.axioms.iter().enumerate() {
            rules_of[axiom.head as usize].push(a);
        }
        wanted.want(&task.goal);
        if let Some(metric) = &task.metric {
            wanted.want_variables(&metric.expr);
        }
        let mut done = vec![false; task.operators.len()];
        while let Some(part) = wanted.queue.pop() {
            let changers = match part {
                Part::Fact(fact, side) => {
                    // Through an axiom, truth and falsity of the body both matter.
                    rules_of[fact as usize].iter().for_each(|&a| wanted.want_both(&task.axioms[a].condition));
                    &changers[usize::from(!side)][fact as usize]
                }
                Part::Variable(variable) => &variable_changers[variable as usize],
            };
            for &o in changers {
                if std::mem::replace(&mut done[o as usize], true) {
                    continue;
                }
                let operator = &task.operators[o as usize];
                wanted.want(&operator.precondition);
                // The condition may also be needed to be false, to prevent the effect.
                operator.conditional.iter().for_each(|effect| wanted.want_both(&effect.condition));
                for effect in numeric_effects(task, operator) {
                    wanted.want_both(&effect.condition);
                    wanted.want_variables(&effect.value);
                    if operator.partial {
                        wanted.want_variable(effect.variable);
                    }
                }
            }
        }
        wanted
    }

    fn changed_by(&self, add: &[Fact], delete: &[Fact]) -> bool {
        add.iter().any(|&f| self.positive[f as usize]) || delete.iter().any(|&f| self.negative[f as usize])
    }

    fn want(&mut self, condition: &Condition) {
        self.want_facts(&condition.positive, true);
        self.want_facts(&condition.negative, false);
        for comparison in &condition.numeric {
            self.want_variables(&comparison.left);
            self.want_variables(&comparison.right);
        }
    }

    /// [`Self::want`] for the truth and the falsity of a condition.
    fn want_both(&mut self, condition: &Condition) {
        self.want(condition);
        self.want_facts(&condition.positive, false);
        self.want_facts(&condition.negative, true);
    }

    fn want_facts(&mut self, facts: &[Fact], side: bool) {
        for &f in facts {
            let marks = if side { &mut self.positive } else { &mut self.negative };
            if !std::mem::replace(&mut marks[f as usize], true) {
                self.queue.push(Part::Fact(f, side));
            }
        }
    }

    fn want_variables(&mut self, expr: &NumExpr) {
        expr.for_each_variable(&mut |variable| self.want_variable(variable));
    }

    fn want_variable(&mut self, variable: NumVar) {
        if !std::mem::replace(&mut self.variables[variable as usize], true) {
            self.queue.push(Part::Variable(variable));
        }
    }
}

/// One operator, the cheapest, of those with the same conditions and effects.
fn cheapest(operators: impl Iterator<Item = Operator>) -> Vec<Operator> {
    fn facts(operator: &Operator) -> [&[Fact]; 4] {
        let pre = &operator.precondition;
        [&pre.positive, &pre.negative, &operator.add, &operator.delete]
    }
    let mut kept: Vec<Operator> = Vec::new();
    // By hash of the conditions and effects: two that differ at one hash have keys one after the other.
    let mut by_key: FxHashMap<u64, u32> = FxHashMap::default();
    for operator in operators {
        let simple = operator.conditional.is_empty()
            && operator.numeric.is_empty()
            && operator.precondition.numeric.is_empty();
        if !simple {
            kept.push(operator);
            continue;
        }
        let own = facts(&operator);
        let mut key = rustc_hash::FxBuildHasher.hash_one(own);
        let same = loop {
            match by_key.get(&key) {
                Some(&i) if facts(&kept[i as usize]) == own => break Some(i as usize),
                Some(_) => key = key.wrapping_add(1),
                None => break None,
            }
        };
        match same {
            Some(i) if kept[i].cost <= operator.cost => {}
            Some(i) => kept[i] = operator,
            None => {
                by_key.insert(key, kept.len() as u32);
                kept.push(operator);
            }
        }
    }
    kept
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
