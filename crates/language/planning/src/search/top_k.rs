//! The k cheapest plans: A* to the first plan, then for each state on the way a list of its suffixes (ways to
//! the goal), best first, as far as the next plan needs them (recursive enumeration of k shortest paths,
//! Jiménez and Marzal 1999, over a state space that is generated during the enumeration, as in K*).
//!
//! * Plans are ordered by cost, then length, then the names of their steps. [`Weight`] is the first two of these. Every step
//!   increases it, also in cycles of cost 0, so that the lists are well founded.
//! * The work grows with the states whose bound allows them on a requested plan, plus k times the length of a plan; not with the
//!   action sequences that lead to those states. Of the last layer of costs only the part that the order of
//!   names requires is expanded.
//!
//! # Suffixes
//!
//! The n-th suffix of a state is a step followed by a suffix of the next state. So a state keeps one
//! candidate for each of its steps: the first unused suffix after the step, by its weight if it is listed,
//! otherwise by a lower bound. The first candidate is made exact (which may list a suffix of the next state,
//! and so on along a path) until it is listed or another candidate is first. A state is expanded on its first
//! request.
//!
//! # Exact bounds
//!
//! Examining candidates raises bounds step by step. Around a cycle that leads nowhere, or that costs next to
//! nothing, this could take very long or not end. So after many examinations without result, the minimum
//! weight of each state's next suffix is computed over the expanded states: shortest paths, backwards, from
//! listed suffixes and from the bounds of unexpanded states. The next examination then expands a state or
//! lists a suffix.

use super::astar;
use super::astar::{Bound, Cost, Evaluated, Explored, LmCut, Mixed, Total, fits_narrow};
use super::relaxed::Relaxed;
use super::space::{NONE, NodeTable, SearchStatistics, Space, StateId};
use crate::resources::{LimitWatch, StopReason};
use crate::task::GroundAction;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

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
    let relaxed = Relaxed::new(space.task, &space.task.goal);
    let mut bound = match additive {
        true => Bound::<C>::Mixed(Mixed::new(&relaxed)),
        false => Bound::HMax(LmCut::new(&relaxed)),
    };
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
    if bound.has_projections() {
        found.method = "k-best search with LM-cut and projections";
    }
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

/// A step from a state.
#[derive(Clone, Copy)]
struct Edge<C> {
    action: u32,
    cost: C,
    to: StateId,
}

/// A suffix that is not listed yet. Those of one weight come by the names of their first steps, as edges of a state do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<T> {
    /// Its weight, or a lower bound.
    weight: Weight<T>,
    /// The first step; [`NONE`] for the empty suffix of a goal state.
    edge: u32,
    /// Index of the suffix of the state after the step.
    nth: u32,
}

/// A state that was expanded.
struct Opened<T> {
    state: StateId,
    candidates: BinaryHeap<Reverse<Candidate<T>>>,
    listed: Vec<Candidate<T>>,
}

/// Result of examining the first candidate.
enum Lookup {
    /// It is listed now.
    Listed,
    /// It weighs more than was known.
    Raised,
    /// A suffix of this state is needed first.
    Needs(StateId),
}

/// Examinations without result, beyond one for each edge, after which all bounds are made exact.
const PATIENCE: usize = 4096;

/// The lists of all states.
struct Suffixes<'s, 't, C: Cost> {
    space: &'s Space<'t>,
    rank: &'s [u32],
    table: NodeTable,
    /// By state: a lower bound on its next suffix.
    bounds: Vec<Weight<C::Total>>,
    /// By state: what its bound is from.
    evaluated: Vec<Evaluated>,
    /// By state: its place in `opened`, or [`NONE`].
    place: Vec<u32>,
    opened: Vec<Opened<C::Total>>,
    edges: Vec<Edge<C>>,
    /// The highest cost of a step.
    dearest: C::Total,
    /// States whose next suffix is being computed, each with its allowed weight: a path from the initial
    /// state.
    path: Vec<(StateId, Weight<C::Total>)>,
    /// Number of listed suffixes.
    count: usize,
    /// Examinations without result since the bounds were exact.
    idle: usize,
    /// Most bytes that one making exact took.
    settle_bytes: u64,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    state: Vec<u64>,
    next: Vec<u64>,
    operators: Vec<u32>,
}

