//! Top-k planning against plain enumeration of action sequences, and on tasks made to have loops, free steps and few plans.

use crate::support::{Features, Interpreter, Random, random_task, read};
use planforge_diagnostics::SourceId;
use planforge_planning::walk::{GroundingMethod, Model, ModelOptions, Semantics};
use planforge_planning::{
    CountingLimits, Plan, QualityBound, StopReason, TopKEnd, TopKOptions, TopKOutcome, Unlimited,
    ValidationDecision, parse_plan, top_k, validate,
};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

/// Sort key of a plan: cost, length, names.
type Key = (u64, usize, Vec<String>);

/// Most sequences visited by one enumeration.
const SEQUENCES: usize = 3000;

fn options(k: usize) -> TopKOptions {
    TopKOptions::new(NonZeroUsize::new(k).unwrap())
}

/// `(act0 )` as `(act0)`.
fn name(step: &str) -> String {
    step.to_lowercase().replace(" )", ")")
}

fn key(plan: &Plan) -> Key {
    let steps: Vec<String> = plan.step_texts().iter().map(|s| name(s)).collect();
    (plan.cost.unwrap() as u64, steps.len(), steps)
}

/// All plans up to a length that keeps the number of sequences small, in order, with that length. `successors` gives
/// the steps from a state, each with its cost.
fn enumerate<S: Clone>(
    initial: S,
    successors: impl Fn(&S) -> Vec<(String, S, u64)>,
    is_goal: impl Fn(&S) -> bool,
) -> (BTreeSet<Key>, usize) {
    let (mut layer, mut plans, mut length, mut seen) =
        (vec![(Vec::new(), initial, 0)], BTreeSet::new(), 0, 1);
    loop {
        for (steps, state, cost) in &layer {
            if is_goal(state) {
                plans.insert((*cost, length, steps.clone()));
            }
        }
        let mut next = Vec::new();
        for (steps, state, cost) in &layer {
            for (step, after, more) in successors(state) {
                let mut longer: Vec<String> = steps.clone();
                longer.push(step);
                next.push((longer, after, cost + more));
                if seen + next.len() > SEQUENCES {
                    return (plans, length);
                }
            }
        }
        if next.is_empty() {
            return (plans, usize::MAX);
        }
        seen += next.len();
        length += 1;
        // Tasks with one applicable free step would be enumerated without end.
        if length > 40 {
            return (plans, length - 1);
        }
        layer = next;
    }
}

/// Compares an answer with the enumeration: the plans up to its length are those that come no later than the last found.
fn compare(seed: u64, outcome: &TopKOutcome, k: usize, all: &BTreeSet<Key>, length: usize) -> usize {
    let (plans, end) = match outcome {
        TopKOutcome::Plans { plans, end } => (plans.iter().map(key).collect::<Vec<_>>(), *end),
        TopKOutcome::ProvenUnsolvable(_) => (Vec::new(), TopKEnd::NoMore),
        other => panic!("seed {seed}: {other:?}"),
    };
    assert!(plans.is_sorted_by(|a, b| a < b), "seed {seed}: not in strict order: {plans:#?}");
    match end {
        TopKEnd::Enough => assert_eq!(plans.len(), k, "seed {seed}"),
        TopKEnd::NoMore => assert!(plans.len() < k, "seed {seed}"),
        TopKEnd::LimitReached(_) => panic!("seed {seed}: no limit was set"),
    }
    let before = |p: &&Key| end == TopKEnd::NoMore || plans.last().is_some_and(|last| *p <= last);
    let expected: Vec<&Key> = all.iter().filter(before).collect();
    let found: Vec<&Key> = plans.iter().filter(|p| p.1 <= length).collect();
    assert_eq!(found, expected, "seed {seed}, k {k}, length {length}");
    found.len()
}

fn random(seed: u64) -> (String, String, Features) {
    let features = Features { adl: seed % 3 == 1, derived: seed % 6 == 5, costs: seed.is_multiple_of(2) };
    let (domain, problem) = random_task(seed, features);
    (domain, problem, features)
}

#[test]
fn the_first_plans_equal_those_of_an_enumeration() {
    compare_with_enumeration(120, [300, 0, 25]);
}

#[test]
#[ignore = "study of half a minute: cargo xtask long-tests"]
fn the_first_plans_of_400_tasks_equal_those_of_an_enumeration() {
    compare_with_enumeration(400, [1000, 4, 100]);
}

