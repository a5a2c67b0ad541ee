//! Better plans than the first one, until a limit or a proof that none is cheaper.
//!
//! Windows of the best plan are planned anew, and a graph of the states around it is searched ([`super::windows`]). Side by side with
//! that, weighted A* restarts with falling weights as in LAMA, in turns with A*, which raises the lower bound. All of them look only for plans that cost less than the best one. Rounds and turns are counted in
//! work (evaluations and generated states), not in time, and better plans are exchanged at the ends of rounds: the sequence of plans is
//! always the same under the same limits on memory and nodes, and a limit on time only cuts it. At its share of the memory a method ends,
//! and the others continue.

use super::astar::{self, Bound, Cost, Exploration, Target, Total};
use super::greedy::{self, Greedy, Guidance};
use super::rounds::{Account, run_round};
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
        let found = width::search(space, &guidance, width::ROUNDS, max_nodes, &mut first, statistics);
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

/// Shares of the work: A*, restarts.
const SHARES: [u64; 2] = [1, 6];
/// Work of a turn of these.
const TURN: u64 = 20_000;
/// Work of a round without windows.
const ROUND: u64 = 100_000;
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

impl Engine<'_, '_> {
    fn run<C: Cost>(&mut self, best: &mut Best) -> Result<(), StopReason> {
        let (space, guidance) = (self.space, self.guidance);
        let mut plan = best.plan.clone();
        let result = eliminate(space, &mut plan, self.resources);
        best.offer(space, plan, "action elimination", self.on_plan);
        result?;
        let additive = space.task.axioms.is_empty() && !space.task.has_conditional_effects();
        let mut searches = Some(Searches::<C>::new(space, guidance, additive, best.cost));
        let mut windows: Option<Windows> = None;
        let mut accounts = <[Account; 2]>::default();
        let mut is_first_round = true;
        while !best.is_optimal() {
            let left = self.max_generated.saturating_sub(self.statistics.generated);
            if left == 0 {
                return Err(StopReason::Nodes);
            }
            let part = left.div_ceil(2);
            // The bound of the initial state comes first: it may be the cost of the plan.
            let work = if is_first_round { 1 } else { windows.as_ref().map_or(ROUND, Windows::round) };
            let work = work.min(least_work(part));
            let (first, second) = run_round(
                self.resources,
                &mut accounts,
                searches.as_mut().map(|s| move |limits: &mut dyn ResourceLimits| s.run(work, limits)),
                windows.as_mut().map(|windows| {
                    move |limits: &mut dyn ResourceLimits| windows.run::<C>(space, work, part, limits)
                }),
                |result| *result == Ok(SearchEnd::Optimal),
            );
            if let Some(searches) = searches.as_mut().filter(|_| first.is_some()) {
                *self.statistics += std::mem::take(&mut searches.statistics);
                best.raise_floor(searches.floor);
                for (plan, method) in searches.found.drain(..) {
                    best.offer(space, plan, method, self.on_plan);
                }
            }
            if let Some(windows) = windows.as_mut().filter(|_| second.is_some()) {
                *self.statistics += std::mem::take(&mut windows.statistics);
                if let Some(plan) = windows.take_better() {
                    best.offer(space, plan, windows.method, self.on_plan);
                }
                if windows.is_optimal {
                    best.raise_floor(best.cost);
                }
            }
            if std::mem::take(&mut is_first_round) {
                windows = Some(Windows::new(additive, best.plan.clone()));
            }
            match first.unwrap_or(Ok(SearchEnd::Paused)) {
                Ok(_) => {}
                Err(StopReason::Memory) => {
                    searches = None;
                    accounts[0].close(self.resources);
                }
                Err(reason) => return Err(reason),
            }
            match second.unwrap_or(Ok(())) {
                Ok(()) => {}
                Err(StopReason::Memory) => {
                    windows = None;
                    accounts[1].close(self.resources);
                }
                Err(reason) => return Err(reason),
            }
            if searches.is_none() && windows.is_none() {
                return Err(StopReason::Memory);
            }
            searches.iter_mut().for_each(|searches| searches.ceiling = best.cost);
            windows.iter_mut().for_each(|windows| windows.set_plan(&best.plan));
        }
        Ok(())
    }
}

/// A search that takes turns with another.
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

    /// Frees the memory of the search and sets the next one.
    fn replace(&mut self, search: Option<S>, resources: &mut dyn ResourceLimits) {
        self.search = search;
        std::mem::take(&mut self.charged).release(resources);
    }
}

/// State of the searches after a round.
#[derive(Debug, PartialEq, Eq)]
enum SearchEnd {
    Paused,
    /// No plan is cheaper than the best one.
    Optimal,
}

