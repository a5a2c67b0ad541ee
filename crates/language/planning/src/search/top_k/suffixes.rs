//! For each state the list of its suffixes: the ways from it to the goal, best first, computed on demand.
//!
//! The n-th suffix of a state is a step followed by a suffix of the next state. So a state keeps one
//! candidate for each of its steps: the first unused suffix after the step, by its weight if it is listed,
//! otherwise by a lower bound. The first candidate is made exact (which may list a suffix of the next state,
//! and so on along a path) until it is listed or another candidate is first. A state is expanded on its first
//! request.

use super::super::astar::{Bound, Explored};
use super::super::cost::{Cost, Total};
use super::super::node_table::{NONE, NodeTable, StateId};
use super::super::space::{SearchStatistics, Space};
use super::super::watch::LimitWatch;
use super::Weight;
use crate::resources::StopReason;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A step from a state.
#[derive(Clone, Copy)]
pub(super) struct Edge<C> {
    pub(super) action: u32,
    pub(super) cost: C,
    pub(super) to: StateId,
}

/// A suffix that is not listed yet. Those of one weight come by the names of their first steps, as edges of a state do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate<T> {
    /// Its weight, or a lower bound.
    pub(super) weight: Weight<T>,
    /// The first step; [`NONE`] for the empty suffix of a goal state.
    pub(super) edge: u32,
    /// Index of the suffix of the state after the step.
    pub(super) nth: u32,
}

/// A state that was expanded.
pub(super) struct Opened<T> {
    pub(super) state: StateId,
    pub(super) candidates: BinaryHeap<Reverse<Candidate<T>>>,
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
pub(super) struct Suffixes<'s, 't, C: Cost> {
    space: &'s Space<'t>,
    rank: &'s [u32],
    table: NodeTable,
    /// By state: a lower bound on its next suffix.
    pub(super) bounds: Vec<Weight<C::Total>>,
    /// True for each state that the heuristic has evaluated.
    evaluated: Vec<bool>,
    /// By state: its place in `opened`, or [`NONE`].
    pub(super) place: Vec<u32>,
    pub(super) opened: Vec<Opened<C::Total>>,
    pub(super) edges: Vec<Edge<C>>,
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
    pub(super) settle_bytes: u64,
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
    pub(super) fn new(
        space: &'s Space<'t>,
        rank: &'s [u32],
        explored: Explored<C>,
        lowest: C::Total,
    ) -> Self {
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
    pub(super) fn next_plan(
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
    pub(super) fn listed_suffix(&self, state: StateId, nth: u32) -> Option<Candidate<C::Total>> {
        let opened = self.opened.get(self.place[state as usize] as usize)?;
        opened.listed.get(nth as usize).copied()
    }

    /// The actions of a plan that is listed.
    pub(super) fn plan(&self, nth: usize) -> Vec<u32> {
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
    pub(super) fn weight(&self, candidate: Candidate<C::Total>) -> (Weight<C::Total>, bool) {
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
        buffers.state.clear();
        buffers.state.extend_from_slice(self.table.state(state));
        let goal = self.space.is_goal(&buffers.state);
        if !goal && !std::mem::replace(&mut self.evaluated[s], true) {
            let h = bound.evaluate(self.space, &buffers.state, statistics);
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
                self.evaluated.push(false);
                self.place.push(NONE);
            }
            self.edges.push(Edge { action: action(operator), cost: C::of(self.space.cost(operator)), to });
        }
    }
}
