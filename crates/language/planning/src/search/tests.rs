//! Heuristics against true distances on random tasks.

use super::astar::LmCut;
use super::greedy::{Guidance, Progress};
use super::mutex::Mutexes;
use super::projections::Projections;
use super::reduce;
use super::relaxed::{FfHeuristic, Relaxed};
use super::rounds::tests::Threads;
use super::space::{NONE, NodeTable, Outcome, SearchStatistics, Space, initial_state};
use super::width::{self, RoundWork, WidthSearch};
use crate::axioms::AxiomEvaluator;
use crate::bits;
use crate::resources::{CountingLimits, LimitWatch, ResourceLimits, StopReason};
use crate::{GroundLimits, Unlimited, ground, normalize};
use support::{Features, random_task, read};

/// States of a space with their true distances to the goal (`None` where it cannot be reached).
fn distances(space: &Space<'_>, cap: usize) -> Option<Vec<(Vec<u64>, Option<u64>)>> {
    let mut table = space.table();
    table.insert(&space.initial(), NONE, NONE);
    let (mut edges, mut operators, mut next) = (Vec::new(), Vec::new(), Vec::new());
    let state = |table: &NodeTable, id: u32| {
        let mut state = Vec::new();
        table.read(id, &mut state);
        state
    };
    let mut current = 0;
    while (current as usize) < table.len() {
        if table.len() > cap {
            return None;
        }
        let before = state(&table, current);
        space.applicable(&before, &mut operators);
        for &operator in &operators {
            space.apply(&before, operator, &mut next);
            let (child, _) = table.insert(&next, current, operator);
            edges.push((current as usize, child as usize, space.cost(operator)));
        }
        current += 1;
    }
    let goal = |id: u32| space.is_goal(&state(&table, id)).then_some(0);
    let mut distance: Vec<Option<u64>> = (0..table.len() as u32).map(goal).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &(from, to, cost) in &edges {
            if let Some(d) = distance[to].map(|d| d + cost)
                && distance[from].is_none_or(|known| d < known)
            {
                distance[from] = Some(d);
                changed = true;
            }
        }
    }
    Some((0..table.len()).map(|id| (state(&table, id as u32), distance[id])).collect())
}

#[test]
fn heuristics_respect_true_distances() {
    let (mut bounded, mut dead, mut exact, mut projected) = (0, 0, 0, 0);
    for seed in 0..600 {
        let features = Features { adl: seed % 3 == 2, derived: false, costs: seed % 2 == 0 };
        let (domain, problem) = random_task(seed, features);
        let (domain, problem) = read(&domain, &problem);
        let lifted = normalize(&domain, &problem).unwrap();
        let task = ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap();
        if task.goal_unreachable {
            continue;
        }
        let reduced = reduce(&task);
        let mut resources = Unlimited;
        let mut watch = LimitWatch::new(&mut resources, 1000);
        let mutexes = Mutexes::find(&reduced, &initial_state(&reduced), &mut watch).unwrap().unwrap();
        let relaxed = Relaxed::new(&reduced, &reduced.goal);
        let mut lmcut = LmCut::<u32>::new(&relaxed);
        let mut ff = FfHeuristic::new(&relaxed, reduced.operators.len(), None);
        let Some(states) = distances(&Space::new(&reduced, None), 300) else { continue };
        let simple = !reduced.has_conditional_effects();
        let space = Space::new(&reduced, Some(mutexes));
        let mut projections = if simple { Projections::build(&space, &mut watch).unwrap() } else { None };
        for (state, distance) in states {
            match distance {
                Some(distance) => {
                    assert!(
                        ff.evaluate(&state, &mut Vec::new()).is_some(),
                        "seed {seed}: FF calls a live state dead"
                    );
                    assert!(!space.is_dead_end(&state), "seed {seed}: pairs call a live state dead");
                    if simple {
                        let h = u64::from(lmcut.evaluate(&state, &mut watch).unwrap().unwrap());
                        assert!(h <= distance, "seed {seed}: h = {h} > {distance}");
                        bounded += 1;
                        if let Some(projections) = &mut projections {
                            let h = projections.value(&state);
                            assert!(h <= distance, "seed {seed}: projections say {h} > {distance}");
                            projected += u32::from(h == distance && h > 0);
                        }
                        exact += u32::from(h == distance && h > 0);
                    }
                }
                None => dead += u32::from(space.is_dead_end(&state)),
            }
        }
    }
    let counts = [bounded, dead, exact, projected];
    assert!(
        bounded > 500 && dead > 50 && exact > 100 && projected > 100,
        "too little was compared: {counts:?}"
    );
}