/// A* for the lower bound, and weighted A* with one weight after the other, in turns.
struct Searches<'a, 't, C: Cost> {
    space: &'a Space<'t>,
    guidance: &'a Guidance,
    lower: Turns<Exploration<C>>,
    bound: Bound<'a, C>,
    restarts: Turns<Greedy<'a, 't>>,
    /// Index into the weights.
    weight: usize,
    /// Work at which the next weight takes over.
    until: u64,
    /// Cost of the best plan.
    ceiling: u128,
    /// No plan costs less.
    floor: u128,
    /// Better plans of this round, each with its method.
    found: Vec<(Vec<u32>, &'static str)>,
    /// Counts of this round.
    statistics: SearchStatistics,
}

impl<'a, 't, C: Cost> Searches<'a, 't, C> {
    fn new(space: &'a Space<'t>, guidance: &'a Guidance, additive: bool, ceiling: u128) -> Self {
        Searches {
            space,
            guidance,
            lower: Turns::new(Exploration::new(space, &space.initial())),
            bound: Bound::for_goal(&guidance.relaxed, additive),
            restarts: Turns::new(Greedy::new(space, guidance, Some(WEIGHTS[0]))),
            weight: 0,
            until: RESTART,
            ceiling,
            floor: 0,
            found: Vec::new(),
            statistics: SearchStatistics::default(),
        }
    }

    fn work(&self) -> u64 {
        self.lower.work + self.restarts.work
    }

    /// Runs both in turns until so much more work is done.
    ///
    /// # Errors
    /// [`StopReason::Memory`] if both are over, or another limit.
    fn run(&mut self, work: u64, resources: &mut dyn ResourceLimits) -> Result<SearchEnd, StopReason> {
        let end = self.work().saturating_add(work);
        while self.floor < self.ceiling {
            let turn = end.saturating_sub(self.work()).min(TURN);
            if turn == 0 {
                return Ok(SearchEnd::Paused);
            }
            let lower = self.lower.search.as_ref().map(|_| self.lower.work / SHARES[0]);
            let restarts = self.restarts.search.as_ref().map(|_| self.restarts.work / SHARES[1]);
            match (lower, restarts) {
                (None, None) => return Err(StopReason::Memory),
                (Some(lower), restarts) if restarts.is_none_or(|restarts| lower <= restarts) => {
                    self.raise(turn, resources)?;
                }
                _ => self.restart(turn, resources)?,
            }
        }
        Ok(SearchEnd::Optimal)
    }

    /// Takes a plan below the ceiling.
    fn take(&mut self, plan: Vec<u32>, method: &'static str) {
        self.ceiling = self.ceiling.min(cost_of(self.space, &plan));
        self.found.push((plan, method));
    }

    /// A turn of weighted A*.
    fn restart(&mut self, turn: u64, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let turns = &mut self.restarts;
        let Some(search) = &mut turns.search else { return Ok(()) };
        let before = search.work;
        // Costs beyond 64 bits are left to the other methods.
        let Ok(ceiling) = u64::try_from(self.ceiling) else {
            turns.search = None;
            return Ok(());
        };
        let mut watch = turns.charged.watch(resources, u64::MAX);
        let progress = search.run(ceiling, turn, &mut watch, &mut self.statistics);
        turns.charged = watch.charged();
        turns.work += search.work - before;
        let done = search.work;
        let last = self.weight + 1 == WEIGHTS.len();
        let restart = match progress {
            Ok(greedy::Progress::Plan(mut plan)) => {
                // Other plans are often near: the search continues for as long as it took to find this one.
                self.until = 2 * done;
                let result = eliminate(self.space, &mut plan, resources);
                self.take(plan, METHODS[self.weight]);
                result?;
                false
            }
            Ok(greedy::Progress::Exhausted) => {
                self.floor = self.ceiling;
                false
            }
            Ok(greedy::Progress::Paused) => !last && done >= self.until,
            Err(StopReason::Memory | StopReason::Nodes) => {
                turns.replace(None, resources);
                false
            }
            Err(reason) => return Err(reason),
        };
        if restart {
            self.weight += 1;
            self.until = RESTART;
            let search = Greedy::new(self.space, self.guidance, Some(WEIGHTS[self.weight]));
            self.restarts.replace(Some(search), resources);
        }
        Ok(())
    }

    /// A turn of A*.
    fn raise(&mut self, turn: u64, resources: &mut dyn ResourceLimits) -> Result<(), StopReason> {
        let turns = &mut self.lower;
        let Some(search) = &mut turns.search else { return Ok(()) };
        let target = Target { goal: &self.space.task.goal, ceiling: C::Total::of(self.ceiling) };
        let mut watch = turns.charged.watch(resources, u64::MAX);
        let progress =
            search.run(self.space, &mut self.bound, &target, turn, &mut watch, &mut self.statistics);
        turns.charged = watch.charged();
        turns.work = search.work;
        self.floor = self.floor.max(search.floor.into()).min(self.ceiling);
        match progress {
            Ok(astar::Progress::Goal(id)) => {
                let plan = search.table.path(id);
                self.take(plan, "A*");
                self.floor = self.ceiling;
            }
            Ok(astar::Progress::Exhausted) => self.floor = self.ceiling,
            Ok(astar::Progress::Paused) => {}
            Err(StopReason::Memory | StopReason::Nodes) => turns.replace(None, resources),
            Err(reason) => return Err(reason),
        }
        Ok(())
    }
}
