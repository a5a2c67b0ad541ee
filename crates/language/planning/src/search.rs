//! State-space search over a ground task.

mod astar;
mod bfs;
mod cost;
mod ff;
mod greedy;
mod landmarks;
mod lmcut;
mod mutex;
pub(crate) mod node_table;
mod open_list;
mod reduce;
mod relaxed;
mod space;
mod top_k;
mod watch;

pub(crate) use mutex::ReachablePairs;
pub(crate) use node_table::{NONE, NodeTable};
pub use space::SearchStatistics;
pub(crate) use space::{Outcome, Space};
pub(crate) use top_k::{End as PlansEnd, PlanRequest, Plans};
pub(crate) use watch::LimitWatch;

use crate::resources::ResourceLimits;
use crate::task::GroundTask;
use mutex::Mutexes;

/// Search algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Lazy greedy best-first search with h_FF, landmark count and preferred operators: fast, any plan.
    #[default]
    Greedy,
    /// A* with LM-cut: a cheapest plan. Blind where LM-cut does not apply (axioms, conditional effects).
    AStar,
    /// Breadth-first: a plan with fewest steps, without a heuristic.
    BreadthFirst,
}

/// Result of a search, with statistics.
pub(crate) struct SearchRun {
    pub(crate) outcome: Outcome,
    pub(crate) method: &'static str,
    pub(crate) note: Option<String>,
    pub(crate) statistics: SearchStatistics,
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

/// Searches for a plan with the given algorithm.
pub(crate) fn run_search(
    task: &GroundTask,
    algorithm: Algorithm,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
) -> SearchRun {
    let mut reduced = reduce::reduce(task);
    let mut watch = LimitWatch::new(resources, max_nodes.min(u64::from(u32::MAX - 1)));
    let mutexes = match Mutexes::find(&reduced, &space::initial_state(&reduced), &mut watch) {
        Ok(mutexes) => mutexes,
        Err(reason) => {
            return SearchRun {
                outcome: Outcome::Stopped(reason),
                method: "mutex analysis",
                note: None,
                statistics: SearchStatistics::default(),
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
    let (outcome, method) = match algorithm {
        Algorithm::Greedy => (
            greedy::search(&space, &mut watch, &mut statistics),
            "lazy greedy search with h_FF, landmarks and preferred operators",
        ),
        Algorithm::BreadthFirst => (bfs::search(&space, &mut watch, &mut statistics), "breadth-first search"),
        Algorithm::AStar => {
            let reason = if !reduced.axioms.is_empty() {
                Some("derived predicates")
            } else if reduced.has_conditional_effects() {
                Some("conditional effects")
            } else {
                None
            };
            note = reason.map(|r| format!("LM-cut does not apply to {r}, so the search is blind"));
            let outcome = astar::search(&space, reason.is_some(), &mut watch, &mut statistics);
            (outcome, if reason.is_some() { "blind A*" } else { "A* with LM-cut" })
        }
    };
    drop(space);
    SearchRun { outcome, method, note, statistics, reduced }
}

/// Searches for several plans. Nothing of the task is left out first but what no plan can contain: what is superfluous for a
/// plan is part of others.
pub(crate) fn run_top_k(
    task: &GroundTask,
    wanted: &PlanRequest<'_>,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
) -> Plans {
    let mut watch = LimitWatch::new(resources, max_nodes.min(u64::from(u32::MAX - 1)));
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests;
