//! One small domain for each construct: planning and validation succeed, or the unsupported construct is
//! reported with its place.

use crate::support::read;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_planning::task::TaskText;
use planforge_planning::{
    Algorithm, CountingLimits, GroundLimits, PlanOptions, PlanResult, SearchOutcome, Simulator, StopReason,
    Unlimited, ValidationDecision, ground, normalize, parse_plan, plan, validate,
};
use std::sync::Arc;

fn solve(domain: &str, problem: &str, algorithm: Algorithm) -> PlanResult {
    let (domain, problem) = read(domain, problem);
    plan(&domain, &problem, &PlanOptions { algorithm, ..PlanOptions::default() }, &mut Unlimited).unwrap()
}

/// Plans with every algorithm, validates, and returns the optimal cost.
fn optimum(domain: &str, problem: &str) -> f64 {
    let mut best = f64::INFINITY;
    for algorithm in [Algorithm::Greedy, Algorithm::BreadthFirst, Algorithm::AStar] {
        let result = solve(domain, problem, algorithm);
        let SearchOutcome::Plan(found) = result.outcome else {
            panic!("{algorithm:?}: {:?}", result.outcome)
        };
        let (domain, problem) = read(domain, problem);
        let report =
            validate(&domain, &problem, &parse_plan(&found.to_string(), SourceId(2)), &mut Unlimited)
                .unwrap();
        assert_eq!(report.decision, ValidationDecision::Valid, "{algorithm:?} {:?}", report.diagnostics);
        assert_eq!(report.cost, found.cost);
        best = found.cost.unwrap();
    }
    best
}

fn errors(domain: &str, problem: &str) -> Vec<Diagnostic> {
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(problem, SourceId(1)).value;
    normalize(&domain, &problem).err().unwrap_or_default()
}

fn slice<'t>(text: &'t str, diagnostic: &Diagnostic) -> &'t str {
    &text[diagnostic.primary().unwrap().span.range()]
}

const LAMPS: &str = "(define (domain lamps) (:requirements :adl) (:types lamp room - object)
 (:predicates (lit ?l - lamp) (in ?l - lamp ?r - room) (dark ?r - room) (here ?r - room) (broken ?l - lamp))
 (:action go :parameters (?from ?to - room) :precondition (and (here ?from) (not (= ?from ?to)))
  :effect (and (here ?to) (not (here ?from))))
 (:action master-switch :parameters (?r - room)
  :precondition (and (here ?r) (exists (?l - lamp) (and (in ?l ?r) (not (broken ?l)))))
  :effect (and (not (dark ?r)) (forall (?l - lamp) (when (and (in ?l ?r) (not (broken ?l))) (lit ?l)))))
 (:action repair :parameters (?l - lamp ?r - room)
  :precondition (and (here ?r) (in ?l ?r) (or (broken ?l) (lit ?l)) (imply (lit ?l) (dark ?r)))
  :effect (not (broken ?l))))";

#[test]
fn adl_is_compiled() {
    let problem = "(define (problem l) (:domain lamps) (:objects a b c - lamp kitchen cellar - room)
     (:init (in a kitchen) (in b kitchen) (in c cellar) (broken b) (broken c) (dark kitchen) (dark cellar) (here kitchen))
     (:goal (and (forall (?l - lamp) (lit ?l)) (or (here kitchen) (broken a)))))";
    // repair b, switch kitchen, go, repair c, switch cellar, go back
    assert_eq!(optimum(LAMPS, problem), 6.0);
    let result = solve(LAMPS, problem, Algorithm::AStar);
    assert_eq!(result.method, "blind A*");
    assert!(result.note.unwrap().contains("conditional effects"));
}

