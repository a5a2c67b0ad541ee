//! Several plans of one task: the k cheapest, or all within a bound on their cost.

use crate::ground::{GroundLimits, ground};
use crate::lifted::LiftedTask;
use crate::normalize::normalize;
use crate::plan::Plan;
use crate::resources::{ResourceLimits, StopReason};
use crate::search::{Algorithm, PlanRequest, PlansEnd, SearchStatistics, run_top_k};
use crate::solve::unsupported_construct;
use crate::task::{GroundTask, Unsupported};
use crate::unsolvable::{Explanation, why_exhausted, why_unsolvable};
use crate::walk::{Semantics, changes_nothing};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::Number;
use planforge_pddl::ast::{Domain, Problem};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Upper bound on a plan's cost, relative to the cheapest plan (top-quality planning).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QualityBound {
    /// At most this many times the lowest cost; below 1 counts as 1.
    Times(f64),
    /// At most this much above the lowest cost, in units of the metric; below 0 counts as 0.
    Above(f64),
}

impl QualityBound {
    /// The highest cost, all costs in units of `1 / scale` of the metric.
    fn highest(self, lowest: u128, scale: u64) -> u128 {
        let exact = Number::integer(i128::try_from(lowest).unwrap_or(i128::MAX));
        let highest = match self {
            QualityBound::Times(factor) => exact * Number::from_f64(factor.max(1.0)),
            QualityBound::Above(more) => {
                exact + Number::from_f64(more.max(0.0)) * Number::integer(i128::from(scale))
            }
        };
        let whole = match highest.parts() {
            Some((numerator, denominator)) => numerator.div_euclid(denominator) as u128,
            None => highest.to_f64().floor() as u128,
        };
        whole.max(lowest)
    }
}

/// Options of [`top_k`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopKOptions {
    /// Most plans returned.
    pub k: NonZeroUsize,
    /// Bound on their cost relative to the cheapest plan; `None` for any cost.
    pub quality: Option<QualityBound>,
    /// Decides whether ground actions that change nothing may be steps.
    pub semantics: Semantics,
    /// Most search nodes: visited states, plus stored suffixes of plans.
    pub max_nodes: u64,
    /// Caps on the number of ground atoms and actions.
    pub ground: GroundLimits,
}

impl TopKOptions {
    /// The `k` cheapest plans of any cost, without limits.
    pub fn new(k: NonZeroUsize) -> Self {
        TopKOptions {
            k,
            quality: None,
            semantics: Semantics::default(),
            max_nodes: u64::from(u32::MAX - 1),
            ground: GroundLimits::default(),
        }
    }
}

/// Reason why the list of plans ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopKEnd {
    /// As many plans as requested were found. There may be others; none precedes these in order.
    Enough,
    /// There are no other plans (within the bound on quality, if there is one).
    NoMore,
    /// A limit ended the search; the plans are the first in order all the same, and there may be others.
    LimitReached(StopReason),
}

/// Result of planning for several plans.
#[derive(Debug, Clone)]
pub enum TopKOutcome {
    /// One or more plans.
    Plans {
        /// Distinct, by cost, then length, then the names of the steps.
        plans: Vec<Plan>,
        /// Reason why the list ends.
        end: TopKEnd,
    },
    /// The task has no plan.
    ProvenUnsolvable(Explanation),
    /// A limit ended the work before the first plan.
    LimitReached(StopReason),
    /// The task has constructs that this search does not handle.
    Unsupported(Vec<Unsupported>),
}

/// Outcome of [`top_k`], with the search method and statistics.
#[derive(Debug, Clone)]
pub struct TopKResult {
    /// The plans, or the reason why there are none.
    pub outcome: TopKOutcome,
    /// The search that gave it.
    pub method: &'static str,
    /// Counts. A state counts twice as expanded if the search for the first plan expanded it and another plan
    /// may lead through it.
    pub statistics: SearchStatistics,
    /// Ground actions and facts of the task; 0 where grounding was not reached.
    pub ground_size: (usize, usize),
}

