//! Breadth-first search: shortest plans, without a heuristic.

use super::node_table::NONE;
use super::space::{Outcome, SearchStatistics, Space};
use super::watch::LimitWatch;
use crate::resources::StopReason;

/// Runs breadth-first search.
pub(crate) fn search(
    space: &Space<'_>,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Outcome {
    run(space, watch, statistics).unwrap_or_else(Outcome::Stopped)
}

fn run(
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
        state.clear();
        state.extend_from_slice(table.state(current));
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