/// Compares plans of random tasks with an enumeration. `minimum` bounds the plans compared, the complete lists and the plans with loops,
/// so that the tasks are worth comparing.
fn compare_with_enumeration(tasks: u64, minimum: [usize; 3]) {
    let (mut compared, mut ended, mut loops) = (0, 0, 0);
    for seed in 0..tasks {
        let (domain_text, problem_text, features) = random(seed);
        let (domain, problem) = read(&domain_text, &problem_text);
        let slow = Interpreter::new(&domain, &problem);
        let steps = |state: &crate::support::TextState| {
            let all = slow.successors(state).into_iter();
            all.map(|(s, (next, cost))| (name(&s), next, if features.costs { cost } else { 1 })).collect()
        };
        let (all, length) = enumerate(slow.initial.clone(), steps, |state| slow.is_goal(state));
        for k in [1, 7, 40] {
            let result = top_k(&domain, &problem, &options(k), &mut Unlimited).unwrap();
            compared += compare(seed, &result.outcome, k, &all, length);
            let TopKOutcome::Plans { plans, end } = result.outcome else { continue };
            ended += usize::from(end == TopKEnd::NoMore);
            for plan in plans.iter().take(8) {
                let report =
                    validate(&domain, &problem, &parse_plan(&plan.to_string(), SourceId(2)), &mut Unlimited)
                        .unwrap();
                assert_eq!(report.decision, ValidationDecision::Valid, "seed {seed}: {plan}");
                assert_eq!(report.cost, plan.cost, "seed {seed}: {plan}");
                let distinct: BTreeSet<String> = plan.step_texts().into_iter().collect();
                loops += usize::from(distinct.len() < plan.steps.len());
            }
        }
    }
    let counts = [compared, ended, loops];
    assert!(counts.iter().zip(minimum).all(|(n, least)| *n > least), "too little: {counts:?}");
}

#[test]
fn without_ground_no_ops_the_surplus_is_gone() {
    let (mut compared, mut fewer) = (0, 0);
    for seed in 0..300 {
        let (domain_text, problem_text, _) = random(seed);
        let (domain, problem) = read(&domain_text, &problem_text);
        let semantics = Semantics::GroundNoOpsDropped;
        let model_options =
            ModelOptions { semantics, method: GroundingMethod::Ground, ..ModelOptions::default() };
        let model = Model::new(&domain, &problem, &model_options, &mut Unlimited).unwrap();
        let simulator = model.simulator().unwrap();
        let steps = |state: &planforge_planning::State| -> Vec<_> {
            let step = |a: u32| {
                let task = simulator.task();
                let text = task.symbols.step(&task.actions[a as usize]);
                (name(&text), simulator.successor(state, a).unwrap(), simulator.cost(a).to_f64() as u64)
            };
            simulator.applicable(state).into_iter().map(step).collect()
        };
        let (all, length) = enumerate(simulator.initial(), steps, |state| simulator.is_goal(state));
        let dropped = TopKOptions { semantics, ..options(25) };
        let dropped = top_k(&domain, &problem, &dropped, &mut Unlimited).unwrap();
        compared += compare(seed, &dropped.outcome, 25, &all, length);
        let strips = top_k(&domain, &problem, &options(25), &mut Unlimited).unwrap();
        if let (TopKOutcome::Plans { plans: a, .. }, TopKOutcome::Plans { plans: b, .. }) =
            (&strips.outcome, &dropped.outcome)
        {
            fewer +=
                usize::from(a.iter().map(key).collect::<Vec<_>>() != b.iter().map(key).collect::<Vec<_>>());
        }
    }
    assert!(compared > 500 && fewer > 5, "too little: {compared} {fewer}");
}

const ROUTES: &str = "(define (domain routes)
  (:requirements :strips :action-costs)
  (:predicates (at ?p) (road ?a ?b) (sky ?a ?b))
  (:functions (total-cost) - number)
  (:action drive :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 10)))
  (:action glide :parameters (?a ?b) :precondition (and (at ?a) (sky ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 0))))";

fn routes(facts: &str) -> String {
    format!(
        "(define (problem r) (:domain routes) (:objects x y z) (:init (at x) {facts} (= (total-cost) 0))
  (:goal (at z)) (:metric minimize (total-cost)))"
    )
}