/// Finds the cheapest plans of a task, as sequences of ground actions. Plans may contain loops and may pass
/// through goal states (as in the definition of top-k planning that K* solves). The cost is the metric, or
/// the number of steps without one. The answer depends on the task alone: plans of equal cost are ordered by
/// length, then by the names of their steps.
///
/// # Errors
/// The errors of [`normalize`]: undeclared names, wrong arities, rules that cannot be stratified.
pub fn top_k(
    domain: &Domain,
    problem: &Problem,
    options: &TopKOptions,
    resources: &mut dyn ResourceLimits,
) -> Result<TopKResult, Vec<Diagnostic>> {
    let mut lifted = normalize(domain, problem)?;
    let unsupported = std::mem::take(&mut lifted.unsupported);
    let mut result = TopKResult {
        outcome: TopKOutcome::Unsupported(unsupported),
        method: "grounding",
        statistics: SearchStatistics::default(),
        ground_size: (0, 0),
    };
    if matches!(&result.outcome, TopKOutcome::Unsupported(list) if !list.is_empty()) {
        return Ok(result);
    }
    match ground(&lifted, options.ground, resources) {
        Err(reason) => result.outcome = TopKOutcome::LimitReached(reason),
        Ok(mut task) => {
            result.ground_size = (task.actions.len(), task.facts.len());
            drop_no_ops(&mut task, options.semantics);
            top_k_ground(&lifted, &task, options, resources, &mut result);
        }
    }
    Ok(result)
}

/// [`top_k`] of a task that was normalised and grounded before, under STRIPS semantics and with nothing unsupported in it.
pub(crate) fn top_k_of(
    lifted: &LiftedTask,
    task: &GroundTask,
    options: &TopKOptions,
    resources: &mut dyn ResourceLimits,
) -> TopKResult {
    let mut result = TopKResult {
        outcome: TopKOutcome::Unsupported(Vec::new()),
        method: "grounding",
        statistics: SearchStatistics::default(),
        ground_size: (task.actions.len(), task.facts.len()),
    };
    if options.semantics == Semantics::Strips {
        top_k_ground(lifted, task, options, resources, &mut result);
    } else {
        let mut task = task.clone();
        drop_no_ops(&mut task, options.semantics);
        top_k_ground(lifted, &task, options, resources, &mut result);
    }
    result
}

/// Leaves what the semantics has as steps.
fn drop_no_ops(task: &mut GroundTask, semantics: Semantics) {
    if semantics == Semantics::GroundNoOpsDropped {
        task.operators.retain(|operator| !changes_nothing(operator));
    }
}

/// Searches a ground task.
fn top_k_ground(
    lifted: &LiftedTask,
    task: &GroundTask,
    options: &TopKOptions,
    resources: &mut dyn ResourceLimits,
    result: &mut TopKResult,
) {
    if task.goal_unreachable {
        result.method = "delete relaxation";
        result.outcome = TopKOutcome::ProvenUnsolvable(why_unsolvable(lifted, resources));
        return;
    }
    let numeric = task.numeric_condition.clone();
    if let Some(unsupported) = numeric.or_else(|| unsupported_construct(lifted, task, Algorithm::AStar)) {
        result.outcome = TopKOutcome::Unsupported(vec![unsupported]);
        return;
    }
    let highest =
        |lowest| options.quality.map_or(u128::MAX, |quality| quality.highest(lowest, task.cost_scale));
    let rank = ranks(task);
    let wanted = PlanRequest { count: options.k.get(), highest: &highest, rank: &rank };
    let found = run_top_k(task, &wanted, options.max_nodes, resources);
    result.statistics = found.statistics;
    result.method = found.method;
    let lowest = found.plans.first().map(|plan| plan.0);
    let plans: Vec<Plan> = found
        .plans
        .iter()
        .map(|(cost, actions)| Plan {
            times: Vec::new(),
            steps: actions.iter().map(|&a| task.actions[a as usize].clone()).collect(),
            cost: task.metric_value(*cost).map(Number::to_f64),
            bound: lowest.and_then(|cost| task.metric_value(cost)).map(Number::to_f64),
            optimal: Some(*cost) == lowest,
            symbols: Arc::clone(&task.symbols),
        })
        .collect();
    result.outcome = match (plans.is_empty(), found.end) {
        (true, PlansEnd::Stopped(reason)) => TopKOutcome::LimitReached(reason),
        (true, _) => {
            let generated = found.statistics.generated;
            TopKOutcome::ProvenUnsolvable(why_exhausted(lifted, task, generated, resources))
        }
        (false, PlansEnd::Stopped(reason)) => {
            TopKOutcome::Plans { plans, end: TopKEnd::LimitReached(reason) }
        }
        (false, PlansEnd::Enough) => TopKOutcome::Plans { plans, end: TopKEnd::Enough },
        (false, PlansEnd::NoMore) => TopKOutcome::Plans { plans, end: TopKEnd::NoMore },
    };
}

/// The place of each ground action in the order of their texts.
fn ranks(task: &GroundTask) -> Vec<u32> {
    let texts: Vec<String> = task.actions.iter().map(|action| task.symbols.step(action)).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|&a, &b| texts[a].cmp(&texts[b]));
    let mut ranks = vec![0; texts.len()];
    for (rank, &action) in order.iter().enumerate() {
        ranks[action] = rank as u32;
    }
    ranks
}