impl<'s, 't, C: Cost> Suffixes<'s, 't, C> {
    /// Continues an A* search that found the lowest cost of a plan: no plan through a state that it reached
    /// at cost g is cheaper.
    fn new(space: &'s Space<'t>, rank: &'s [u32], explored: Explored<C>, lowest: C::Total) -> Self {
        let Explored { table, nodes, .. } = explored;
        let count = table.len();
        let mut suffixes = Suffixes {
            space,
            rank,
            table,
            bounds: Vec::with_capacity(count),
            evaluated: nodes.evaluated,
            place: vec![NONE; count],
            opened: Vec::new(),
            edges: Vec::new(),
            dearest: space.task.operators.iter().map(|o| C::of(o.cost)).max().unwrap_or_default().into(),
            path: Vec::new(),
            count: 0,
            idle: 0,
            settle_bytes: 0,
            buffers: Buffers::default(),
        };
        for (&g, &h) in nodes.g.iter().zip(&nodes.h) {
            let weight = if h == C::INFINITE {
                Weight::INFINITE
            } else {
                suffixes.at_least(C::Total::from(h).max(lowest.minus(g)))
            };
            suffixes.bounds.push(weight);
        }
        suffixes
    }

    /// Returns the minimum weight of a suffix of at least this cost.
    fn at_least(&self, cost: C::Total) -> Weight<C::Total> {
        Weight { cost, length: cost.steps(self.dearest) }
    }

