//! State-space search over a ground task.
//!
//! Only the part of the task that matters for its goal is searched: irrelevant facts and operators, and operators that another
//! makes superfluous, are left out. Plans of the reduced task are plans of the whole.

mod astar;
mod greedy;
mod improve;
mod landmarks;
mod mutex;
mod projections;
mod relaxed;
mod rounds;
mod space;
mod top_k;
mod width;
mod windows;

pub(crate) use mutex::ReachablePairs;
pub use space::SearchStatistics;
pub(crate) use space::{NONE, NodeTable, Outcome, Space, StateId, initial_state};
pub(crate) use top_k::{End as PlansEnd, PlanRequest, Plans};

use crate::resources::{LimitWatch, ResourceLimits, ScopedLimits, StopReason};
use crate::task::{Axiom, Condition, ConditionalEffect, Fact, GroundTask, Operator};
use greedy::Guidance;
use mutex::Mutexes;
use rustc_hash::FxHashMap;

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
    SearchRun { outcome, method, note, statistics, floor, stopped, reduced }
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
    reduced.operators = cheapest(std::mem::take(&mut reduced.operators).into_iter());
    reduced
}

/// Returns the task without operators and facts that cannot help.
pub(crate) fn relevant(task: &GroundTask) -> GroundTask {
    let wanted = wanted_facts(task);
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
    let helps = |o: &&Operator| {
        wanted.changed_by(&o.add, &o.delete)
            || o.conditional.iter().any(|c| wanted.changed_by(&c.add, &c.delete))
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
        numeric: o.numeric.clone(),
        partial: o.partial,
        cost: o.cost,
    });
    GroundTask {
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
        ..task.clone()
    }
}

/// Facts whose truth, or falsity, can help.
struct NeededFacts {
    positive: Vec<bool>,
    negative: Vec<bool>,
}

impl NeededFacts {
    fn changed_by(&self, add: &[Fact], delete: &[Fact]) -> bool {
        add.iter().any(|&f| self.positive[f as usize]) || delete.iter().any(|&f| self.negative[f as usize])
    }
}

/// Computes the backward closure from the goal. An operator that helps makes all its conditions needed. A
/// fact that it deletes stays in the task only if some condition mentions it.
fn wanted_facts(task: &GroundTask) -> NeededFacts {
    let count = task.facts.len();
    let mut wanted = NeededFacts { positive: vec![false; count], negative: vec![false; count] };
    let mut queue: Vec<(Fact, bool)> = Vec::new();
    let want = |wanted: &mut NeededFacts, queue: &mut Vec<(Fact, bool)>, condition: &Condition| {
        for (list, side) in [(&condition.positive, true), (&condition.negative, false)] {
            for &f in list.iter() {
                let marks = if side { &mut wanted.positive } else { &mut wanted.negative };
                if !marks[f as usize] {
                    marks[f as usize] = true;
                    queue.push((f, side));
                }
            }
        }
    };
    let mut changers: [Vec<Vec<u32>>; 2] = [vec![Vec::new(); count], vec![Vec::new(); count]];
    for (o, operator) in task.operators.iter().enumerate() {
        let adds = operator.add.iter().chain(operator.conditional.iter().flat_map(|c| c.add.iter()));
        adds.for_each(|&f| changers[0][f as usize].push(o as u32));
        let deletes = operator.delete.iter().chain(operator.conditional.iter().flat_map(|c| c.delete.iter()));
        deletes.for_each(|&f| changers[1][f as usize].push(o as u32));
    }
    let mut rules_of: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (a, axiom) in task.axioms.iter().enumerate() {
        rules_of[axiom.head as usize].push(a);
    }
    want(&mut wanted, &mut queue, &task.goal);
    let mut done = vec![false; task.operators.len()];
    while let Some((fact, side)) = queue.pop() {
        for &axiom in &rules_of[fact as usize] {
            let axiom = &task.axioms[axiom];
            // Through an axiom, truth and falsity of the body both matter.
            let c = &axiom.condition;
            want(&mut wanted, &mut queue, c);
            let flipped = Condition {
                positive: c.negative.clone(),
                negative: c.positive.clone(),
                ..Condition::default()
            };
            want(&mut wanted, &mut queue, &flipped);
        }
        for &o in &changers[usize::from(!side)][fact as usize] {
            if std::mem::replace(&mut done[o as usize], true) {
                continue;
            }
            let operator = &task.operators[o as usize];
            want(&mut wanted, &mut queue, &operator.precondition);
            for effect in &operator.conditional {
                want(&mut wanted, &mut queue, &effect.condition);
                // The condition may also be needed to be false, to prevent the effect.
                let c = &effect.condition;
                let flipped = Condition {
                    positive: c.negative.clone(),
                    negative: c.positive.clone(),
                    ..Condition::default()
                };
                want(&mut wanted, &mut queue, &flipped);
            }
        }
    }
    wanted
}

/// One operator, the cheapest, of those with the same conditions and effects.
fn cheapest(operators: impl Iterator<Item = Operator>) -> Vec<Operator> {
    let mut kept: Vec<Operator> = Vec::new();
    let mut by_key: FxHashMap<[Box<[Fact]>; 4], usize> = FxHashMap::default();
    for operator in operators {
        let simple = operator.conditional.is_empty()
            && operator.numeric.is_empty()
            && operator.precondition.numeric.is_empty();
        if !simple {
            kept.push(operator);
            continue;
        }
        let pre = &operator.precondition;
        let key = [&pre.positive, &pre.negative, &operator.add, &operator.delete].map(Clone::clone);
        match by_key.get(&key) {
            Some(&i) if kept[i].cost <= operator.cost => {}
            Some(&i) => kept[i] = operator,
            None => {
                by_key.insert(key, kept.len());
                kept.push(operator);
            }
        }
    }
    kept
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
