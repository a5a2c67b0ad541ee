//! A* with LM-cut, or blind where LM-cut does not apply. States are reopened on a cheaper path: LM-cut is not consistent.

use super::lmcut::LmCut;
use super::node_table::{NONE, StateId};
use super::relaxed::Relaxed;
use super::space::{Outcome, SearchStatistics, Space, Watch};
use crate::budget::StopReason;
use std::collections::BTreeMap;

/// `h` of states that cannot reach the goal.
const DEAD: u32 = u32::MAX;

/// Searches for a cheapest plan.
pub(crate) fn search(
    space: &Space<'_>,
    blind: bool,
    watch: &mut Watch<'_>,
    statistics: &mut SearchStatistics,
) -> Outcome {
    if blind {
        return run(space, None, watch, statistics).unwrap_or_else(Outcome::Stopped);
    }
    let relaxed = Relaxed::new(space.task);
    if let Err(reason) = watch.charge(relaxed.bytes()) {
        return Outcome::Stopped(reason);
    }
    run(space, Some(LmCut::new(&relaxed)), watch, statistics).unwrap_or_else(Outcome::Stopped)
}

/// Open states by f, then h; the latest first within both.
struct Open {
    buckets: BTreeMap<(u64, u32), Vec<(StateId, u64)>>,
}

impl Open {
    fn push(&mut self, g: u64, h: u32, id: StateId) {
        self.buckets.entry((g + u64::from(h), h)).or_default().push((id, g));
    }

    fn pop(&mut self) -> Option<(StateId, u64)> {
        let mut first = self.buckets.first_entry()?;
        let entry = first.get_mut().pop();
        if first.get().is_empty() {
            first.remove();
        }
        entry
    }
}

fn run(
    space: &Space<'_>,
    mut lmcut: Option<LmCut<'_>>,
    watch: &mut Watch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Outcome, StopReason> {
    let mut evaluate = |state: &[u64], statistics: &mut SearchStatistics| match &mut lmcut {
        _ if space.is_dead_end(state) => DEAD,
        Some(lmcut) => {
            statistics.evaluated += 1;
            lmcut.evaluate(state).unwrap_or(DEAD)
        }
        None => 0,
    };
    let mut table = space.table();
    let mut open = Open { buckets: BTreeMap::new() };
    let (mut g, mut h, mut closed): (Vec<u64>, Vec<u32>, Vec<bool>) = (Vec::new(), Vec::new(), Vec::new());
    let initial = space.initial();
    table.insert(&initial, NONE, NONE);
    g.push(0);
    h.push(evaluate(&initial, statistics));
    closed.push(false);
    if h[0] != DEAD {
        open.push(0, h[0], 0);
    }
    let (mut state, mut next, mut operators) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((id, reached)) = open.pop() {
        let i = id as usize;
        if closed[i] || g[i] != reached {
            continue;
        }
        closed[i] = true;
        state.clear();
        state.extend_from_slice(table.state(id));
        if space.is_goal(&state) {
            return Ok(Outcome::Plan(table.path(id)));
        }
        statistics.expanded += 1;
        space.applicable(&state, &mut operators);
        for &operator in &operators {
            watch.tick(table.len(), table.bytes_per_state() + 40)?;
            space.apply(&state, operator, &mut next);
            statistics.generated += 1;
            let cost = reached + u64::from(space.cost(operator));
            let (child, new) = table.insert(&next, id, operator);
            let c = child as usize;
            if new {
                g.push(cost);
                h.push(evaluate(&next, statistics));
                closed.push(false);
            } else if cost < g[c] {
                g[c] = cost;
                closed[c] = false;
                table.set_parent(child, id, operator);
            } else {
                continue;
            }
            if h[c] != DEAD {
                open.push(cost, h[c], child);
            }
        }
    }
    Ok(Outcome::Unsolvable)
}
