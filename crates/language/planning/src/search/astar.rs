//! Optimal searches: A* with LM-cut and projections, or blind where these do not apply, and breadth-first search. A* reopens states on a
//! cheaper path: LM-cut is not consistent.
//!
//! [`LmCut`] finds disjunctive action landmarks as cuts in the justification graph of h_max. A [`Cost`] has 32 bits where no sum
//! can reach their end, 128 bits otherwise. Nothing saturates, so that an infinite value always means a dead end.

use super::projections::Projections;
use super::relaxed::Relaxed;
use super::space::{NONE, NodeTable, Outcome, SearchStatistics, Space, StateId};
use crate::resources::{LimitWatch, StopReason};
use crate::task::{Condition, GroundTask};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Add;

/// Bytes of a node and its entry in the open list, for each byte of a cost.
const NODE_BYTES: u64 = 6;

/// Work of a pass over the delete relaxation, where that of an expansion is 1.
pub(super) const EVALUATION: u64 = 8;

/// Searches for a cheapest plan. Returns the method too.
pub(crate) fn search(
    space: &Space<'_>,
    blind: bool,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> (Outcome, &'static str) {
    match fits_narrow(space.task) {
        true => search_with::<u32>(space, blind, watch, statistics),
        false => search_with::<u128>(space, blind, watch, statistics),
    }
}

fn search_with<C: Cost>(
    space: &Space<'_>,
    blind: bool,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> (Outcome, &'static str) {
    let relaxed = (!blind).then(|| Relaxed::new(space.task, &space.task.goal));
    if let Some(Err(reason)) = relaxed.as_ref().map(|relaxed| watch.charge(relaxed.bytes())) {
        return (Outcome::Stopped(reason), "A* with LM-cut");
    }
    let mut bound = match &relaxed {
        Some(relaxed) => Bound::<C>::Mixed(Mixed::new(relaxed)),
        None => Bound::Blind,
    };
    let outcome = match explore(space, &mut bound, watch, statistics) {
        Ok(Explored { table, goal: Some(goal), .. }) => Outcome::Plan(table.path(goal)),
        Ok(_) => Outcome::Unsolvable,
        Err(reason) => Outcome::Stopped(reason),
    };
    let method = match &bound {
        Bound::Blind => "blind A*",
        bound if bound.has_projections() => "A* with LM-cut and projections",
        _ => "A* with LM-cut",
    };
    (outcome, method)
}

/// A lower bound on the cost from a state to the goal.
pub(super) enum Bound<'r, C> {
    /// Zero for every state.
    Blind,
    /// LM-cut, for tasks without conditional effects and axioms.
    LmCut(LmCut<'r, C>),
    /// LM-cut and, in searches that take long, projections, for the same tasks. The highest bound.
    Mixed(Mixed<'r, C>),
    /// h_max, which applies to every task.
    HMax(LmCut<'r, C>),
}

impl<'r, C: Cost> Bound<'r, C> {
    /// The highest bound that applies to the goal of a relaxed task.
    pub(super) fn for_goal(relaxed: &'r Relaxed, additive: bool) -> Self {
        let heuristic = LmCut::new(relaxed);
        if additive { Bound::LmCut(heuristic) } else { Bound::HMax(heuristic) }
    }

    /// True once projections are part of the bound.
    pub(super) fn has_projections(&self) -> bool {
        matches!(self, Bound::Mixed(mixed) if mixed.projections.is_some())
    }

    /// Work of the evaluations so far.
    pub(super) fn work(&self) -> u64 {
        match self {
            Bound::Blind => 0,
            Bound::LmCut(heuristic) | Bound::HMax(heuristic) => heuristic.explorations * EVALUATION,
            Bound::Mixed(mixed) => mixed.lm_cut.explorations * EVALUATION,
        }
    }

    /// A bound for a state, infinite where it shows that the goal is out of reach, and what has been evaluated then. What takes long is
    /// not evaluated if the others are above `enough`, and what was evaluated before does not count again.
    ///
    /// # Errors
    /// The limit that ended the evaluation.
    pub(super) fn evaluate(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        before: Evaluated,
        enough: C::Total,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<(C, Evaluated), StopReason> {
        if space.is_dead_end(state) {
            return Ok((C::INFINITE, Evaluated::Fully));
        }
        statistics.evaluated += u64::from(!matches!(self, Bound::Blind));
        let value = match self {
            Bound::Blind => Some(C::default()),
            Bound::LmCut(heuristic) => heuristic.evaluate(state, watch)?,
            Bound::HMax(heuristic) => heuristic.h_max(state),
            Bound::Mixed(mixed) => return mixed.evaluate(space, state, before, enough, watch),
        };
        Ok((value.unwrap_or(C::INFINITE), Evaluated::Fully))
    }
}

/// Operators that LM-cut visits, each pass over the delete relaxation counted in full, before projections are built, which take about as long.
const BUILD_AFTER: u64 = 10_000_000;
/// States after which it is decided if LM-cut goes on, and the share of them whose bound it has to raise.
const TRIAL: u64 = 1_000;
const LEAST_RAISED: f64 = 0.02;

/// LM-cut and projections.
pub(super) struct Mixed<'r, C> {
    lm_cut: LmCut<'r, C>,
    projections: Option<Box<Projections>>,
    has_built: bool,
    /// States that LM-cut evaluated since the projections were built, and those whose bound it raised.
    evaluated: u64,
    raised: u64,
    /// False once projections are nearly always as high.
    with_lm_cut: bool,
}

impl<'r, C: Cost> Mixed<'r, C> {
    pub(super) fn new(relaxed: &'r Relaxed) -> Self {
        let lm_cut = LmCut::new(relaxed);
        Mixed { lm_cut, projections: None, has_built: false, evaluated: 0, raised: 0, with_lm_cut: true }
    }

    fn evaluate(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        before: Evaluated,
        enough: C::Total,
        watch: &mut LimitWatch<'_>,
    ) -> Result<(C, Evaluated), StopReason> {
        // Distances have 32 bits.
        let visited = self.lm_cut.explorations * self.lm_cut.operators.len() as u64;
        if visited >= BUILD_AFTER && !self.has_built && size_of::<C>() == size_of::<u32>() {
            self.has_built = true;
            self.projections = Projections::build(space, watch)?.map(Box::new);
        }
        let mut value = C::default();
        if let Some(projections) = self.projections.as_mut().filter(|_| before == Evaluated::No) {
            let projected = projections.value(state);
            if projected == u64::MAX {
                return Ok((C::INFINITE, Evaluated::Fully));
            }
            value = C::of(projected.min(u64::from(u32::MAX - 1)));
            if self.with_lm_cut && C::Total::from(value) > enough {
                return Ok((value, Evaluated::Projected));
            }
        }
        if !self.with_lm_cut {
            return Ok((value, Evaluated::Fully));
        }
        let Some(landmarks) = self.lm_cut.evaluate(state, watch)? else {
            return Ok((C::INFINITE, Evaluated::Fully));
        };
        if self.projections.is_some() {
            self.evaluated += 1;
            self.raised += u64::from(C::Total::from(landmarks) > C::Total::from(value).max(enough));
            if self.evaluated.is_multiple_of(TRIAL) {
                self.with_lm_cut = self.raised as f64 >= LEAST_RAISED * TRIAL as f64;
                self.raised = 0;
            }
        }
        Ok((landmarks.max(value), Evaluated::Fully))
    }
}

/// Bounds of a state that were evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluated {
    /// None: its bound is inherited from the state before it.
    No,
    /// Projections, but not LM-cut.
    Projected,
    /// All that apply.
    Fully,
}

/// Open states by f, then h; the latest first within both.
struct Open<C: Cost> {
    buckets: BTreeMap<(C::Total, C), Vec<StateId>>,
}

impl<C: Cost> Open<C> {
    fn push(&mut self, g: C::Total, h: C, id: StateId) {
        self.buckets.entry((g + C::Total::from(h), h)).or_default().push(id);
    }

    /// A state, the cost it was queued with and the bound on what is left.
    fn pop(&mut self) -> Option<(StateId, C::Total, C)> {
        let mut first = self.buckets.first_entry()?;
        let (f, h) = *first.key();
        let id = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
        }
        id.map(|id| (id, f.minus(C::Total::from(h)), h))
    }
}

/// Values of each state, by index.
pub(super) struct Nodes<C: Cost> {
    /// The cost of the cheapest way to it that was found.
    pub(super) g: Vec<C::Total>,
    /// A lower bound on the cost to the goal; infinite if the goal is out of reach.
    pub(super) h: Vec<C>,
    /// Where `h` is from.
    pub(super) evaluated: Vec<Evaluated>,
    closed: Vec<bool>,
}

impl<C: Cost> Nodes<C> {
    fn push(&mut self, g: C::Total, h: C) {
        self.g.push(g);
        self.h.push(h);
        self.evaluated.push(Evaluated::No);
        self.closed.push(false);
    }
}

/// The explored part of the state space when A* ends.
pub(super) struct Explored<C: Cost> {
    pub(super) table: NodeTable,
    pub(super) nodes: Nodes<C>,
    /// The first goal state, reached at the lowest cost; `None` if there is no plan.
    pub(super) goal: Option<StateId>,
}

/// Explores states in order of cost up to the first goal state.
pub(super) fn explore<C: Cost>(
    space: &Space<'_>,
    bound: &mut Bound<'_, C>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Explored<C>, StopReason> {
    let mut exploration = Exploration::new(space, &space.initial());
    let target = Target { goal: &space.task.goal, ceiling: C::Total::INFINITE };
    let goal = loop {
        match exploration.run(space, bound, &target, u64::MAX, watch, statistics)? {
            Progress::Goal(id) => break Some(id),
            Progress::Exhausted => break None,
            Progress::Paused => {}
        }
    };
    Ok(Explored { table: exploration.table, nodes: exploration.nodes, goal })
}

/// What an exploration looks for.
pub(super) struct Target<'g, T> {
    pub(super) goal: &'g Condition,
    /// Only plans that cost less count.
    pub(super) ceiling: T,
}

/// Result of a part of an exploration.
pub(super) enum Progress {
    /// A goal state, reached at the lowest cost.
    Goal(StateId),
    /// No plan costs less than the ceiling.
    Exhausted,
    /// The work of this part is done.
    Paused,
}

/// A* in parts: it can pause and continue. States are evaluated when they are popped from the open list, not when
/// they are generated: until then the parent's value less the step's cost is their bound. In the last layer
/// most successors are never evaluated.
pub(super) struct Exploration<C: Cost> {
    pub(super) table: NodeTable,
    nodes: Nodes<C>,
    open: Open<C>,
    /// No plan costs less, unless it costs as much as a ceiling.
    pub(super) floor: C::Total,
    /// Evaluations and expansions, weighted by about the time that they take.
    pub(super) work: u64,
    state: Vec<u64>,
    next: Vec<u64>,
    operators: Vec<u32>,
}

impl<C: Cost> Exploration<C> {
    pub(super) fn new(space: &Space<'_>, start: &[u64]) -> Self {
        let mut exploration = Exploration {
            table: space.table(),
            nodes: Nodes { g: Vec::new(), h: Vec::new(), evaluated: Vec::new(), closed: Vec::new() },
            open: Open { buckets: BTreeMap::new() },
            floor: C::Total::default(),
            work: 0,
            state: Vec::new(),
            next: Vec::new(),
            operators: Vec::new(),
        };
        exploration.table.insert(start, NONE, NONE);
        exploration.nodes.push(C::Total::default(), C::default());
        exploration.open.push(C::Total::default(), C::default(), 0);
        exploration
    }

    /// Explores states in order of cost until `work` more is done.
    pub(super) fn run(
        &mut self,
        space: &Space<'_>,
        bound: &mut Bound<'_, C>,
        target: &Target<'_, C::Total>,
        work: u64,
        watch: &mut LimitWatch<'_>,
        statistics: &mut SearchStatistics,
    ) -> Result<Progress, StopReason> {
        let end = self.work.saturating_add(work);
        let Exploration { table, nodes, open, state, next, operators, .. } = self;
        while let Some((id, reached, queued)) = open.pop() {
            let i = id as usize;
            if nodes.closed[i] || nodes.g[i] != reached || nodes.h[i] != queued {
                continue;
            }
            let least = reached + C::Total::from(queued);
            self.floor = self.floor.max(least);
            if self.work >= end || least >= target.ceiling {
                open.push(reached, queued, id);
                return Ok(if least >= target.ceiling { Progress::Exhausted } else { Progress::Paused });
            }
            self.work += 1;
            watch.tick(table.len(), table.bytes_per_state() + NODE_BYTES * size_of::<C>() as u64)?;
            table.read(id, state);
            if target.goal.holds(state, &[]) {
                return Ok(Progress::Goal(id));
            }
            if nodes.evaluated[i] != Evaluated::Fully {
                let before = bound.work();
                let (value, evaluated) =
                    bound.evaluate(space, state, nodes.evaluated[i], queued.into(), watch, statistics)?;
                nodes.evaluated[i] = evaluated;
                self.work += bound.work() - before;
                if value == C::INFINITE {
                    nodes.closed[i] = true;
                    nodes.h[i] = C::INFINITE;
                    continue;
                }
                if value > queued {
                    nodes.h[i] = value;
                    open.push(reached, value, id);
                    continue;
                }
            }
            nodes.closed[i] = true;
            statistics.expanded += 1;
            space.applicable(state, operators);
            self.work += operators.len() as u64 / 4;
            for &operator in operators.iter() {
                space.apply(state, operator, next);
                statistics.generated += 1;
                let step = C::of(space.cost(operator));
                let cost = reached + C::Total::from(step);
                let rest = nodes.h[i].minus(step);
                if cost + C::Total::from(rest) >= target.ceiling {
                    continue;
                }
                let (child, new) = table.insert(next, id, operator);
                let c = child as usize;
                if new {
                    nodes.push(cost, rest);
                } else if cost < nodes.g[c] && nodes.h[c] != C::INFINITE {
                    nodes.g[c] = cost;
                    nodes.closed[c] = false;
                    table.set_parent(child, id, operator);
                } else {
                    continue;
                }
                open.push(cost, nodes.h[c], child);
            }
        }
        Ok(Progress::Exhausted)
    }
}

/// Searches breadth-first for a plan with fewest steps.
pub(crate) fn search_breadth_first(
    space: &Space<'_>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Outcome {
    breadth_first(space, watch, statistics).unwrap_or_else(Outcome::Stopped)
}

fn breadth_first(
    space: &Space<'_>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Outcome, StopReason> {
    let mut table = space.table();
    let initial = space.initial();
    table.insert(&initial, NONE, NONE);
    if space.is_goal(&initial) {
        return Ok(Outcome::Plan(Vec::new()));
    }
    let (mut state, mut next, mut operators) = (Vec::new(), Vec::new(), Vec::new());
    let mut current = 0;
    while (current as usize) < table.len() {
        watch.tick(table.len(), table.bytes_per_state())?;
        table.read(current, &mut state);
        if space.is_dead_end(&state) {
            current += 1;
            continue;
        }
        statistics.expanded += 1;
        space.applicable(&state, &mut operators);
        for &operator in &operators {
            space.apply(&state, operator, &mut next);
            statistics.generated += 1;
            let (id, new) = table.insert(&next, current, operator);
            if new && space.is_goal(&next) {
                return Ok(Outcome::Plan(table.path(id)));
            }
        }
        current += 1;
    }
    Ok(Outcome::Unsolvable)
}

/// Side of the cut that a proposition is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Unseen,
    Goal,
    Before,
}