const BASINS: &str =
    "(define (domain basins) (:requirements :typing :derived-predicates :negative-preconditions)
 (:types basin) (:predicates (pipe ?a ?b - basin) (open ?a ?b - basin) (source ?b - basin) (wet ?b - basin)
  (safe ?b - basin) (valve ?b - basin))
 (:derived (wet ?b - basin) (or (source ?b) (exists (?a - basin) (and (wet ?a) (open ?a ?b)))))
 (:derived (safe ?b - basin) (and (valve ?b) (not (wet ?b))))
 (:action unlock :parameters (?a ?b - basin) :precondition (pipe ?a ?b) :effect (open ?a ?b))
 (:action lock :parameters (?a ?b - basin) :precondition (open ?a ?b) :effect (not (open ?a ?b))))";

#[test]
fn derived_predicates_follow_their_strata() {
    let problem = "(define (problem b) (:domain basins) (:objects x y z w - basin)
     (:init (source x) (pipe x y) (pipe y z) (pipe x w) (open x w) (valve w)) (:goal (and (wet z) (safe w))))";
    assert_eq!(optimum(BASINS, problem), 3.0);
    let circle = BASINS.replace("(and (valve ?b) (not (wet ?b)))", "(not (safe ?b))");
    let found = errors(&circle, problem);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].code.as_ref(), slice(&circle, &found[0])),
        ("planning.not-stratifiable", "(safe ?b)")
    );
    let set = BASINS.replace(":effect (open ?a ?b)", ":effect (and (open ?a ?b) (wet ?b))");
    assert_eq!(errors(&set, problem)[0].code, "planning.derived-set");
}

#[test]
fn types_may_have_two_parents_and_constants_may_be_objects() {
    let domain = "(define (domain yard) (:types crane spot - object shed - spot shed - crane)
     (:predicates (has ?x) (near ?x - (either crane shed) ?y - spot) (done))
     (:action use :parameters (?c - crane ?s - spot) :precondition (and (has Hook) (near ?c ?s)) :effect (done)))";
    let problem = "(define (problem y) (:domain yard) (:objects hook - object s1 - shed p - spot)
     (:init (has hook) (near s1 p)) (:goal (done)))";
    assert_eq!(optimum(domain, problem), 1.0);
    // A shed is both; a plain spot is not a crane.
    let (domain, problem) = read(domain, problem);
    let report = validate(&domain, &problem, &parse_plan("(use p s1)", SourceId(2)), &mut Unlimited).unwrap();
    assert_eq!(report.decision, ValidationDecision::Invalid);
    assert_eq!(report.diagnostics[0].code, "plan.type-mismatch");
}

const WALK: &str = "(define (domain walk) (:requirements :typing :action-costs) (:types place)
 (:predicates (at ?p - place) (path ?a ?b - place)) (:functions (total-cost) (length ?a ?b - place))
 (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (path ?a ?b))
  :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b)))))";

fn walk(metric: &str) -> String {
    format!(
        "(define (problem w) (:domain walk) (:objects a b c d - place) (:init (at a) (path a b) (path b d) (path a c)
         (path c d) (path a d) (= (length a b) 0) (= (length b d) 2.5) (= (length a c) 1) (= (length c d) 0.75)
         (= (length a d) 4) (= (total-cost) 0)) (:goal (at d)) {metric})"
    )
}

#[test]
fn costs_may_be_fractions_and_zero() {
    assert_eq!(optimum(WALK, &walk("(:metric minimize (total-cost))")), 1.75);
    assert_eq!(optimum(WALK, &walk("")), 1.0);
    assert_eq!(optimum(WALK, &walk("(:metric minimize (+ (* 2 (total-cost)) (* 3 (total-time))))")), 9.5);
    let SearchOutcome::Unsupported(why) =
        solve(WALK, &walk("(:metric maximize (total-cost))"), Algorithm::AStar).outcome
    else {
        panic!("maximising is not A*'s business")
    };
    assert_eq!(why[0].what, "an action that makes the metric better");
}

const TANK: &str = "(define (domain tank) (:requirements :numeric-fluents :typing) (:types car)
 (:predicates (parked ?c - car)) (:functions (fuel ?c - car) (speed))
 (:action drive :parameters (?c - car) :precondition (>= (fuel ?c) (* 2 (speed)))
  :effect (and (decrease (fuel ?c) (* 2 (speed))) (not (parked ?c))))
 (:action fill :parameters (?c - car) :precondition (not (> (fuel ?c) 3)) :effect (scale-up (fuel ?c) 4)))";
