//! Plan-neighbourhood graph search of Aras (Nakhost and Müller, 2010): a graph of the states around a plan, breadth-first from all states of
//! the plan, and the cheapest path through it. It changes distant parts of a plan together, which no window does.

use super::space::{NONE, SearchStatistics, Space};
use crate::resources::{LimitWatch, StopReason};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Name of the method.
pub(super) const METHOD: &str = "plan neighbourhood";

/// Bytes of a step of the graph.
const STEP_BYTES: u64 = 8;
/// Bytes of a state beside its entry in the table, with its entry in the queue.
const NODE_BYTES: u64 = 80;

/// Returns a plan that costs less than `plan`, or as much in fewer steps, through the states around it. `None` if there is none among as many
/// states as are expanded until `most` are generated.
pub(super) fn improve(
    space: &Space<'_>,
    plan: &[u32],
    most: u64,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Option<Vec<u32>>, StopReason> {
    let (mut state, mut next, mut operators) = (space.initial(), Vec::new(), Vec::new());
    let mut table = space.table();
    table.insert(&state, NONE, NONE);
    let mut known = (0u128, plan.len());
    for &operator in plan {
        known.0 += u128::from(space.cost(operator));
        space.apply(&state, operator, &mut next);
        std::mem::swap(&mut state, &mut next);
        table.insert(&state, NONE, NONE);
    }
    // States are expanded in the order of their numbers: those of the plan, then the others as they were generated.
    let mut steps: Vec<(u32, u32)> = Vec::new();
    let mut starts = vec![0];
    while starts.len() <= table.len() && (steps.len() as u64) < most {
        watch.tick(table.len(), table.bytes_per_state() + NODE_BYTES)?;
        table.read(starts.len() as u32 - 1, &mut state);
        if !space.is_dead_end(&state) {
            space.applicable(&state, &mut operators);
            watch.charge(STEP_BYTES * operators.len() as u64)?;
            statistics.expanded += 1;
            statistics.generated += operators.len() as u64;
            for &operator in &operators {
                space.apply(&state, operator, &mut next);
                steps.push((operator, table.insert(&next, NONE, NONE).0));
            }
        }
        starts.push(steps.len());
    }
    let mut best = vec![(u128::MAX, usize::MAX); table.len()];
    best[0] = (0, 0);
    let mut queue = BinaryHeap::from([Reverse(((0, 0), 0))]);
    while let Some(Reverse((reached, id))) = queue.pop() {
        if reached > best[id as usize] {
            continue;
        }
        if reached >= known {
            return Ok(None);
        }
        watch.tick(table.len(), table.bytes_per_state() + NODE_BYTES)?;
        table.read(id, &mut state);
        if space.is_goal(&state) {
            return Ok(Some(table.path(id)));
        }
        let Some(&end) = starts.get(id as usize + 1) else { continue };
        for &(operator, to) in &steps[starts[id as usize]..end] {
            let through = (reached.0 + u128::from(space.cost(operator)), reached.1 + 1);
            if through < best[to as usize] {
                best[to as usize] = through;
                table.set_parent(to, id, operator);
                queue.push(Reverse((through, to)));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::ground::{GroundLimits, ground};
    use crate::normalize::normalize;
    use crate::resources::Unlimited;
    use planforge_diagnostics::SourceId;

    #[test]
    fn the_cheapest_path_through_the_states_around_a_plan_replaces_it() {
        let domain =
            "(define (domain ring) (:predicates (here ?r) (door ?a ?b)) (:action go :parameters (?a ?b)
          :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a)))))";
        let rooms: String = (0..10).map(|r| format!(" r{r}")).collect();
        let next = |r: u32| (r + 1) % 10;
        let doors: String = (0..10).map(|r| format!("(door r{r} r{0}) (door r{0} r{r})", next(r))).collect();
        let problem = format!(
            "(define (problem one) (:domain ring) (:objects{rooms}) (:init (here r0) {doors}) (:goal (here r3)))"
        );
        let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
        let problem = planforge_pddl::parse_problem(&problem, SourceId(1)).value;
        let lifted = normalize(&domain, &problem).unwrap();
        let task = ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap();
        let space = Space::new(&task, None);
        // The long way round.
        let mut plan = Vec::new();
        let (mut state, mut after, mut operators) = (space.initial(), Vec::new(), Vec::new());
        let room = |state: &[u64]| {
            let fact = crate::bits::ones(state).next().unwrap();
            task.symbols.objects[task.facts[fact as usize].args[0] as usize].clone()
        };
        for wanted in (3..10).rev() {
            space.applicable(&state, &mut operators);
            let step = operators.iter().copied().find(|&operator| {
                space.apply(&state, operator, &mut after);
                room(&after) == format!("r{wanted}")
            });
            plan.push(step.unwrap());
            space.apply(&state, step.unwrap(), &mut after);
            std::mem::swap(&mut state, &mut after);
        }
        assert!(space.is_goal(&state) && plan.len() == 7);
        let improved = |plan: &[u32], most| {
            let mut resources = Unlimited;
            let mut watch = LimitWatch::new(&mut resources, 1_000);
            improve(&space, plan, most, &mut watch, &mut SearchStatistics::default()).unwrap()
        };
        // The states of the plan have 16 successors, and the two others lie beside them.
        assert_eq!(improved(&plan, 10), None);
        let better = improved(&plan, 20).unwrap();
        assert_eq!(better.len(), 3);
        assert_eq!(improved(&better, 1_000), None);
    }
}
