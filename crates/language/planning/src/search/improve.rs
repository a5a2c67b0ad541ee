//! Better plans than the first one, until a limit or a proof that none is cheaper.
//!
//! Three methods take turns: windows of the best plan are planned anew ([`super::windows`]), weighted A* restarts with falling weights as in
//! LAMA, and A* raises the lower bound. All of them look only for plans that cost less than the best one. Turns are counted in work (evaluations and
//! generated states), not in time: the sequence of plans is always the same under the same limits on memory and nodes, and a limit on time
//! only cuts it. At the memory limit weighted A* or A* ends, and the others continue; in a window it ends the improvement.

use super::astar::{self, Bound, Cost, Exploration, Target, Total};
use super::greedy::{self, Greedy, Guidance};
use super::space::{Outcome, SearchStatistics, Space};
use super::width;
use super::windows::{Windows, eliminate, least_work};
use crate::resources::{Charged, LimitWatch, ResourceLimits, ScopedLimits, StopReason, check};

/// A plan that is better than those before it.
pub(crate) struct BetterPlan {
    /// Indices of the ground actions.
    pub(crate) actions: Vec<u32>,
    pub(crate) cost: u128,
    /// No plan costs less.
    pub(crate) floor: u128,
    pub(crate) method: &'static str,
}

/// Called with each better plan.
type OnPlan<'r> = &'r mut dyn FnMut(BetterPlan);

/// Result of [`search`].
pub(super) struct Found {
    pub(super) outcome: Outcome,
    pub(super) method: &'static str,
    pub(super) floor: u128,
    /// The limit that ended the improvement.
    pub(super) stopped: Option<StopReason>,
}

/// Searches greedily, then improves the plan. `max_nodes` limits the states of the first search, and the states that are generated after it.
pub(super) fn search(
    space: &Space<'_>,
    max_nodes: u64,
    resources: &mut dyn ResourceLimits,
    statistics: &mut SearchStatistics,
    on_plan: OnPlan<'_>,
) -> Found {
    let mut first = ScopedLimits::new(resources);
    let mut watch = LimitWatch::new(&mut first, max_nodes.min(u64::from(u32::MAX - 1)));
    let found = Guidance::new(space.task, &mut watch).map(|guidance| {
        let found = width::search(space, &guidance, &mut watch, statistics);
        (guidance, found)
    });
    drop(first);
    let (guidance, plan, method) = match found {
        Ok((guidance, (Outcome::Plan(plan), method))) => (guidance, plan, method),
        Ok((_, (outcome, method))) => return Found { outcome, method, floor: 0, stopped: None },
        Err(reason) => {
            return Found {
                outcome: Outcome::Stopped(reason),
                method: greedy::METHOD,
                floor: 0,
                stopped: None,
            };
        }
    };
    let mut best = Best { plan: Vec::new(), cost: u128::MAX, floor: 0, method };
    let max_generated = statistics.generated.saturating_add(max_nodes);
    let mut engine = Engine { space, guidance: &guidance, max_generated, resources, statistics, on_plan };
    best.offer(space, plan, method, engine.on_plan);
    // The first search released its memory, and the relaxed task stays in use.
    let charged = check(engine.resources.charge(guidance.relaxed.bytes()));
    let stopped = charged.and_then(|()| match astar::fits_narrow(space.task) {
        true => engine.run::<u32>(&mut best),
        false => engine.run::<u128>(&mut best),
    });
    Found {
        outcome: Outcome::Plan(best.plan),
        method: best.method,
        floor: best.floor,
        stopped: stopped.err(),
    }
}

/// The best plan so far, and what no plan costs less than.
struct Best {
    plan: Vec<u32>,
    cost: u128,
    floor: u128,
    method: &'static str,
}

impl Best {
    fn is_optimal(&self) -> bool {
        self.floor >= self.cost
    }