    /// Lists the next plan; its cost, or `None` where there is none of at most the cost `highest`.
    fn next_plan(
        &mut self,
        bound: &mut Bound<'_, C>,
        highest: u128,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<Option<C::Total>, StopReason> {
        loop {
            let weight = self.bounds[0];
            if weight == Weight::INFINITE || weight.cost.into() > highest {
                return Ok(None);
            }
            let listed = self.count_of(0);
            self.list_next(weight, bound, watch, statistics)?;
            if self.count_of(0) > listed {
                return Ok(self.listed_suffix(0, listed as u32).map(|suffix| suffix.weight.cost));
            }
            if self.idle > self.edges.len() + PATIENCE {
                self.settle(watch)?;
                self.idle = 0;
            }
        }
    }

    fn count_of(&self, state: StateId) -> usize {
        self.opened.get(self.place[state as usize] as usize).map_or(0, |opened| opened.listed.len())
    }

    /// A suffix of a state, where it is listed.
    #[inline]
    fn listed_suffix(&self, state: StateId, nth: u32) -> Option<Candidate<C::Total>> {
        let opened = self.opened.get(self.place[state as usize] as usize)?;
        opened.listed.get(nth as usize).copied()
    }

    /// The actions of a plan that is listed.
    fn plan(&self, nth: usize) -> Vec<u32> {
        let mut actions = Vec::new();
        let (mut state, mut nth) = (0, nth as u32);
        while let Some(suffix) = self.listed_suffix(state, nth)
            && suffix.edge != NONE
        {
            let edge = self.edges[suffix.edge as usize];
            actions.push(edge.action);
            (state, nth) = (edge.to, suffix.nth);
        }
        actions
    }

    /// Lists the next suffix of the initial state if its weight is not above its bound, otherwise raises the
    /// bound.
    ///
    /// A state on the path may weigh at most the bound it had when it was added. Steps have positive weight,
    /// so these weights decrease along the path, and a state on the path has too high a bound to be added
    /// again.
    fn list_next(
        &mut self,
        weight: Weight<C::Total>,
        bound: &mut Bound<'_, C>,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<(), StopReason> {
        self.path.clear();
        self.path.push((0, weight));
        while let Some(&(state, most)) = self.path.last() {
            watch.tick(self.table.len() + self.count, self.table.bytes_per_state() + 48)?;
            if self.bounds[state as usize] > most {
                self.path.pop();
                continue;
            }
            if self.place[state as usize] == NONE {
                self.open(state, most, bound, watch, statistics)?;
                continue;
            }
            match self.look(state) {
                Lookup::Listed => {
                    self.path.pop();
                }
                Lookup::Raised => self.idle += 1,
                Lookup::Needs(next) => self.path.push((next, self.bounds[next as usize])),
            }
        }
        Ok(())
    }

    /// Examines the first candidate of a state.
    fn look(&mut self, state: StateId) -> Lookup {
        let place = self.place[state as usize] as usize;
        let Some(&Reverse(front)) = self.opened[place].candidates.peek() else {
            self.bounds[state as usize] = Weight::INFINITE;
            return Lookup::Raised;
        };
        let (weight, listed) = self.weight(front);
        if weight > front.weight {
            self.replace_front(place, Candidate { weight, ..front });
            return Lookup::Raised;
        }
        if !listed {
            return Lookup::Needs(self.edges[front.edge as usize].to);
        }
        self.opened[place].listed.push(Candidate { weight, ..front });
        self.count += 1;
        let next = Candidate { nth: front.nth + 1, ..front };
        let rest = if front.edge == NONE { Weight::INFINITE } else { self.weight(next).0 };
        self.replace_front(place, Candidate { weight: rest.max(weight), ..next });
        Lookup::Listed
    }

    /// Returns the weight of a candidate: exact if the suffix after its step is listed, otherwise a lower
    /// bound.
    #[inline]
    fn weight(&self, candidate: Candidate<C::Total>) -> (Weight<C::Total>, bool) {
        if candidate.edge == NONE {
            return (Weight::zero(), true);
        }
        let Edge { cost, to, .. } = self.edges[candidate.edge as usize];
        match self.listed_suffix(to, candidate.nth) {
            Some(suffix) => (suffix.weight.with_step(cost.into()), true),
            None => (self.bounds[to as usize].with_step(cost.into()), false),
        }
    }

    /// Replaces the first candidate by one that weighs no less. Drops a candidate of infinite weight.
    fn replace_front(&mut self, place: usize, candidate: Candidate<C::Total>) {
        let opened = &mut self.opened[place];
        if let Some(mut front) = opened.candidates.peek_mut() {
            if candidate.weight == Weight::INFINITE {
                PeekMut::pop(front);
            } else {
                front.0 = candidate;
            }
        }
        let weight = opened.candidates.peek().map_or(Weight::INFINITE, |front| front.0.weight);
        self.bounds[opened.state as usize] = weight;
    }

    /// Evaluates a state and, unless its suffixes weigh more than `most`, expands it: each ground action
    /// once, because two operators of one action have the same effect.
    fn open(
        &mut self,
        state: StateId,
        most: Weight<C::Total>,
        bound: &mut Bound<'_, C>,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<(), StopReason> {
        let s = state as usize;
        let mut buffers = std::mem::take(&mut self.buffers);
        self.table.read(state, &mut buffers.state);
        let goal = self.space.is_goal(&buffers.state);
        if !goal && self.evaluated[s] != Evaluated::Fully {
            let before = self.evaluated[s];
            let (h, evaluated) =
                bound.evaluate(self.space, &buffers.state, before, most.cost, watch, statistics)?;
            self.evaluated[s] = evaluated;
            let weight = if h == C::INFINITE { Weight::INFINITE } else { self.at_least(h.into()) };
            self.bounds[s] = self.bounds[s].max(weight);
        }
        if self.bounds[s] <= most {
            statistics.expanded += 1;
            let first = self.edges.len();
            self.list_edges(&mut buffers);
            statistics.generated += (self.edges.len() - first) as u64;
            let known = self.bounds[s];
            let mut candidates = Vec::with_capacity(self.edges.len() - first + usize::from(goal));
            if goal {
                candidates.push(Reverse(Candidate { weight: Weight::zero(), edge: NONE, nth: 0 }));
            }
            for e in first..self.edges.len() {
                let Edge { cost, to, .. } = self.edges[e];
                let rest = known.cost.minus(cost.into());
                if self.place[to as usize] == NONE && self.bounds[to as usize].cost < rest {
                    self.bounds[to as usize] = self.at_least(rest);
                }
                let (weight, _) = self.weight(Candidate { weight: Weight::zero(), edge: e as u32, nth: 0 });
                if weight != Weight::INFINITE {
                    // Bounds never fall, even if the heuristic is weaker in the next states than in this one.
                    candidates.push(Reverse(Candidate { weight: weight.max(known), edge: e as u32, nth: 0 }));
                }
            }
            let bytes = size_of::<Opened<C::Total>>()
                + size_of::<Edge<C>>() * (self.edges.len() - first)
                + size_of::<Candidate<C::Total>>() * candidates.len();
            watch.charge(bytes as u64)?;
            let candidates = BinaryHeap::from(candidates);
            self.bounds[s] = candidates.peek().map_or(Weight::INFINITE, |front| front.0.weight);
            self.place[s] = self.opened.len() as u32;
            self.opened.push(Opened { state, candidates, listed: Vec::new() });
        }
        self.buffers = buffers;
        Ok(())
    }

    /// Appends the steps from the state in the buffer, by name.
    fn list_edges(&mut self, buffers: &mut Buffers) {
        let task = self.space.task;
        let action = |o: u32| task.operators[o as usize].action;
        self.space.applicable(&buffers.state, &mut buffers.operators);
        buffers.operators.sort_unstable_by_key(|&o| (self.rank[action(o) as usize], o));
        buffers.operators.dedup_by_key(|o| action(*o));
        for &operator in &buffers.operators {
            self.space.apply(&buffers.state, operator, &mut buffers.next);
            let (to, new) = self.table.insert(&buffers.next, NONE, NONE);
            if new {
                self.bounds.push(Weight::zero());
                self.evaluated.push(Evaluated::No);
                self.place.push(NONE);
            }
            self.edges.push(Edge { action: action(operator), cost: C::of(self.space.cost(operator)), to });
        }
    }
}

/// A candidate whose weight depends on the next suffix of another state that is expanded too.
#[derive(Clone, Copy)]
struct Dependent<C> {
    /// Place of the state that has the candidate.
    place: u32,
    /// Cost of its step.
    cost: C,
}

impl<C: Cost> Suffixes<'_, '_, C> {
    /// Sets the bounds of all expanded states, and what their candidates weigh, to the exact values.
    fn settle(&mut self, watch: &mut LimitWatch<'_>) -> Result<(), StopReason> {
        let mut weights = vec![Weight::INFINITE; self.opened.len()];
        let mut queue = BinaryHeap::new();
        let mut start = vec![0u32; self.opened.len() + 1];
        self.for_each(|suffixes, place, candidate| match suffixes.depends_on(candidate) {
            Some(on) => start[on as usize + 1] += 1,
            None => {
                weights[place] =
                    weights[place].min(suffixes.weight(candidate).0.max(suffixes.bound_at(place)))
            }
        });
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let count = start.last().copied().unwrap_or(0) as usize;
        let bytes = (count * size_of::<Dependent<C>>() + weights.len() * 40) as u64;
        watch.charge(bytes.saturating_sub(self.settle_bytes))?;
        self.settle_bytes = self.settle_bytes.max(bytes);
        let mut dependents = vec![Dependent { place: 0, cost: C::default() }; count];
        let mut next = start.clone();
        self.for_each(|suffixes, place, candidate| {
            if let Some(on) = suffixes.depends_on(candidate) {
                let cost = suffixes.edges[candidate.edge as usize].cost;
                dependents[next[on as usize] as usize] = Dependent { place: place as u32, cost };
                next[on as usize] += 1;
            }
        });
        for (place, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != Weight::INFINITE) {
            queue.push(Reverse((weight, place as u32)));
        }
        while let Some(Reverse((weight, place))) = queue.pop() {
            let p = place as usize;
            if weights[p] < weight {
                continue;
            }
            for dependent in &dependents[start[p] as usize..start[p + 1] as usize] {
                let through =
                    weight.with_step(dependent.cost.into()).max(self.bound_at(dependent.place as usize));
                let known = &mut weights[dependent.place as usize];
                if through < *known {
                    *known = through;
                    queue.push(Reverse((through, dependent.place)));
                }
            }
        }
        watch.poll()?;
        for (opened, &weight) in self.opened.iter().zip(&weights) {
            self.bounds[opened.state as usize] = weight;
        }
        for (place, &weight) in weights.iter().enumerate() {
            let mut candidates = std::mem::take(&mut self.opened[place].candidates).into_vec();
            candidates.iter_mut().for_each(|c| c.0.weight = self.weight(c.0).0.max(weight));
            candidates.retain(|c| c.0.weight != Weight::INFINITE);
            self.opened[place].candidates = BinaryHeap::from(candidates);
        }
        Ok(())
    }

    /// Returns the lower bound on the next suffix of an expanded state. Exact values are not lower.
    fn bound_at(&self, place: usize) -> Weight<C::Total> {
        self.bounds[self.opened[place].state as usize]
    }

    /// Calls `f` with the place of each expanded state and each of its candidates.
    fn for_each(&self, mut f: impl FnMut(&Self, usize, Candidate<C::Total>)) {
        for (place, opened) in self.opened.iter().enumerate() {
            opened.candidates.iter().for_each(|candidate| f(self, place, candidate.0));
        }
    }

    /// The place of the expanded state on whose next suffix a candidate's weight depends.
    fn depends_on(&self, candidate: Candidate<C::Total>) -> Option<u32> {
        if candidate.edge == NONE {
            return None;
        }
        let to = self.edges[candidate.edge as usize].to;
        let place = self.place[to as usize];
        (place != NONE && self.listed_suffix(to, candidate.nth).is_none()).then_some(place)
    }
}
