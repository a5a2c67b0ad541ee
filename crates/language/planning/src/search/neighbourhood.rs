//! Plan-neighbourhood graph search of Aras (Nakhost and Müller, 2010): a graph of the states around a plan, breadth-first from all states of
//! the plan, and the cheapest path through it. It changes distant parts of a plan together, which no window does.

use super::astar::{Cost, Total};
use super::space::{NONE, SearchStatistics, Space};
use crate::resources::{LimitWatch, StopReason};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Name of the method.
pub(super) const METHOD: &str = "plan neighbourhood";

/// An edge of the graph: an operator, and the state that it leads to.
type Step = (u32, u32);
/// A state in the queue: cost and number of steps of the path, number of the state.
type Queued<C> = Reverse<(<C as Cost>::Total, u32, u32)>;

/// Bytes of a state.
fn node_bytes<C: Cost>(state: u64) -> u64 {
    state + size_of::<(C::Total, u32)>() as u64 + size_of::<usize>() as u64
}

/// Bytes of a step. Each step puts at most one entry into the queue, because a state is taken once from it.
fn step_bytes<C: Cost>() -> u64 {
    (size_of::<Step>() + size_of::<Queued<C>>()) as u64
}

/// Most states that may be generated around a plan in so many bytes, if all of them are new.
pub(super) fn most_generated<C: Cost>(space: &Space<'_>, plan: &[u32], bytes: u64) -> u64 {
    let each = node_bytes::<C>(space.table().bytes_per_state()) + step_bytes::<C>();
    (bytes / each).saturating_sub(plan.len() as u64 + 1)
}

/// Returns a plan that costs less than `plan`, or as much in fewer steps, through the states around it. `None` if there is none among as many
/// states as are expanded until `most` are generated.
pub(super) fn improve<C: Cost>(
    space: &Space<'_>,
    plan: &[u32],
    most: u64,
    watch: &mut LimitWatch<'_>,
    statistics: &mut SearchStatistics,
) -> Result<Option<Vec<u32>>, StopReason> {
    let cost = |operator: u32| C::Total::from(C::of(space.cost(operator)));
    let (mut state, mut next, mut operators) = (space.initial(), Vec::new(), Vec::new());
    let mut table = space.table();
    let per_node = node_bytes::<C>(table.bytes_per_state());
    table.insert(&state, NONE, NONE);
    let mut known = (C::Total::default(), plan.len() as u32);
    // The last step of the plan from each of its states.
    let mut own: Vec<Step> = Vec::new();
    let mut from = 0;
    for &operator in plan {
        watch.tick(table.len(), per_node)?;
        known.0 = known.0 + cost(operator);
        space.apply(&state, operator, &mut next);
        std::mem::swap(&mut state, &mut next);
        let (to, _) = table.insert(&state, NONE, NONE);
        match own.get_mut(from as usize) {
            Some(step) => *step = (operator, to),
            None => own.push((operator, to)),
        }
        from = to;
    }
    // States are expanded in the order of their numbers: those of the plan, then the others as they were generated.
    let mut steps: Vec<Step> = Vec::new();
    let mut starts = vec![0];
    while starts.len() <= table.len() && (steps.len() as u64) < most {
        watch.tick(table.len(), per_node)?;
        table.read(starts.len() as u32 - 1, &mut state);
        if !space.is_dead_end(&state) {
            space.applicable(&state, &mut operators);
            watch.charge(step_bytes::<C>() * operators.len() as u64)?;
            statistics.expanded += 1;
            statistics.generated += operators.len() as u64;
            for &operator in &operators {
                space.apply(&state, operator, &mut next);
                steps.push((operator, table.insert(&next, NONE, NONE).0));
            }
        }
        starts.push(steps.len());
    }
    // The rest of a long plan, so that its goal is in reach.
    let rest = own.get(starts.len() - 1..).unwrap_or_default();
    watch.charge(step_bytes::<C>() * rest.len() as u64)?;
    for &step in rest {
        steps.push(step);
        starts.push(steps.len());
    }
    let mut best = vec![(C::Total::INFINITE, u32::MAX); table.len()];
    best[0] = (C::Total::default(), 0);
    let mut queue: BinaryHeap<Queued<C>> = BinaryHeap::from([Reverse((C::Total::default(), 0, 0))]);
    while let Some(Reverse((reached, length, id))) = queue.pop() {
        if (reached, length) > best[id as usize] {
            continue;
        }
        if (reached, length) >= known {
            return Ok(None);
        }
        watch.tick(table.len(), per_node)?;
        table.read(id, &mut state);
        if space.is_goal(&state) {
            return Ok(Some(table.path(id)));
        }
        let Some(&end) = starts.get(id as usize + 1) else { continue };
        for &(operator, to) in &steps[starts[id as usize]..end] {
            let through = (reached + cost(operator), length + 1);
            if through < best[to as usize] {
                best[to as usize] = through;
                table.set_parent(to, id, operator);
                queue.push(Reverse((through.0, through.1, to)));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::*;
    use crate::ground::{GroundLimits, ground};
    use crate::normalize::normalize;
    use crate::resources::Unlimited;
    use crate::task::GroundTask;
    use planforge_diagnostics::SourceId;

    /// A ring of ten rooms, to be walked in either direction from the first one to number 3.
    pub(crate) fn ring() -> GroundTask {
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
        ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap()
    }

    /// Operators of a walk through these rooms of the ring.
    pub(crate) fn plan_through(space: &Space<'_>, rooms: &mut dyn Iterator<Item = u32>) -> Vec<u32> {
        let symbols = &space.task.symbols;
        let room = |state: &[u64]| {
            let fact = crate::bits::ones(state).next().unwrap();
            symbols.objects[space.task.facts[fact as usize].args[0] as usize].clone()
        };
        let (mut state, mut next, mut operators) = (space.initial(), Vec::new(), Vec::new());
        let mut plan = Vec::new();
        for wanted in rooms {
            space.applicable(&state, &mut operators);
            let step = operators.iter().copied().find(|&operator| {
                space.apply(&state, operator, &mut next);
                room(&next) == format!("r{wanted}")
            });
            plan.push(step.unwrap());
            state.clone_from(&next);
        }
        plan
    }

    #[test]
    fn the_cheapest_path_through_the_states_around_a_plan_replaces_it() {
        let task = ring();
        let space = Space::new(&task, None);
        // The long way round.
        let plan = plan_through(&space, &mut (3..10u32).rev());
        let with_loop = plan_through(&space, &mut [1u32, 0].into_iter().chain((3..10).rev()));
        let improved = |plan: &[u32], most: u64| {
            let mut resources = Unlimited;
            let mut watch = LimitWatch::new(&mut resources, 1_000);
            improve::<u32>(&space, plan, most, &mut watch, &mut SearchStatistics::default()).unwrap()
        };
        // The states of the plan have 16 successors, and the two others lie beside them.
        assert_eq!(improved(&plan, 10), None);
        let better = improved(&plan, 20).unwrap();
        assert_eq!(better.len(), 3);
        assert_eq!(improved(&better, 1_000), None);
        // Only the first state is expanded, and the plan continues from it.
        assert_eq!(improved(&with_loop, 1), Some(plan));
    }
}