    /// Takes a plan that costs less or, at the same cost, has fewer steps.
    fn offer(&mut self, space: &Space<'_>, plan: Vec<u32>, method: &'static str, on_plan: OnPlan<'_>) {
        let cost = cost_of(space, &plan);
        if (cost, plan.len()) < (self.cost, self.plan.len()) {
            let actions = plan.iter().map(|&o| space.task.operators[o as usize].action).collect();
            on_plan(BetterPlan { actions, cost, floor: self.floor, method });
            *self = Best { plan, cost, method, floor: self.floor };
        }
    }

    fn raise_floor(&mut self, floor: u128) {
        self.floor = self.floor.max(floor.min(self.cost));
    }
}

fn cost_of(space: &Space<'_>, plan: &[u32]) -> u128 {
    plan.iter().map(|&o| u128::from(space.cost(o))).sum()
}

/// Shares of the work: windows, restarts, A*.
const SHARES: [u64; 3] = [4, 6, 1];
/// Share of windows once a round of them has found nothing: later rounds cost more and find less.
const LATER_WINDOWS: u64 = 2;
/// Work of a turn.
const TURN: u64 = 20_000;
/// Weights of the heuristics in turn; the last search runs until the end.
const WEIGHTS: [u32; 5] = [10, 5, 3, 2, 1];
const METHODS: [&str; 5] =
    ["A* with weight 10", "A* with weight 5", "A* with weight 3", "A* with weight 2", "A* with weight 1"];
/// Most work with a weight, but for the last, until a plan is found.
const RESTART: u64 = 4_000_000;

struct Engine<'a, 't> {
    space: &'a Space<'t>,
    guidance: &'a Guidance,
    /// Limit on the generated states of the statistics.
    max_generated: u64,
    resources: &'a mut dyn ResourceLimits,
    statistics: &'a mut SearchStatistics,
    on_plan: OnPlan<'a>,
}

/// A search that takes turns with others.
struct Turns<S> {
    /// `None` if it is over.
    search: Option<S>,
    charged: Charged,
    work: u64,
}

impl<S> Turns<S> {
    fn new(search: S) -> Self {
        Turns { search: Some(search), charged: Charged::default(), work: 0 }
    }

    /// The work so far; `None` if the search is over.
    fn work(&self) -> Option<u64> {
        self.search.as_ref().map(|_| self.work)
    }

    /// Frees the memory of the search and sets the next one.
    fn replace(&mut self, search: Option<S>, resources: &mut dyn ResourceLimits) {
        self.search = search;
        std::mem::take(&mut self.charged).release(resources);
    }
}

/// Weighted A* with one weight after the other.
struct Restarts<'a, 't> {
    turns: Turns<Greedy<'a, 't>>,
    /// Index into the weights.
    weight: usize,
    /// Work at which the next weight takes over.
    until: u64,
}

impl<'a, 't> Engine<'a, 't> {
    fn run<C: Cost>(&mut self, best: &mut Best) -> Result<(), StopReason> {
        let (space, guidance) = (self.space, self.guidance);
        self.offer_searched(best, best.plan.clone(), "action elimination")?;
        let additive = space.task.axioms.is_empty() && !space.task.has_conditional_effects();
        let mut bound = Bound::<C>::for_goal(&guidance.relaxed, additive);
        let mut lower = Turns::new(Exploration::<C>::new(space, &space.initial()));
        // The bound of the initial state comes first: it may be the cost of the plan.
        self.raise(&mut lower, &mut bound, 1, best)?;
        let search = Greedy::new(space, guidance, Some(WEIGHTS[0]));
        let mut restarts = Restarts { turns: Turns::new(search), weight: 0, until: RESTART };
        let mut windows = Windows::new(additive, self.max_generated);
        while !best.is_optimal() {
            let left = self.max_generated.saturating_sub(self.statistics.generated);
            let turn = TURN.min(least_work(left));
            if turn == 0 {
                return Err(StopReason::Nodes);
            }
            let work = [Some(windows.work), restarts.turns.work(), lower.work()];
            let mut shares = SHARES;
            if windows.is_in_later_round() {
                shares[0] = LATER_WINDOWS;
            }
            let next = (0..3).filter_map(|i| Some((work[i]? / shares[i], i))).min();
            match next {
                Some((_, 1)) => {
                    let before = best.cost;
                    self.restart(&mut restarts, turn, best)?;
                    if best.cost < before {
                        windows.restart();
                    }
                }
                Some((_, 2)) => self.raise(&mut lower, &mut bound, turn, best)?,
                _ => self.replan::<C>(&mut windows, best)?,
            }
        }
        Ok(())
    }