/// Values of an operator during an evaluation. They share a struct because they are read together.
#[derive(Clone, Copy)]
struct OperatorState<C> {
    /// Cost left by the landmarks found so far.
    cost: C,
    /// Preconditions not reached yet.
    open: u32,
    /// The precondition with the highest value.
    supporter: u32,
    /// Value of that precondition.
    highest: C,
}

/// Evaluator; its tables are reused from state to state.
pub(crate) struct LmCut<'r, C> {
    relaxed: &'r Relaxed,
    operators: Vec<OperatorState<C>>,
    /// Initial values of `operators`.
    fresh: Vec<OperatorState<C>>,
    value: Vec<C>,
    /// Proposition to the operators that add it.
    added_by: crate::csr::Csr,
    zone: Vec<Zone>,
    queue: Queue<C>,
    stack: Vec<u32>,
    cut: Vec<u32>,
    /// Passes over the delete relaxation so far.
    explorations: u64,
}

/// A priority queue of propositions: buckets while values are small, a heap otherwise.
struct Queue<C> {
    buckets: Vec<Vec<u32>>,
    heap: std::collections::BinaryHeap<std::cmp::Reverse<(C, u32)>>,
    current: usize,
    /// Entries in the buckets.
    near: usize,
}

/// Cuts between two polls.
const CUTS: u32 = 16;

