//! A* with LM-cut, or blind where LM-cut does not apply. States are reopened on a cheaper path: LM-cut is not consistent.

use super::cost::{Cost, fits_narrow};
use super::lmcut::LmCut;
use super::node_table::{NONE, NodeTable, StateId};
use super::relaxed::Relaxed;
use super::space::{Outcome, SearchStatistics, Space};
use super::watch::LimitWatch;
use crate::resources::StopReason;
use std::collections::BTreeMap;

/// Bytes of a node and its entry in the open list, for each byte of a cost.
const NODE_BYTES: u64 = 12;

/// Searches for a cheapest plan.
pub(crate) fn search(
    space: &Space<'_>,
    blind: bool,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Outcome {
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
) -> Outcome {
    let relaxed = (!blind).then(|| Relaxed::new(space.task));
    if let Some(Err(reason)) = relaxed.as_ref().map(|relaxed| watch.charge(relaxed.bytes())) {
        return Outcome::Stopped(reason);
    }
    let mut bound = match &relaxed {
        Some(relaxed) => Bound::<C>::LmCut(LmCut::new(relaxed)),
        None => Bound::Blind,
    };
    match explore(space, &mut bound, watch, statistics) {
        Ok(Explored { table, goal: Some(goal), .. }) => Outcome::Plan(table.path(goal)),
        Ok(_) => Outcome::Unsolvable,
        Err(reason) => Outcome::Stopped(reason),
    }
}

/// A lower bound on the cost from a state to the goal.
pub(super) enum Bound<'r, C> {
    /// Zero for every state.
    Blind,
    /// The one that counts most, for tasks without conditional effects and axioms.
    LmCut(LmCut<'r, C>),
    /// h_max, which applies to every task.
    HMax(LmCut<'r, C>),
}

impl<C: Cost> Bound<'_, C> {
    /// The bound for a state; infinite where it shows that the goal is out of reach.
    pub(super) fn evaluate(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        statistics: &mut SearchStatistics,
    ) -> C {
        if space.is_dead_end(state) {
            return C::INFINITE;
        }
        statistics.evaluated += u64::from(!matches!(self, Bound::Blind));
        match self {
            Bound::Blind => Some(C::default()),
            Bound::LmCut(heuristic) => heuristic.evaluate(state),
            Bound::HMax(heuristic) => heuristic.h_max(state),
        }
        .unwrap_or(C::INFINITE)
    }
}

/// States and the costs they were queued with.
type Bucket<T> = Vec<(StateId, T)>;

/// Open states by f, then h; the latest first within both.
struct Open<C: Cost> {
    buckets: BTreeMap<(C::Total, C), Bucket<C::Total>>,
}

impl<C: Cost> Open<C> {
    fn push(&mut self, g: C::Total, h: C, id: StateId) {
        self.buckets.entry((g + C::Total::from(h), h)).or_default().push((id, g));
    }

    /// A state, the cost it was queued with and the bound on what is left.
    fn pop(&mut self) -> Option<(StateId, C::Total, C)> {
        let mut first = self.buckets.first_entry()?;
        let h = first.key().1;
        let entry = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
        }
        entry.map(|(id, g)| (id, g, h))
    }
}

/// Values of each state, by index.
pub(super) struct Nodes<C: Cost> {
    /// The cost of the cheapest way to it that was found.
    pub(super) g: Vec<C::Total>,
    /// A lower bound on the cost to the goal; infinite if the goal is out of reach.
    pub(super) h: Vec<C>,
    /// True if `h` is the heuristic's value; otherwise `h` is inherited from the parent.
    pub(super) evaluated: Vec<bool>,
    closed: Vec<bool>,
}

impl<C: Cost> Nodes<C> {
    fn push(&mut self, g: C::Total, h: C) {
        self.g.push(g);
        self.h.push(h);
        self.evaluated.push(false);
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

/// Explores states in order of cost. States are evaluated when they are popped from the open list, not when
/// they are generated: until then the parent's value less the step's cost is their bound. In the last layer
/// most successors are never evaluated.
pub(super) fn explore<C: Cost>(
    space: &Space<'_>,
    bound: &mut Bound<'_, C>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Explored<C>, StopReason> {
    let mut table = space.table();
    let mut open = Open { buckets: BTreeMap::new() };
    let mut nodes = Nodes::<C> { g: Vec::new(), h: Vec::new(), evaluated: Vec::new(), closed: Vec::new() };
    let start = C::Total::default();
    let initial = space.initial();
    table.insert(&initial, NONE, NONE);
    nodes.push(start, C::default());
    open.push(start, C::default(), 0);
    let (mut state, mut next, mut operators) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((id, reached, queued)) = open.pop() {
        let i = id as usize;
        if nodes.closed[i] || nodes.g[i] != reached || nodes.h[i] != queued {
            continue;
        }
        watch.tick(table.len(), table.bytes_per_state() + NODE_BYTES * size_of::<C>() as u64)?;
        state.clear();
        state.extend_from_slice(table.state(id));
        if space.is_goal(&state) {
            return Ok(Explored { table, nodes, goal: Some(id) });
        }
        if !nodes.evaluated[i] {
            nodes.evaluated[i] = true;
            let value = bound.evaluate(space, &state, statistics);
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
        space.applicable(&state, &mut operators);
        for &operator in &operators {
            space.apply(&state, operator, &mut next);
            statistics.generated += 1;
            let step = C::of(space.cost(operator));
            let cost = reached + C::Total::from(step);
            let (child, new) = table.insert(&next, id, operator);
            let c = child as usize;
            if new {
                nodes.push(cost, nodes.h[i].minus(step));
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
    Ok(Explored { table, nodes, goal: None })
}