fn run(facts: &str, options: &TopKOptions) -> (Vec<(u64, String)>, TopKEnd) {
    let (domain, problem) = read(ROUTES, &routes(facts));
    let result = top_k(&domain, &problem, options, &mut Unlimited).unwrap();
    let TopKOutcome::Plans { plans, end } = result.outcome else { panic!("{:?}", result.outcome) };
    (plans.iter().map(|p| (p.cost.unwrap() as u64, p.step_texts().join(" "))).collect(), end)
}

#[test]
fn plans_with_free_loops_are_ordered_by_length_and_do_not_hide_dearer_plans() {
    let (plans, end) = run("(sky x y) (sky y x) (sky y z)", &options(4));
    assert_eq!(end, TopKEnd::Enough);
    assert!(plans.iter().all(|p| p.0 == 0));
    let lengths: Vec<usize> = plans.iter().map(|p| p.1.matches('(').count()).collect();
    assert_eq!(lengths, [2, 4, 6, 8]);
}

#[test]
fn plans_may_pass_through_goal_states() {
    let (plans, _) = run("(road x z) (road z y) (road y z)", &options(3));
    let expected = [
        (10, "(drive x z)"),
        (30, "(drive x z) (drive z y) (drive y z)"),
        (50, "(drive x z) (drive z y) (drive y z) (drive z y) (drive y z)"),
    ];
    assert_eq!(plans, expected.map(|(cost, text)| (cost, text.to_owned())));
}

#[test]
fn a_list_shorter_than_requested_is_complete() {
    let (plans, end) = run("(road x y) (road y z) (road x z) (sky x y)", &options(100));
    assert_eq!(end, TopKEnd::NoMore);
    let expected = [(10, "(drive x z)"), (10, "(glide x y) (drive y z)"), (20, "(drive x y) (drive y z)")];
    assert_eq!(plans, expected.map(|(cost, text)| (cost, text.to_owned())));
    let (domain, problem) = read(ROUTES, &routes("(road x y)"));
    let none = top_k(&domain, &problem, &options(3), &mut Unlimited).unwrap().outcome;
    assert!(matches!(none, TopKOutcome::ProvenUnsolvable(_)), "{none:?}");
}

#[test]
fn a_bound_on_quality_gives_all_plans_within_it() {
    let facts = "(road x z) (road z x) (road x y) (road y z)";
    let costs = |quality| {
        let (plans, end) = run(facts, &TopKOptions { quality, ..options(50) });
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        plans.iter().for_each(|p| *counts.entry(p.0).or_default() += 1);
        (counts.into_iter().collect::<Vec<_>>(), end)
    };
    assert_eq!(costs(Some(QualityBound::Times(1.0))), (vec![(10, 1)], TopKEnd::NoMore));
    assert_eq!(costs(Some(QualityBound::Above(9.9))), (vec![(10, 1)], TopKEnd::NoMore));
    assert_eq!(costs(Some(QualityBound::Above(10.0))), (vec![(10, 1), (20, 1)], TopKEnd::NoMore));
    // x-z-x-z at 30; the two orders of a direct way and one by y at 40.
    assert_eq!(
        costs(Some(QualityBound::Times(4.0))),
        (vec![(10, 1), (20, 1), (30, 1), (40, 2)], TopKEnd::NoMore)
    );
    assert_eq!(costs(None).1, TopKEnd::Enough);
    let (plans, end) = run(facts, &TopKOptions { quality: Some(QualityBound::Times(4.0)), ..options(2) });
    assert_eq!((plans.len(), end), (2, TopKEnd::Enough));
}

#[test]
fn limits_are_distinguished_from_the_end_of_plans() {
    let facts = "(sky x y) (sky y x) (sky y z) (sky z y)";
    let (plans, end) = run(facts, &TopKOptions { max_nodes: 40, ..options(1000) });
    assert_eq!(end, TopKEnd::LimitReached(StopReason::Nodes));
    let (more, _) = run(facts, &options(1000));
    assert!(!plans.is_empty() && plans.len() < 1000);
    assert_eq!(plans, more[..plans.len()], "what a limit leaves is the beginning of the whole answer");
    let (domain, problem) = read(ROUTES, &routes(facts));
    let mut resources = CountingLimits { polls: u64::MAX, bytes: 0 };
    let outcome = top_k(&domain, &problem, &options(3), &mut resources).unwrap().outcome;
    assert!(matches!(outcome, TopKOutcome::LimitReached(StopReason::Memory)), "{outcome:?}");
}