/// Values below this go to buckets.
const NEAR: usize = 1024;

impl<C: Cost> Queue<C> {
    fn new() -> Self {
        Queue {
            buckets: vec![Vec::new(); NEAR],
            heap: std::collections::BinaryHeap::new(),
            current: NEAR,
            near: 0,
        }
    }

    #[inline]
    fn push(&mut self, value: C, proposition: u32) {
        if let Some(bucket) = value.below(NEAR) {
            self.buckets[bucket].push(proposition);
            self.near += 1;
            self.current = self.current.min(bucket);
        } else {
            self.heap.push(std::cmp::Reverse((value, proposition)));
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<(C, u32)> {
        while self.near > 0 {
            if let Some(proposition) = self.buckets[self.current].pop() {
                self.near -= 1;
                return Some((C::from_index(self.current), proposition));
            }
            self.current += 1;
        }
        self.current = NEAR;
        self.heap.pop().map(|std::cmp::Reverse(entry)| entry)
    }
}

impl<'r, C: Cost> LmCut<'r, C> {
    pub(crate) fn new(relaxed: &'r Relaxed) -> Self {
        let fresh: Vec<OperatorState<C>> = (0..relaxed.operators())
            .map(|o| OperatorState {
                cost: C::of(relaxed.cost[o]),
                open: relaxed.preconditions.row(o).len() as u32,
                supporter: NONE,
                highest: C::default(),
            })
            .collect();
        LmCut {
            relaxed,
            operators: fresh.clone(),
            fresh,
            value: vec![C::INFINITE; relaxed.propositions],
            added_by: relaxed.effects.transpose(relaxed.propositions),
            zone: vec![Zone::Unseen; relaxed.propositions],
            queue: Queue::new(),
            stack: Vec::new(),
            cut: Vec::new(),
            explorations: 0,
        }
    }

    /// A lower bound on the cost to the goal; `None` where the delete relaxation does not reach it.
    ///
    /// # Errors
    /// The limit that ended the evaluation. A goal of thousands of facts has as many cuts.
    pub(crate) fn evaluate(
        &mut self,
        state: &[u64],
        watch: &mut LimitWatch<'_>,
    ) -> Result<Option<C>, StopReason> {
        let relaxed = self.relaxed;
        self.operators.copy_from_slice(&self.fresh);
        self.value.fill(C::INFINITE);
        self.explorations += 1;
        self.explore(state);
        let goal = relaxed.goal as usize;
        if self.value[goal] == C::INFINITE {
            return Ok(None);
        }
        let mut total = C::default();
        let mut cuts = 0u32;
        while self.value[goal] != C::default() {
            cuts = cuts.wrapping_add(1);
            if cuts.is_multiple_of(CUTS) {
                watch.poll()?;
            }
            self.explorations += 1;
            self.zone.fill(Zone::Unseen);
            self.mark_goal_zone();
            self.find_cut(state);
            let least = self.cut.iter().map(|&o| self.operators[o as usize].cost).min().unwrap_or_default();
            if least == C::default() {
                // Cannot happen while the goal's value is positive; ending here keeps the bound admissible in any case.
                return Ok(Some(total));
            }
            total = total + least;
            for &o in &self.cut {
                let cost = &mut self.operators[o as usize].cost;
                *cost = cost.minus(least);
            }
            self.update_values();
        }
        Ok(Some(total))
    }

    /// h_max, which applies to conditional effects and axioms too: it counts no step twice. `None` as for [`LmCut::evaluate`].
    pub(crate) fn h_max(&mut self, state: &[u64]) -> Option<C> {
        self.operators.copy_from_slice(&self.fresh);
        self.value.fill(C::INFINITE);
        self.explorations += 1;
        self.explore(state);
        let value = self.value[self.relaxed.goal as usize];
        (value != C::INFINITE).then_some(value)
    }

    #[inline]
    fn enqueue(&mut self, proposition: u32, value: C) {
        if value < self.value[proposition as usize] {
            self.value[proposition as usize] = value;
            self.queue.push(value, proposition);
        }
    }

    /// h_max of all propositions.
    fn explore(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        relaxed.for_each_true(state, |p| self.enqueue(p, C::default()));
        while let Some((value, proposition)) = self.queue.pop() {
            if self.value[proposition as usize] < value {
                continue;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let shape = &mut self.operators[operator as usize];
                shape.open -= 1;
                if shape.open == 0 {
                    shape.supporter = proposition;
                    shape.highest = value;
                    let target = value + shape.cost;
                    for &effect in relaxed.effects.row(operator as usize) {
                        self.enqueue(effect, target);
                    }
                }
            }
        }
    }

    /// Propositions from which the goal is reached at no cost through supporters.
    fn mark_goal_zone(&mut self) {
        let relaxed = self.relaxed;
        self.zone[relaxed.goal as usize] = Zone::Goal;
        self.stack.push(relaxed.goal);
        while let Some(proposition) = self.stack.pop() {
            for &operator in self.added_by.row(proposition as usize) {
                let shape = self.operators[operator as usize];
                if shape.cost == C::default() && shape.open == 0 {
                    let supporter = shape.supporter as usize;
                    if self.zone[supporter] == Zone::Unseen {
                        self.zone[supporter] = Zone::Goal;
                        self.stack.push(supporter as u32);
                    }
                }
            }
        }
    }

    /// Operators that lead from what is reachable outside the goal zone into it.
    fn find_cut(&mut self, state: &[u64]) {
        let relaxed = self.relaxed;
        self.cut.clear();
        let (zone, stack) = (&mut self.zone, &mut self.stack);
        relaxed.for_each_true(state, |p| {
            if zone[p as usize] == Zone::Unseen {
                zone[p as usize] = Zone::Before;
                stack.push(p);
            }
        });
        while let Some(proposition) = self.stack.pop() {
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let shape = self.operators[operator as usize];
                if shape.supporter != proposition || shape.open != 0 {
                    continue;
                }
                let effects = relaxed.effects.row(operator as usize);
                // Paths through an operator of the cut are not followed: what they cross later need not be in the cut.
                if effects.iter().any(|&effect| self.zone[effect as usize] == Zone::Goal) {
                    self.cut.push(operator);
                    continue;
                }
                for &effect in effects {
                    let zone = &mut self.zone[effect as usize];
                    if *zone == Zone::Unseen {
                        *zone = Zone::Before;
                        self.stack.push(effect);
                    }
                }
            }
        }
    }

    /// h_max after the costs of the cut fell.
    fn update_values(&mut self) {
        let relaxed = self.relaxed;
        let cut = std::mem::take(&mut self.cut);
        for &operator in &cut {
            let shape = self.operators[operator as usize];
            let target = shape.highest + shape.cost;
            for &effect in relaxed.effects.row(operator as usize) {
                self.enqueue(effect, target);
            }
        }
        self.cut = cut;
        while let Some((value, proposition)) = self.queue.pop() {
            if self.value[proposition as usize] < value {
                continue;
            }
            for &operator in relaxed.needed_by.row(proposition as usize) {
                let o = operator as usize;
                let shape = self.operators[o];
                if shape.supporter != proposition || shape.open != 0 || shape.highest <= value {
                    continue;
                }
                let (supporter, highest) = self.highest_precondition(o);
                self.operators[o].supporter = supporter;
                if highest != shape.highest {
                    self.operators[o].highest = highest;
                    let target = highest + shape.cost;
                    for &effect in relaxed.effects.row(o) {
                        self.enqueue(effect, target);
                    }
                }
            }
        }
    }

    #[inline]
    fn highest_precondition(&self, o: usize) -> (u32, C) {
        let mut best = (NONE, C::default());
        for &p in self.relaxed.preconditions.row(o) {
            let value = self.value[p as usize];
            if best.0 == NONE || value > best.1 {
                best = (p, value);
            }
        }
        best
    }
}

/// Cost of a step, and bound on the cost to the goal.
pub(crate) trait Cost: Copy + Ord + Default + Debug + Add<Output = Self> + Send + 'static {
    /// Above the sum of all operators' costs.
    const INFINITE: Self;
    /// Cost of a path.
    type Total: Total + From<Self>;

