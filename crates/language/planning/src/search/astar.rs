//! A* with LM-cut, or blind where LM-cut does not apply. States are reopened on a cheaper path: LM-cut is not consistent.

use super::lmcut::LmCut;
use super::node_table::{NONE, NodeTable, StateId};
use super::relaxed::Relaxed;
use super::space::{Outcome, SearchStatistics, Space};
use super::watch::LimitWatch;
use crate::resources::StopReason;
use std::collections::BTreeMap;

/// `h` of states that cannot reach the goal.
pub(super) const DEAD: u32 = u32::MAX;

/// Searches for a cheapest plan.
pub(crate) fn search(
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
        Some(relaxed) => Bound::LmCut(LmCut::new(relaxed)),
        None => Bound::Blind,
    };
    match explore(space, &mut bound, watch, statistics) {
        Ok(Explored { table, goal: Some(goal), .. }) => Outcome::Plan(table.path(goal)),
        Ok(_) => Outcome::Unsolvable,
        Err(reason) => Outcome::Stopped(reason),
    }
}

/// A lower bound on the cost from a state to the goal.
pub(super) enum Bound<'r> {
    /// Zero for every state.
    Blind,
    /// The one that counts most, for tasks without conditional effects and axioms.
    LmCut(LmCut<'r>),
    /// h_max, which applies to every task.
    HMax(LmCut<'r>),
}

impl Bound<'_> {
    /// The bound for a state; [`DEAD`] where it shows that the goal is out of reach.
    pub(super) fn evaluate(
        &mut self,
        space: &Space<'_>,
        state: &[u64],
        statistics: &mut SearchStatistics,
    ) -> u32 {
        if space.is_dead_end(state) {
            return DEAD;
        }
        statistics.evaluated += u64::from(!matches!(self, Bound::Blind));
        match self {
            Bound::Blind => Some(0),
            Bound::LmCut(heuristic) => heuristic.evaluate(state),
            Bound::HMax(heuristic) => heuristic.h_max(state),
        }
        .unwrap_or(DEAD)
    }
}

/// Open states by f, then h; the latest first within both.
struct Open {
    buckets: BTreeMap<(u64, u32), Vec<(StateId, u64)>>,
}

impl Open {
    fn push(&mut self, g: u64, h: u32, id: StateId) {
        self.buckets.entry((g + u64::from(h), h)).or_default().push((id, g));
    }

    /// A state, the cost it was queued with and the bound on what is left.
    fn pop(&mut self) -> Option<(StateId, u64, u32)> {
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
#[derive(Default)]
pub(super) struct Nodes {
    /// The cost of the cheapest way to it that was found.
    pub(super) g: Vec<u64>,
    /// A lower bound on the cost to the goal, or [`DEAD`].
    pub(super) h: Vec<u32>,
    /// True if `h` is the heuristic's value; otherwise `h` is inherited from the parent.
    pub(super) evaluated: Vec<bool>,
    closed: Vec<bool>,
}

impl Nodes {
    fn push(&mut self, g: u64, h: u32) {
        self.g.push(g);
        self.h.push(h);
        self.evaluated.push(false);
        self.closed.push(false);
    }
}

/// The explored part of the state space when A* ends.
pub(super) struct Explored {
    pub(super) table: NodeTable,
    pub(super) nodes: Nodes,
    /// The first goal state, reached at the lowest cost; `None` if there is no plan.
    pub(super) goal: Option<StateId>,
}

/// Explores states in order of cost. States are evaluated when they are popped from the open list, not when
/// they are generated: until then the parent's value less the step's cost is their bound. In the last layer
/// most successors are never evaluated.
pub(super) fn explore(
    space: &Space<'_>,
    bound: &mut Bound<'_>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Explored, StopReason> {
    let mut table = space.table();
    let mut open = Open { buckets: BTreeMap::new() };
    let mut nodes = Nodes::default();
    let initial = space.initial();
    table.insert(&initial, NONE, NONE);
    nodes.push(0, 0);
    open.push(0, 0, 0);
    let (mut state, mut next, mut operators) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((id, reached, queued)) = open.pop() {
        let i = id as usize;
        if nodes.closed[i] || nodes.g[i] != reached || nodes.h[i] != queued {
            continue;
        }
        watch.tick(table.len(), table.bytes_per_state() + 48)?;
        state.clear();
        state.extend_from_slice(table.state(id));
        if space.is_goal(&state) {
            return Ok(Explored { table, nodes, goal: Some(id) });
        }
        if !nodes.evaluated[i] {
            nodes.evaluated[i] = true;
            let value = bound.evaluate(space, &state, statistics);
            if value == DEAD {
                nodes.closed[i] = true;
                nodes.h[i] = DEAD;
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
            let cost = reached + u64::from(space.cost(operator));
            let (child, new) = table.insert(&next, id, operator);
            let c = child as usize;
            if new {
                nodes.push(cost, nodes.h[i].saturating_sub(space.cost(operator)));
            } else if cost < nodes.g[c] && nodes.h[c] != DEAD {
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