#[test]
fn plans_count_as_memory_however_few_states_there_are() {
    // Each plan is two steps longer than the one before: the first thousand have a million steps.
    let (domain, problem) = read(ROUTES, &routes("(sky x y) (sky y x) (sky y z)"));
    let mut resources = CountingLimits { polls: u64::MAX, bytes: 2_000_000 };
    let outcome = top_k(&domain, &problem, &options(1000), &mut resources).unwrap().outcome;
    let TopKOutcome::Plans { plans, end } = outcome else { panic!("{outcome:?}") };
    assert_eq!(end, TopKEnd::LimitReached(StopReason::Memory));
    assert!((50..500).contains(&plans.len()), "{} plans", plans.len());
    assert!(plans.iter().zip(1..).all(|(plan, n)| plan.steps.len() == 2 * n));
}

/// Edges of a graph: from, to, and the name and cost of the action along it.
type Graph = Vec<(usize, usize, &'static str, u64)>;

const GRAPH: &str = "(define (domain graph)
  (:requirements :strips :action-costs)
  (:predicates (at ?p) (drift ?a ?b) (step ?a ?b) (climb ?a ?b))
  (:functions (total-cost) - number)
  (:action drift :parameters (?a ?b) :precondition (and (at ?a) (drift ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 0)))
  (:action step :parameters (?a ?b) :precondition (and (at ?a) (step ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 1)))
  (:action climb :parameters (?a ?b) :precondition (and (at ?a) (climb ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 7))))";

/// From `p0` to the last place; no edge leads from a place to itself.
fn random_graph(random: &mut Random) -> (usize, Graph) {
    let places = 3 + random.below(5);
    let mut edges = Graph::new();
    for _ in 0..places + random.below(2 * places) {
        let (from, to) = (random.below(places), random.below(places));
        let (name, cost) = [("drift", 0), ("drift", 0), ("step", 1), ("climb", 7)][random.below(4)];
        let edge = (from, to, name, cost);
        if from != to && !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    (places, edges)
}

/// Returns the first `k` walks from `p0` to the last place, best first, in the order of their best
/// completion. `None` if the enumeration exceeds its limit.
fn first_walks(places: usize, edges: &Graph, k: usize) -> Option<Vec<Key>> {
    const FAR: (u64, usize) = (u64::MAX, 0);
    let mut rest = vec![FAR; places];
    rest[places - 1] = (0, 0);
    for _ in 0..places {
        for &(from, to, _, cost) in edges {
            if rest[to] != FAR {
                rest[from] = rest[from].min((rest[to].0 + cost, rest[to].1 + 1));
            }
        }
    }
    type Walk = (u64, usize, usize, Vec<String>);
    let mut layers: BTreeMap<(u64, usize), Vec<Walk>> = BTreeMap::new();
    if rest[0] != FAR {
        layers.insert(rest[0], vec![(0, 0, 0, Vec::new())]);
    }
    let (mut plans, mut followed) = (Vec::new(), 0);
    while plans.len() < k {
        let Some((weight, mut walks)) = layers.pop_first() else { break };
        let mut found = Vec::new();
        while let Some((cost, length, place, steps)) = walks.pop() {
            followed += 1;
            if followed > 30_000 {
                return None;
            }
            if (cost, length) == weight && place == places - 1 {
                found.push((cost, length, steps.clone()));
            }
            for &(_, to, name, more) in edges.iter().filter(|e| e.0 == place && rest[e.1] != FAR) {
                let mut steps = steps.clone();
                steps.push(format!("({name} p{place} p{to})"));
                let walk = (cost + more, length + 1, to, steps);
                let best = (walk.0 + rest[to].0, walk.1 + rest[to].1);
                if best == weight { walks.push(walk) } else { layers.entry(best).or_default().push(walk) }
            }
        }
        found.sort();
        plans.append(&mut found);
    }
    plans.truncate(k);
    Some(plans)
}

#[test]
fn random_graphs_with_free_cycles_give_the_first_walks_in_order() {
    compare_with_walks(200, [6_000, 15, 15, 2_000, 500]);
}

#[test]
#[ignore = "study of a quarter of a minute: cargo xtask long-tests"]
fn the_first_walks_of_1500_random_graphs_come_in_order() {
    compare_with_walks(1500, [50_000, 150, 150, 20_000, 5_000]);
}

/// Compares plans in random graphs with an enumeration of walks. `minimum` bounds the walks compared, the complete lists, the unsolvable
/// graphs, and the walks with cycles and with cycles of cost 0.
fn compare_with_walks(graphs: usize, minimum: [usize; 5]) {
    let mut random = Random::new(6);
    let (mut compared, mut complete, mut unsolvable, mut returning, mut free) = (0, 0, 0, 0, 0);
    for seed in 0..graphs {
        let (places, edges) = random_graph(&mut random);
        let list = |f: &dyn Fn(usize) -> String| (0..places).map(f).collect::<String>();
        let facts: String = edges.iter().map(|(a, b, name, _)| format!("({name} p{a} p{b})")).collect();
        let problem = format!(
            "(define (problem g) (:domain graph) (:objects {}) (:init (at p0) {facts} (= (total-cost) 0))
               (:goal (at p{})) (:metric minimize (total-cost)))",
            list(&|i| format!("p{i} ")),
            places - 1
        );
        let (domain, problem) = read(GRAPH, &problem);
        for k in [1, 10, 120] {
            let Some(expected) = first_walks(places, &edges, k) else { continue };
            let outcome = top_k(&domain, &problem, &options(k), &mut Unlimited).unwrap().outcome;
            let (found, all) = match &outcome {
                TopKOutcome::Plans { plans, end } => (plans.as_slice(), *end == TopKEnd::NoMore),
                TopKOutcome::ProvenUnsolvable(_) => ([].as_slice(), true),
                other => panic!("seed {seed}: {other:?}"),
            };
            assert_eq!(found.iter().map(key).collect::<Vec<_>>(), expected, "seed {seed}, k {k}: {edges:?}");
            assert_eq!(all, expected.len() < k, "seed {seed}, k {k}");
            compared += expected.len();
            complete += usize::from(all && !expected.is_empty());
            unsolvable += usize::from(expected.is_empty());
            returning += expected.iter().filter(|p| p.1 >= places).count();
            free += expected.iter().filter(|p| p.0 == 0 && p.1 >= places).count();
        }
    }
    let counts = [compared, complete, unsolvable, returning, free];
    assert!(counts.iter().zip(minimum).all(|(n, least)| *n > least), "{counts:?}");
}