const TANK_PROBLEM: &str = "(define (problem t) (:domain tank) (:objects c - car)
 (:init (parked c) (= (fuel c) 1) (= (speed) 1.5)) (:goal (and (not (parked c)) (< (fuel c) 2))))";

#[test]
fn numbers_are_simulated_validated_and_planned_for() {
    let (domain, problem) = read(TANK, TANK_PROBLEM);
    let lifted = normalize(&domain, &problem).unwrap();
    let simulator =
        Simulator::new(Arc::new(ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap()));
    let mut state = simulator.initial();
    let mut names = Vec::new();
    for _ in 0..2 {
        let applicable = simulator.applicable(&state);
        assert_eq!(applicable.len(), 1);
        names.push(simulator.task().symbols.step(&simulator.task().actions[applicable[0] as usize]));
        assert!(!simulator.is_goal(&state));
        state = simulator.successor(&state, applicable[0]).unwrap();
    }
    assert_eq!(
        (names.join(" "), state.numbers(), simulator.is_goal(&state)),
        ("(fill c) (drive c)".into(), &[planforge_pddl::Number::ONE][..], true)
    );
    let report =
        validate(&domain, &problem, &parse_plan("(fill c) (drive c)", SourceId(2)), &mut Unlimited).unwrap();
    assert_eq!(report.decision, ValidationDecision::Valid);
    let report = validate(&domain, &problem, &parse_plan("(drive c)", SourceId(2)), &mut Unlimited).unwrap();
    let failed = &report.failing_step.unwrap().conditions[0];
    assert_eq!(failed.text, "(>= (fuel c) (* 2 (speed)))");
    assert_eq!(failed.why, "(fuel c) is 1 and (* 2 (speed)) is 3");
    assert_eq!(optimum(TANK, TANK_PROBLEM), 2.0);
}

#[test]
fn unsupported_constructs_are_reported_with_their_place() {
    let durative = "(define (domain d) (:requirements :durative-actions) (:predicates (p))
     (:durative-action a :parameters () :duration (= ?duration 2) :condition (at start (p)) :effect (at end (not (p)))))";
    let plain = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))";
    let problem = "(define (problem x) (:domain d) (:init (p)) (:goal (not (p))))";
    let timed = "(define (problem x) (:domain d) (:init (p) (at 3 (not (p)))) (:goal (not (p))))";
    for (domain, problem, what, text, at) in [
        (durative, problem, "a durative action", TaskText::Domain, "(:durative-action"),
        (plain, timed, "a timed initial literal", TaskText::Problem, "(at 3"),
    ] {
        // The search for cheapest plans does not handle time either.
        let with_time = domain == durative || problem == timed;
        let algorithm = if with_time { Algorithm::AStar } else { Algorithm::Greedy };
        let SearchOutcome::Unsupported(why) = solve(domain, problem, algorithm).outcome else {
            panic!("{what}")
        };
        assert_eq!((why[0].what.as_str(), why[0].place.text), (what, text));
        let source = if text == TaskText::Domain { domain } else { problem };
        assert!(source[why[0].place.span.range()].starts_with(at), "{what}");
        let (domain, problem) = read(domain, problem);
        // Validation executes time only for a caller that asks for it.
        let report = validate(&domain, &problem, &parse_plan("(a)", SourceId(2)), &mut Unlimited).unwrap();
        assert!(matches!(report.decision, ValidationDecision::Unsupported(_)), "{what}");
    }
}