#[test]
fn an_action_that_clears_many_variables_ends_the_projections_before_its_steps_fill_the_memory() {
    let is_built = |trucks: usize| {
        let each = |fact: &dyn Fn(usize) -> String| (0..trucks).map(fact).collect::<String>();
        let domain = "(define (domain boom) (:requirements :adl) (:predicates (at ?t ?l) (truck ?t) (road ?x ?y) (closed) (marked ?l))
          (:action move :parameters (?t ?x ?y) :precondition (and (truck ?t) (at ?t ?x) (road ?x ?y))
            :effect (and (at ?t ?y) (not (at ?t ?x))))
          (:action mark :parameters (?t ?x) :precondition (at ?t ?x) :effect (marked ?x))
          (:action close :parameters () :effect (and (closed) (forall (?t ?l) (not (at ?t ?l))))))";
        let problem = format!(
            "(define (problem b) (:domain boom) (:objects c0 c1 c2 c3 c4 c5 c6 c7 {})
              (:init {} (road c0 c1) (road c1 c2) (road c2 c3) (road c3 c4) (road c4 c5) (road c5 c6) (road c6 c7) (road c7 c0))
              (:goal (and (closed) (marked c7))))",
            each(&|n| format!(" t{n}")),
            each(&|n| format!("(truck t{n}) (at t{n} c0)")),
        );
        let (domain, problem) = read(domain, &problem);
        let lifted = normalize(&domain, &problem).unwrap();
        let task = reduce(&ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
        let mut resources = Unlimited;
        let mut watch = LimitWatch::new(&mut resources, 1000);
        let mutexes = Mutexes::find(&task, &initial_state(&task), &mut watch).unwrap();
        Projections::build(&Space::new(&task, mutexes), &mut watch).unwrap().is_some()
    };
    // One step for each value of each truck: 9 for one truck, 9 to the power of 20 for twenty.
    assert!(is_built(2));
    assert!(!is_built(20));
}

#[test]
fn sums_that_double_with_each_step_take_little_memory() {
    let steps = 24;
    let each = |text: &dyn Fn(usize) -> String| (1..=steps).map(text).collect::<String>();
    let domain = format!(
        "(define (domain double) (:predicates (x0) (y0) {}) {})",
        each(&|n| format!("(x{n}) (y{n}) ")),
        each(&|n| {
            let before = n - 1;
            let action = |f: &str| {
                format!(
                    "(:action {f}{n} :parameters () :precondition (and (x{before}) (y{before})) :effect ({f}{n}))"
                )
            };
            action("x") + &action("y")
        }),
    );
    let problem = format!(
        "(define (problem d) (:domain double) (:init (x0) (y0)) (:goal (and (x{steps}) (y{steps}))))"
    );
    let (domain, problem) = read(&domain, &problem);
    let lifted = normalize(&domain, &problem).unwrap();
    let task = reduce(&ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
    let relaxed = Relaxed::new(&task, &task.goal);
    let mut ff = FfHeuristic::new(&relaxed, task.operators.len(), None);
    assert_eq!(ff.evaluate(&initial_state(&task), &mut Vec::new()), Some(2 * steps as u32));
    assert!(ff.buckets() <= 1 << 12, "{}", ff.buckets());
}

#[test]
fn packed_states_span_the_same_space() {
    let domain = "(define (domain ring) (:requirements :adl) (:constants b c7) (:predicates (at ?r ?x) (next ?x ?y) (seen ?x))
      (:action move :parameters (?r ?x ?y) :precondition (and (at ?r ?x) (next ?x ?y))
        :effect (and (at ?r ?y) (not (at ?r ?x)) (when (at b ?y) (seen c7)))))";
    let places: String = (0..40).filter(|n| *n != 7).map(|n| format!(" c{n}")).collect();
    let roads: String = (0..40).map(|n| format!("(next c{n} c{})", (n + 1) % 40)).collect();
    let problem = format!(
        "(define (problem r) (:domain ring) (:objects a{places}) (:init (at a c0) (at b c9) {roads})
          (:goal (and (seen c7) (at a c3) (at b c5))))",
    );
    let (domain, problem) = read(domain, &problem);
    let lifted = normalize(&domain, &problem).unwrap();
    let task = reduce(&ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
    let mut resources = Unlimited;
    let mut watch = LimitWatch::new(&mut resources, 1000);
    let mutexes = Mutexes::find(&task, &initial_state(&task), &mut watch).unwrap().unwrap();
    assert_eq!(mutexes.packing().map(|packing| packing.words()), Some(1));
    let plain = distances(&Space::new(&task, None), 10_000).unwrap();
    let packed = distances(&Space::new(&task, Some(mutexes)), 10_000).unwrap();
    assert!(plain.len() > 1_600 && plain == packed);
}