    /// Takes a plan, without the steps that have no use.
    fn offer_searched(
        &mut self,
        best: &mut Best,
        plan: Vec<u32>,
        method: &'static str,
    ) -> Result<(), StopReason> {
        let mut plan = plan;
        let result = eliminate(self.space, &mut plan, self.resources);
        best.offer(self.space, plan, method, self.on_plan);
        result
    }

    /// A pass of windows over the plan.
    fn replan<C: Cost>(&mut self, windows: &mut Windows, best: &mut Best) -> Result<(), StopReason> {
        let Some(pass) = windows.pass::<C>(self.space, &best.plan, self.resources, self.statistics) else {
            best.raise_floor(best.cost);
            return Ok(());
        };
        best.offer(self.space, pass.plan, "windows", self.on_plan);
        pass.stopped.map_or(Ok(()), Err)
    }

    /// A turn of weighted A*.
    fn restart(
        &mut self,
        restarts: &mut Restarts<'a, 't>,
        turn: u64,
        best: &mut Best,
    ) -> Result<(), StopReason> {
        let turns = &mut restarts.turns;
        let Some(search) = &mut turns.search else { return Ok(()) };
        let before = search.work;
        // Costs beyond 64 bits are left to the other methods.
        let Ok(ceiling) = u64::try_from(best.cost) else {
            turns.search = None;
            return Ok(());
        };
        let mut watch = turns.charged.watch(self.resources);
        let progress = search.run(ceiling, turn, &mut watch, self.statistics);
        turns.charged = watch.charged();
        turns.work += search.work - before;
        let last = restarts.weight + 1 == WEIGHTS.len();
        let restart = match progress {
            Ok(greedy::Progress::Plan(plan)) => {
                // Other plans are often near: the search continues for as long as it took to find this one.
                restarts.until = 2 * search.work;
                self.offer_searched(best, plan, METHODS[restarts.weight])?;
                false
            }
            Ok(greedy::Progress::Exhausted) => {
                best.raise_floor(best.cost);
                false
            }
            Ok(greedy::Progress::Paused) => !last && search.work >= restarts.until,
            Err(StopReason::Memory | StopReason::Nodes) => {
                turns.replace(None, self.resources);
                false
            }
            Err(reason) => return Err(reason),
        };
        if restart {
            restarts.weight += 1;
            restarts.until = RESTART;
            let search = Greedy::new(self.space, self.guidance, Some(WEIGHTS[restarts.weight]));
            turns.replace(Some(search), self.resources);
        }
        Ok(())
    }

    /// A turn of A*.
    fn raise<C: Cost>(
        &mut self,
        turns: &mut Turns<Exploration<C>>,
        bound: &mut Bound<'_, C>,
        work: u64,
        best: &mut Best,
    ) -> Result<(), StopReason> {
        let Some(search) = &mut turns.search else { return Ok(()) };
        let target = Target { goal: &self.space.task.goal, ceiling: C::Total::of(best.cost) };
        let mut watch = turns.charged.watch(self.resources);
        let progress = search.run(self.space, bound, &target, work, &mut watch, self.statistics);
        turns.charged = watch.charged();
        turns.work = search.work;
        best.raise_floor(search.floor.into());
        match progress {
            Ok(astar::Progress::Goal(id)) => {
                let plan = search.table.path(id);
                best.offer(self.space, plan, "A*", self.on_plan);
                best.raise_floor(best.cost);
            }
            Ok(astar::Progress::Exhausted) => best.raise_floor(best.cost),
            Ok(astar::Progress::Paused) => {}
            Err(StopReason::Memory | StopReason::Nodes) => turns.replace(None, self.resources),
            Err(reason) => return Err(reason),
        }
        Ok(())
    }
}