#[test]
fn every_undeclared_name_is_reported() {
    let domain = "(define (domain u) (:types t) (:predicates (p ?x - t))
     (:action a :parameters (?x - t ?y - gone) :precondition (and (p ?z) (p nobody) (q ?x)) :effect (p ?x ?x)))";
    let problem = "(define (problem u) (:domain u) (:objects o - t) (:init (p o)) (:goal (p o)))";
    let found = errors(domain, problem);
    let seen: Vec<(&str, &str)> = found.iter().map(|d| (d.code.as_ref(), slice(domain, d))).collect();
    let undefined = |name| ("planning.undefined", name);
    let expected = [
        undefined("gone"),
        undefined("?z"),
        undefined("nobody"),
        undefined("q"),
        ("planning.arity", "(p ?x ?x)"),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn limits_have_types_of_their_own() {
    let (domain, problem) = read(LAMPS, "(define (problem l) (:domain lamps) (:objects a b c d e f - lamp r s - room)
     (:init (in a r) (in b r) (in c s) (in d s) (in e s) (in f s) (here r)) (:goal (and (broken a) (lit a))))");
    let run = |options: PlanOptions, mut resources: CountingLimits| {
        plan(&domain, &problem, &options, &mut resources).unwrap().outcome
    };
    let all = CountingLimits { polls: u64::MAX, bytes: u64::MAX };
    let bfs = PlanOptions { algorithm: Algorithm::BreadthFirst, ..PlanOptions::default() };
    let stopped = |outcome: SearchOutcome| match outcome {
        SearchOutcome::LimitReached(reason) => Some(reason),
        _ => None,
    };
    // (broken a) is unreachable, which grounding alone shows; a reachable goal is needed to get to the search.
    assert!(matches!(run(bfs, all), SearchOutcome::ProvenUnsolvable(_)));
    let small = GroundLimits { instances: 3, ..GroundLimits::default() };
    assert_eq!(stopped(run(PlanOptions { ground: small, ..bfs }, all)), Some(StopReason::Grounding));
    assert_eq!(stopped(run(bfs, CountingLimits { bytes: 10, ..all })), Some(StopReason::Memory));
    let (domain, problem) = read(WALK, &walk(""));
    let run = |options: PlanOptions, mut resources: CountingLimits| {
        plan(&domain, &problem, &options, &mut resources).unwrap().outcome
    };
    assert_eq!(stopped(run(PlanOptions { max_nodes: 0, ..bfs }, all)), Some(StopReason::Nodes));
    assert_eq!(stopped(run(bfs, CountingLimits { polls: 0, ..all })), Some(StopReason::Time));
    assert!(matches!(run(bfs, all), SearchOutcome::Plan(_)));
}

#[test]
fn hidden_variables_of_pddl_1_2_are_bound_by_the_precondition() {
    let domain = "(define (domain v) (:predicates (on ?x ?y) (held ?x))
     (:action take :parameters (?x) :vars (?y) :precondition (on ?x ?y) :effect (and (held ?x) (not (on ?x ?y)))))";
    let problem = "(define (problem v) (:domain v) (:objects a b c) (:init (on a b)) (:goal (and (held a) (not (on a b)))))";
    assert_eq!(optimum(domain, problem), 1.0);
}

#[test]
fn explanations_of_unsolvable_tasks_name_the_missing_parts() {
    let problem = walk("").replace("(path b d) ", "").replace("(path c d) (path a d)", "");
    let SearchOutcome::ProvenUnsolvable(why) = solve(WALK, &problem, Algorithm::Greedy).outcome else {
        panic!()
    };
    let text = why.text();
    assert!(text.contains("the goal (at d) can never become true"), "{text}");
    assert!(text.contains("(at d) is added only by go, which needs (path ? d)"), "{text}");
    assert!(text.contains("no action adds (path ? d), and it does not hold initially"), "{text}");
    // Here the relaxation reaches the goal.
    let both = walk("").replace("(:goal (at d))", "(:goal (and (at d) (at a)))");
    for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst] {
        let SearchOutcome::ProvenUnsolvable(why) = solve(WALK, &both, algorithm).outcome else { panic!() };
        let text = why.text();
        assert!(text.contains("can never hold together: only one (at ?) holds at a time"), "{text}");
        assert_eq!(why.headline(), None);
    }
}