#[test]
fn the_search_ends_in_spite_of_regions_without_a_goal() {
    // From x free cycles through y lead nowhere, and no delete relaxation shows it: the pass is used up by entering.
    let domain = "(define (domain trap) (:requirements :strips :action-costs :negative-preconditions)
      (:predicates (at ?p) (drift ?a ?b) (pass) (climb ?a ?b)) (:functions (total-cost) - number)
      (:action enter :parameters (?a ?b) :precondition (and (at ?a) (drift ?a ?b))
        :effect (and (not (at ?a)) (at ?b) (not (pass)) (increase (total-cost) 0)))
      (:action climb :parameters (?a ?b) :precondition (and (at ?a) (climb ?a ?b) (pass))
        :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 5))))";
    let problem = "(define (problem t) (:domain trap) (:objects w x y z)
      (:init (at w) (pass) (drift w x) (drift x y) (drift y x) (drift y w) (climb w x) (climb x z) (climb z w) (= (total-cost) 0))
      (:goal (and (at z) (pass))) (:metric minimize (total-cost)))";
    let (domain, problem) = read(domain, problem);
    let outcome = top_k(&domain, &problem, &options(30), &mut Unlimited).unwrap().outcome;
    let TopKOutcome::Plans { plans, end } = outcome else { panic!("{outcome:?}") };
    assert_eq!((plans.len(), end), (30, TopKEnd::Enough));
    assert!(plans.iter().enumerate().all(|(n, p)| p.cost == Some(10.0 + 15.0 * n as f64)));
    let bounded = TopKOptions { quality: Some(QualityBound::Times(3.0)), ..options(30) };
    let outcome = top_k(&domain, &problem, &bounded, &mut Unlimited).unwrap().outcome;
    let TopKOutcome::Plans { plans, end } = outcome else { panic!("{outcome:?}") };
    assert_eq!((plans.len(), end), (2, TopKEnd::NoMore));
}
