//! The k cheapest plans: A* to the first plan, then for each state on the way a list of its suffixes (ways to
//! the goal), best first, as far as the next plan needs them (recursive enumeration of k shortest paths,
//! Jiménez and Marzal 1999, over a state space that is generated during the enumeration, as in K*).
//!
//! * Plans are ordered by cost, then length, then the names of their steps. [`Weight`] is the first two of these. Every step
//!   increases it, also in cycles of cost 0, so that the lists are well founded.
//! * The work grows with the states whose bound allows them on a requested plan, plus k times the length of a plan; not with the
//!   action sequences that lead to those states. Of the last layer of costs only the part that the order of
//!   names requires is expanded.

mod settle;
mod suffixes;

use super::astar::{self, Bound, Explored};
use super::cost::{Cost, Total, fits_narrow};
use super::lmcut::LmCut;
use super::relaxed::Relaxed;
use super::space::{SearchStatistics, Space};
use super::watch::LimitWatch;
use crate::resources::StopReason;
use crate::task::GroundAction;
use suffixes::Suffixes;

/// Bytes of a plan, and of each of its steps: its index, the ground action built from it, and the heap block
/// of its arguments.
const PLAN_BYTES: u64 = 96;
const STEP_BYTES: u64 = (size_of::<u32>() + size_of::<GroundAction>() + 16) as u64;

/// Requested plans.
pub(crate) struct PlanRequest<'w> {
    /// Most plans.
    pub(crate) count: usize,
    /// The highest cost of interest, given the lowest.
    pub(crate) highest: &'w dyn Fn(u128) -> u128,
    /// Place of each action of the task in the order of names.
    pub(crate) rank: &'w [u32],
}

/// Reason why a search for several plans ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As many plans as requested were found.
    Enough,
    /// There are no other plans within the cost bound.
    NoMore,
    /// A limit; the plans found are the first ones all the same.
    Stopped(StopReason),
}

/// Plans in order, each with its cost and its actions.
pub(crate) struct Plans {
    pub(crate) plans: Vec<(u128, Vec<u32>)>,
    pub(crate) end: End,
    pub(crate) method: &'static str,
    pub(crate) statistics: SearchStatistics,
}

/// Cost and length of a plan: the order of plans before their names decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weight<T> {
    cost: T,
    /// Number of steps.
    length: u32,
}

impl<T: Total> Weight<T> {
    /// That of what is not there.
    const INFINITE: Self = Weight { cost: T::INFINITE, length: u32::MAX };

    fn zero() -> Self {
        Weight { cost: T::default(), length: 0 }
    }

    /// With one more step.
    #[inline]
    fn with_step(self, cost: T) -> Self {
        if self == Weight::INFINITE {
            return self;
        }
        // Memory ends long before lengths do.
        Weight { cost: self.cost + cost, length: self.length.saturating_add(1) }
    }
}

/// Searches for the requested plans.
pub(crate) fn search(space: &Space<'_>, wanted: &PlanRequest<'_>, watch: &mut LimitWatch<'_>) -> Plans {
    match fits_narrow(space.task) {
        true => search_with::<u32>(space, wanted, watch),
        false => search_with::<u128>(space, wanted, watch),
    }
}

fn search_with<C: Cost>(space: &Space<'_>, wanted: &PlanRequest<'_>, watch: &mut LimitWatch<'_>) -> Plans {
    let additive = space.task.axioms.is_empty() && !space.task.has_conditional_effects();
    let relaxed = Relaxed::new(space.task);
    let heuristic = LmCut::<C>::new(&relaxed);
    let mut bound = if additive { Bound::LmCut(heuristic) } else { Bound::HMax(heuristic) };
    let mut found = Plans {
        plans: Vec::new(),
        end: End::NoMore,
        method: if additive { "k-best search with LM-cut" } else { "k-best search with h_max" },
        statistics: SearchStatistics::default(),
    };
    found.end = watch
        .charge(relaxed.bytes())
        .and_then(|()| run(space, &mut bound, wanted, watch, &mut found))
        .unwrap_or_else(End::Stopped);
    found
}

fn run<C: Cost>(
    space: &Space<'_>,
    bound: &mut Bound<'_, C>,
    wanted: &PlanRequest<'_>,
    watch: &mut LimitWatch<'_>,
    found: &mut Plans,
) -> Result<End, StopReason> {
    let explored = astar::explore(space, bound, watch, &mut found.statistics)?;
    let Explored { goal: Some(goal), ref nodes, .. } = explored else { return Ok(End::NoMore) };
    let lowest = nodes.g[goal as usize];
    let highest = (wanted.highest)(lowest.into());
    let mut suffixes = Suffixes::new(space, wanted.rank, explored, lowest);
    while found.plans.len() < wanted.count {
        let statistics = &mut found.statistics;
        let Some(cost) = suffixes.next_plan(bound, highest, watch, statistics)? else {
            return Ok(End::NoMore);
        };
        let plan = suffixes.plan(found.plans.len());
        // Plans get longer and longer where free cycles lengthen them, so that they soon take more than the lists.
        watch.charge(PLAN_BYTES + plan.len() as u64 * STEP_BYTES)?;
        found.plans.push((cost.into(), plan));
    }
    Ok(End::Enough)
}