#[test]
fn derived_facts_of_a_successor_are_those_computed_anew() {
    let mut changed = 0;
    for seed in 0..400 {
        let (domain, problem) =
            random_task(seed, Features { adl: seed % 2 == 0, derived: true, costs: false });
        let (domain, problem) = read(&domain, &problem);
        let lifted = normalize(&domain, &problem).unwrap();
        let task = ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap();
        let axioms = AxiomEvaluator::new(&task);
        let space = Space::new(&task, None);
        let (mut operators, mut next) = (Vec::new(), Vec::new());
        for (state, _) in distances(&space, 300).unwrap_or_default() {
            space.applicable(&state, &mut operators);
            for &operator in &operators {
                space.apply(&state, operator, &mut next);
                let mut anew = next.clone();
                axioms.close(&mut anew, &[]);
                assert_eq!(anew, next, "seed {seed}");
                let derived = task.basic_facts as u32..task.facts.len() as u32;
                changed += derived.filter(|&f| bits::get(&state, f) != bits::get(&next, f)).count();
            }
        }
    }
    assert!(changed > 1_000, "{changed}");
}

#[test]
fn the_width_search_in_parts_finds_a_plan_where_there_is_one() {
    let (mut plans, mut without) = (0, 0);
    for seed in 0..1_500 {
        let features = Features { adl: seed % 3 == 2, derived: seed % 4 == 0, costs: false };
        let (domain, problem) = random_task(seed, features);
        let (domain, problem) = read(&domain, &problem);
        let lifted = normalize(&domain, &problem).unwrap();
        let task = reduce(&ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
        let space = Space::new(&task, None);
        let Some(states) = distances(&space, 300).filter(|_| !task.goal_unreachable) else { continue };
        if states[0].1 == Some(0) {
            continue;
        }
        let mut resources = Unlimited;
        let mut watch = LimitWatch::new(&mut resources, 1000);
        let guidance = Guidance::new(&task, &mut watch).unwrap();
        let mut search = WidthSearch::new(&space, &guidance);
        let mut statistics = SearchStatistics::default();
        let found = loop {
            match search.run(3, &mut watch, &mut statistics).unwrap() {
                Progress::Plan(plan) => break Some(plan),
                Progress::Exhausted => break None,
                Progress::Paused => {}
            }
        };
        assert_eq!(found.is_some(), states[0].1.is_some(), "seed {seed}");
        let (mut state, mut next) = (space.initial(), Vec::new());
        for operator in found.iter().flatten() {
            assert!(task.operators[*operator as usize].precondition.holds(&state, &[]), "seed {seed}");
            space.apply(&state, *operator, &mut next);
            std::mem::swap(&mut state, &mut next);
        }
        assert!(found.is_none() || space.is_goal(&state), "seed {seed}");
        plans += u32::from(found.is_some());
        without += u32::from(found.is_none());
    }
    assert!(plans > 60 && without > 15, "{plans} {without}");
}

#[test]
fn greedy_and_width_search_give_the_same_result_on_one_thread_and_on_two() {
    let mut counts = [0; 4];
    for seed in 0..1_500 {
        let features = Features { adl: seed % 3 == 2, derived: seed % 4 == 0, costs: false };
        let (domain, problem) = random_task(seed, features);
        let (domain, problem) = read(&domain, &problem);
        let lifted = normalize(&domain, &problem).unwrap();
        let task = reduce(&ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
        let space = Space::new(&task, None);
        let Some(states) = distances(&space, 300).filter(|_| !task.goal_unreachable) else { continue };
        let guidance = Guidance::new(&task, &mut LimitWatch::new(&mut Unlimited, 1000)).unwrap();
        let rounds = RoundWork { alone: 10, round: 20 };
        // Memory for some of the searches, and states for some of them.
        for (bytes, nodes) in [(u64::MAX, u64::MAX), (40, u64::MAX), (u64::MAX, 12)] {
            let counting = CountingLimits { polls: u64::MAX, bytes };
            let run = |limits: &mut dyn ResourceLimits| {
                let mut statistics = SearchStatistics::default();
                let found = width::search(&space, &guidance, rounds, nodes, limits, &mut statistics);
                (found, statistics)
            };
            let (mut one, mut two) = (counting, Threads(counting));
            let (first, second) = (run(&mut one), run(&mut two));
            assert_eq!(first, second, "seed {seed}");
            let (outcome, method) = first.0;
            counts[0] += u32::from(method == width::METHOD);
            match outcome {
                Outcome::Plan(_) => assert!(states[0].1.is_some(), "seed {seed}"),
                Outcome::Unsolvable => {
                    assert!(states[0].1.is_none(), "seed {seed}");
                    counts[1] += 1;
                }
                Outcome::Stopped(StopReason::Memory) => counts[2] += 1,
                Outcome::Stopped(StopReason::Nodes) => counts[3] += 1,
                Outcome::Stopped(reason) => panic!("seed {seed}: {reason}"),
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 3), "{counts:?}");
}

#[path = "../../tests/it/support.rs"]
mod support;