    fn of(cost: u64) -> Self;

    /// The difference, 0 where it would be negative.
    fn minus(self, other: Self) -> Self;

    /// The value as an index if it is below `end`.
    fn below(self, end: usize) -> Option<usize>;

    fn from_index(index: usize) -> Self;
}

/// Cost of a path of up to 2^32 steps.
pub(crate) trait Total:
    Copy + Ord + Default + Debug + Add<Output = Self> + Into<u128> + Send + 'static
{
    /// That of what does not exist.
    const INFINITE: Self;

    /// The difference, 0 where it would be negative.
    fn minus(self, other: Self) -> Self;

    /// The value, or the highest finite one below it.
    fn of(value: u128) -> Self;

    /// Least number of steps that cost this much if none costs more than `dearest`.
    fn steps(self, dearest: Self) -> u32;
}

macro_rules! cost {
    ($cost:ty, $total:ty) => {
        impl Cost for $cost {
            const INFINITE: Self = <$cost>::MAX;
            type Total = $total;

            #[inline]
            fn of(cost: u64) -> Self {
                cost as $cost
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.saturating_sub(other)
            }

            #[inline]
            fn below(self, end: usize) -> Option<usize> {
                (self < end as $cost).then_some(self as usize)
            }

            #[inline]
            fn from_index(index: usize) -> Self {
                index as $cost
            }
        }

        impl Total for $total {
            const INFINITE: Self = <$total>::MAX;

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.saturating_sub(other)
            }

            fn of(value: u128) -> Self {
                <$total>::try_from(value).unwrap_or(<$total>::MAX - 1)
            }

            fn steps(self, dearest: Self) -> u32 {
                let steps = if self == 0 { 0 } else { self.div_ceil(dearest.max(1)) };
                u32::try_from(steps).unwrap_or(u32::MAX - 1)
            }
        }
    };
}

cost!(u32, u64);
cost!(u128, u128);

/// Returns true if 32 bits hold every cost that a search computes: a bound counts each relaxed operator at most once.
pub(crate) fn fits_narrow(task: &GroundTask) -> bool {
    let relaxed = task.operators.iter().map(|o| u128::from(o.cost) * (1 + o.conditional.len() as u128));
    relaxed.sum::<u128>() < u128::from(u32::MAX / 4)
}
