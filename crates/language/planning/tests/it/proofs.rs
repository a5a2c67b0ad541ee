//! Proofs that are proofs: exact costs, numeric effects that have no value or contradict each other, and quantifiers
//! over more bindings than can be enumerated.

use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::{
    Algorithm, CountingLimits, GroundLimits, PlanOptions, PlanResult, ResourceLimits, SearchOutcome,
    Simulator, StopReason, TopKOptions, TopKOutcome, Unlimited, ValidationDecision, ValidationReport,
    Validator, ground, normalize, parse_plan, plan, top_k, why_unsolvable,
};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;

const ROADS: &str = "(define (domain roads) (:requirements :typing :action-costs) (:types place)
  (:predicates (at ?p - place) (road ?a ?b - place))
  (:functions (len ?a ?b - place) - number (total-cost) - number)
  (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (len ?a ?b)))))";

/// A problem of roads with lengths; `None` for a road whose length is undefined.
fn roads(edges: &[(&str, &str, Option<&str>)], goal: &str, start: &str) -> String {
    let mut places: Vec<&str> = edges.iter().flat_map(|e| [e.0, e.1]).collect();
    places.sort_unstable();
    places.dedup();
    let mut init = format!("(at {start}) (= (total-cost) 0)");
    for (from, to, len) in edges {
        write!(init, " (road {from} {to})").unwrap();
        if let Some(len) = len {
            write!(init, " (= (len {from} {to}) {len})").unwrap();
        }
    }
    format!(
        "(define (problem r) (:domain roads) (:objects {} - place) (:init {init}) (:goal (at {goal}))
          (:metric minimize (total-cost)))",
        places.join(" ")
    )
}

fn solve(domain: &str, problem: &str, algorithm: Algorithm) -> PlanResult {
    solve_within(domain, problem, algorithm, &mut Unlimited)
}

fn solve_within(
    domain: &str,
    problem: &str,
    algorithm: Algorithm,
    limits: &mut dyn ResourceLimits,
) -> PlanResult {
    let domain = parse_domain(domain, SourceId(0)).value;
    let problem = parse_problem(problem, SourceId(1)).value;
    plan(&domain, &problem, &PlanOptions { algorithm, ..PlanOptions::default() }, limits).unwrap()
}

fn judge(domain: &str, problem: &str, text: &str) -> ValidationReport {
    judge_within(domain, problem, text, &mut Unlimited)
}

fn judge_within(
    domain: &str,
    problem: &str,
    text: &str,
    limits: &mut dyn ResourceLimits,
) -> ValidationReport {
    let domain = parse_domain(domain, SourceId(0)).value;
    let problem = parse_problem(problem, SourceId(1)).value;
    let validator = Validator::new(normalize(&domain, &problem).unwrap());
    validator.validate(&parse_plan(text, SourceId(2)), limits)
}

fn best(domain: &str, problem: &str, k: usize) -> TopKOutcome {
    let domain = parse_domain(domain, SourceId(0)).value;
    let problem = parse_problem(problem, SourceId(1)).value;
    let options = TopKOptions::new(NonZeroUsize::new(k).unwrap());
    top_k(&domain, &problem, &options, &mut Unlimited).unwrap().outcome
}

#[test]
fn large_scaled_costs_are_no_dead_ends() {
    for length in ["999.123457", "999999999999.123457", "1000000000000.5", "123456789012.25"] {
        let places = ["a", "b", "c", "d", "e", "f"];
        let edges: Vec<_> = places.windows(2).map(|w| (w[0], w[1], Some(length))).collect();
        let problem = roads(&edges, "f", "a");
        let expected: f64 = length.parse::<f64>().unwrap() * 5.0;
        for algorithm in [Algorithm::Greedy, Algorithm::AStar] {
            let SearchOutcome::Plan(found) = solve(ROADS, &problem, algorithm).outcome else {
                panic!("{algorithm:?} finds no plan of steps of {length}")
            };
            assert_eq!(found.steps.len(), 5);
            assert!((found.cost.unwrap() - expected).abs() <= expected * 1e-15, "{:?}", found.cost);
            let report = judge(ROADS, &problem, &found.step_texts().join("\n"));
            assert_eq!(report.decision, ValidationDecision::Valid);
            assert_eq!(report.cost, found.cost);
        }
        let TopKOutcome::Plans { plans, .. } = best(ROADS, &problem, 3) else { panic!("top-k of {length}") };
        assert_eq!(plans.len(), 1);
    }
}

#[test]
fn the_cheaper_of_two_nearly_equal_ways_is_found() {
    for (direct, first, second) in [
        ("123456789.1", "123456788", "1"),
        ("1000000000000.000001", "999999999999", "1"),
        ("999999999999.123457", "999999999999.123455", "0.000001"),
    ] {
        let edges = [("a", "c", Some(direct)), ("a", "b", Some(first)), ("b", "c", Some(second))];
        let problem = roads(&edges, "c", "a");
        let SearchOutcome::Plan(found) = solve(ROADS, &problem, Algorithm::AStar).outcome else { panic!() };
        assert_eq!(found.step_texts(), ["(go a b)", "(go b c)"], "{direct}");
        let TopKOutcome::Plans { plans, .. } = best(ROADS, &problem, 2) else { panic!() };
        assert_eq!(plans[0].steps.len(), 2);
        assert_eq!(plans[1].steps.len(), 1);
    }
}

#[test]
fn the_metric_counts_from_its_initial_value() {
    let problem =
        roads(&[("a", "b", Some("3"))], "b", "a").replace("(= (total-cost) 0)", "(= (total-cost) 4)");
    let SearchOutcome::Plan(found) = solve(ROADS, &problem, Algorithm::AStar).outcome else { panic!() };
    assert_eq!(found.cost, Some(7.0));
    assert_eq!(judge(ROADS, &problem, "(go a b)").cost, Some(7.0));
}

#[test]
fn a_step_whose_cost_is_undefined_is_part_of_no_plan() {
    let edges = [("a", "c", None), ("a", "b", Some("1")), ("b", "c", Some("1"))];
    let problem = roads(&edges, "c", "a");
    assert_eq!(judge(ROADS, &problem, "(go a c)").decision, ValidationDecision::Invalid);
    for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst] {
        let SearchOutcome::Plan(found) = solve(ROADS, &problem, algorithm).outcome else { panic!() };
        assert_eq!(found.step_texts(), ["(go a b)", "(go b c)"], "{algorithm:?}");
    }
    let TopKOutcome::Plans { plans, .. } = best(ROADS, &problem, 5) else { panic!() };
    assert_eq!(plans.len(), 1);
    let alone = roads(&[("a", "c", None)], "c", "a");
    assert!(matches!(solve(ROADS, &alone, Algorithm::Greedy).outcome, SearchOutcome::ProvenUnsolvable(_)));
}

/// One action with these effects; `f` and `g` are functions.
fn one_action(effects: &str, init: &str, goal: &str) -> (String, String) {
    let domain = format!(
        "(define (domain t) (:requirements :fluents :adl) (:predicates (p) (q)) (:functions (f) (g))
          (:action a :parameters () :precondition (p) :effect (and (q) {effects})))"
    );
    let problem = format!("(define (problem t) (:domain t) (:init (p) {init}) (:goal {goal}))");
    (domain, problem)
}

/// Numeric effects, initial values, a goal, and whether `(a)` is a plan. VAL agrees, except where it computes with
/// undefined or infinite values.
const EFFECTS: &[(&str, &str, &str, bool)] = &[
    ("(assign (f) 1) (assign (f) 2)", "(= (f) 0)", "(q)", false),
    ("(assign (f) 1) (assign (f) 1)", "(= (f) 0)", "(q)", false),
    ("(assign (f) 1) (increase (f) 2)", "(= (f) 0)", "(q)", false),
    ("(scale-up (f) 2) (scale-up (f) 2)", "(= (f) 1)", "(q)", false),
    ("(when (p) (assign (f) 1)) (assign (f) 2)", "(= (f) 0)", "(q)", false),
    ("(when (q) (assign (f) 1)) (assign (f) 2)", "(= (f) 0)", "(= (f) 2)", true),
    ("(increase (f) 1) (increase (f) 2)", "(= (f) 0)", "(= (f) 3)", true),
    ("(increase (f) 1) (decrease (f) 2)", "(= (f) 0)", "(= (f) -1)", true),
    ("(increase (f) 1)", "", "(q)", false),
    ("(increase (f) (g))", "(= (f) 0)", "(q)", false),
    ("(assign (f) (g)) (assign (g) (f))", "(= (f) 0) (= (g) 1)", "(and (= (f) 1) (= (g) 0))", true),
    ("(scale-down (f) 0)", "(= (f) 1)", "(q)", false),
    ("(scale-down (f) (g))", "(= (f) 1) (= (g) 0)", "(q)", false),
    ("(assign (f) (/ 1 0))", "(= (f) 1)", "(q)", false),
    ("(assign (f) (+ 0.1 0.2))", "(= (f) 0)", "(= (f) 0.3)", true),
    ("(assign (f) (* 3 (/ 1 3)))", "(= (f) 0)", "(= (f) 1)", true),
    ("(assign (f) 12345678901234567890)", "(= (f) 0)", "(= (f) 12345678901234567890)", true),
    ("(assign (f) 12345678901234567890)", "(= (f) 0)", "(= (f) 12345678901234567891)", false),
];

#[test]
fn validation_simulation_and_walks_agree_on_numeric_effects() {
    for (effects, init, goal, valid) in EFFECTS {
        let (domain, problem) = one_action(effects, init, goal);
        let report = judge(&domain, &problem, "(a)");
        let expected = if *valid { ValidationDecision::Valid } else { ValidationDecision::Invalid };
        assert_eq!(report.decision, expected, "{effects} {init}");
        let domain_tree = parse_domain(&domain, SourceId(0)).value;
        let problem_tree = parse_problem(&problem, SourceId(1)).value;
        let lifted = normalize(&domain_tree, &problem_tree).unwrap();
        let task = ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap();
        let simulator = Simulator::new(Arc::new(task));
        let reached = simulator
            .applicable(&simulator.initial())
            .into_iter()
            .filter_map(|action| simulator.successor(&simulator.initial(), action))
            .any(|state| simulator.is_goal(&state));
        assert_eq!(reached, *valid, "simulator: {effects} {init}");
        for method in [
            planforge_planning::walk::GroundingMethod::Ground,
            planforge_planning::walk::GroundingMethod::Lifted,
        ] {
            let options = planforge_planning::walk::ModelOptions { method, ..Default::default() };
            let model =
                planforge_planning::walk::Model::new(&domain_tree, &problem_tree, &options, &mut Unlimited)
                    .unwrap();
            let applicable = !model.applicable(&model.initial(), &mut Unlimited).unwrap().is_empty();
            let failed = report.failing_step.is_some();
            assert_eq!(applicable, !failed, "{method:?}: {effects} {init}");
        }
    }
}

#[test]
fn search_never_contradicts_validation_on_numeric_effects() {
    for (effects, init, _, _) in EFFECTS {
        let (domain, problem) = one_action(effects, init, "(q)");
        let valid = judge(&domain, &problem, "(a)").is_valid();
        for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst] {
            match solve(&domain, &problem, algorithm).outcome {
                SearchOutcome::Plan(_) => assert!(valid, "{algorithm:?}: {effects}"),
                SearchOutcome::ProvenUnsolvable(_) => assert!(!valid, "{algorithm:?}: {effects}"),
                SearchOutcome::Unsupported(_) => {}
                other => panic!("{algorithm:?}: {effects}: {other:?}"),
            }
        }
    }
}

#[test]
fn arithmetic_that_is_not_exact_decides_nothing() {
    let (domain, problem) = one_action("(assign (f) 1e300)", "(= (f) 0)", "(> (f) 1)");
    let report = judge(&domain, &problem, "(a)");
    assert!(matches!(report.decision, ValidationDecision::Unsupported(_)), "{:?}", report.decision);
}

/// The formula of ten variables that no loop over bindings gets through, in different places.
fn blocks(objects: usize, goal: &str, precondition: &str) -> (String, String) {
    let domain = format!(
        "(define (domain b) (:requirements :adl) (:types block) (:predicates (covered ?b - block) (next ?a ?b - block) (done))
          (:action cover :parameters (?b - block) :precondition {precondition} :effect (covered ?b))
          (:action finish :parameters () :precondition (forall (?b - block) (covered ?b)) :effect (done)))"
    );
    let names: Vec<String> = (0..objects).map(|i| format!("b{i}")).collect();
    let next: Vec<String> = names.windows(2).map(|w| format!("(next {} {})", w[0], w[1])).collect();
    let problem = format!(
        "(define (problem b) (:domain b) (:objects {} - block) (:init {}) (:goal {goal}))",
        names.join(" "),
        next.join(" ")
    );
    (domain, problem)
}

/// Polls that are enough for what needs no enumeration, and far too few for ten billion bindings.
const FEW_POLLS: u64 = 20_000;

const TEN: &str = "?a ?b ?c ?d ?e ?f ?g ?h ?i ?j - block";

#[test]
fn quantifiers_over_ten_billion_bindings_are_decided_at_once() {
    let chain = "(and (next ?a ?b) (next ?b ?c) (next ?c ?d) (next ?d ?e) (next ?e ?f) (next ?f ?g) (next ?g ?h) (next ?h ?i) (next ?i ?j))";
    let cases = [
        (format!("(forall ({TEN}) (or (covered ?a) (not (covered ?a))))"), true),
        (
            format!(
                "(forall ({TEN}) (and (imply (covered ?a) (covered ?a)) (imply (covered ?j) (covered ?j))))"
            ),
            true,
        ),
        (format!("(exists ({TEN}) {chain})"), true),
        (format!("(exists ({TEN}) (and {chain} (next ?j ?a)))"), false),
        (format!("(forall ({TEN}) (imply {chain} (not (next ?j ?a))))"), true),
        (
            format!(
                "(forall ({TEN}) (imply (and (next ?a ?b) (next ?i ?j)) (and (not (= ?a ?b)) (not (= ?i ?j)))))"
            ),
            true,
        ),
        (format!("(exists ({TEN}) (and (next ?a ?b) (next ?b ?a) (not (covered ?j))))"), false),
        (format!("(exists ({TEN}) (or (covered ?a) (and (covered ?b) (covered ?j))))"), false),
    ];
    for (formula, holds) in &cases {
        let (domain, problem) = blocks(12, formula, "(not (covered ?b))");
        let mut limits = CountingLimits { polls: FEW_POLLS, bytes: u64::MAX };
        let report = judge_within(&domain, &problem, "", &mut limits);
        let decision = if *holds { ValidationDecision::Valid } else { ValidationDecision::Invalid };
        assert_eq!(report.decision, decision, "{formula}");
        let domain_tree = parse_domain(&domain, SourceId(0)).value;
        let problem_tree = parse_problem(&problem, SourceId(1)).value;
        let lifted = normalize(&domain_tree, &problem_tree).unwrap();
        why_unsolvable(&lifted, &mut limits);
        assert!(limits.polls > 0, "{formula}");
    }
}

#[test]
fn the_planner_decides_quantifiers_whose_parts_share_no_variable() {
    let goal = format!("(and (done) (forall ({TEN}) (or (covered ?a) (not (covered ?a)))))");
    let (domain, problem) =
        blocks(12, &goal, &format!("(exists ({TEN}) (and (next ?a ?b) (not (covered ?j))))"));
    let mut limits = CountingLimits { polls: FEW_POLLS, bytes: u64::MAX };
    let result = solve_within(&domain, &problem, Algorithm::Greedy, &mut limits);
    let SearchOutcome::Plan(found) = result.outcome else { panic!("{:?}", result.outcome) };
    let steps = found.step_texts().join("\n");
    let report = judge_within(&domain, &problem, &steps, &mut limits);
    assert_eq!(report.decision, ValidationDecision::Valid);
}

#[test]
fn what_a_limit_cuts_is_undecided() {
    // A pigeonhole formula: nothing but search decides it.
    let pairs: Vec<String> = (0..10)
        .flat_map(|i| {
            (0..i).map(move |j| format!("(not (= ?{} ?{}))", (b'a' + i) as char, (b'a' + j) as char))
        })
        .collect();
    let goal = format!("(exists ({TEN}) (and {} (covered ?a)))", pairs.join(" "))
        .replace("(covered ?a)", "(not (next ?a ?j))");
    let (domain, problem) = blocks(9, &goal, "(not (covered ?b))");
    let domain = parse_domain(&domain, SourceId(0)).value;
    let problem = parse_problem(&problem, SourceId(1)).value;
    let validator = Validator::new(normalize(&domain, &problem).unwrap());
    let mut limits = CountingLimits { polls: 1000, bytes: u64::MAX };
    let report = validator.validate(&parse_plan("", SourceId(2)), &mut limits);
    assert_eq!(report.decision, ValidationDecision::LimitReached(StopReason::Time));
    assert!(report.diagnostics.iter().all(|d| !d.is_error()));
    let explanation = why_unsolvable(validator.task(), &mut CountingLimits { polls: 1000, bytes: u64::MAX });
    assert_eq!((explanation.stopped, explanation.reasons.len()), (Some(StopReason::Time), 0));
    assert_eq!(explanation.text(), "the time limit ended the search for the reasons.");
}

#[test]
fn a_limit_ends_the_search_for_missing_achievers() {
    let actions: String = (0..2000)
        .map(|i| format!("(:action a{i} :parameters (?x) :precondition (and (p ?x) (q ?x)) :effect (r ?x))"))
        .collect();
    let domain = format!("(define (domain d) (:predicates (p ?x) (q ?x) (r ?x)) {actions})");
    let problem = "(define (problem p) (:domain d) (:objects o) (:init (q o)) (:goal (r o)))";
    let domain = parse_domain(&domain, SourceId(0)).value;
    let problem = parse_problem(problem, SourceId(1)).value;
    let task = normalize(&domain, &problem).unwrap();
    let whole = why_unsolvable(&task, &mut Unlimited);
    assert!(whole.stopped.is_none() && whole.reasons.len() > 2000);
    // Less than the texts about the achievers.
    let cut = why_unsolvable(&task, &mut CountingLimits { polls: u64::MAX, bytes: 20_000 });
    assert_eq!(cut.stopped, Some(StopReason::Memory));
    assert!(cut.reasons.len() < 2000);
}

/// Towers of blocks with `above` as the transitive closure of `on`, taken apart from the top.
fn towers(n: usize) -> (String, String, String) {
    let domain = "(define (domain towers) (:requirements :adl :derived-predicates) (:predicates (on ?a ?b) (table ?a) (above ?a ?b))
        (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))
        (:action unstack :parameters (?a ?b)
          :precondition (and (on ?a ?b) (above ?a base) (not (exists (?c) (above ?c ?a))))
          :effect (and (not (on ?a ?b)) (table ?a))))"
        .to_owned();
    let mut init = String::from("(on b0 base)");
    let mut objects = String::from("base b0");
    for i in 1..n {
        write!(init, " (on b{i} b{})", i - 1).unwrap();
        write!(objects, " b{i}").unwrap();
    }
    let problem = format!(
        "(define (problem t) (:domain towers) (:objects {objects}) (:init {init}) (:goal (not (exists (?a) (above ?a b0)))))"
    );
    let steps: Vec<String> = (1..n).rev().map(|i| format!("(unstack b{i} b{})", i - 1)).collect();
    (domain, problem, steps.join("\n"))
}

#[test]
fn derived_predicates_of_long_plans_are_validated_in_time() {
    let (domain, problem, plan) = towers(200);
    // The complete closure of each state takes 46,000 polls in all.
    let mut limits = CountingLimits { polls: 1_000, bytes: u64::MAX };
    let report = judge_within(&domain, &problem, &plan, &mut limits);
    assert_eq!(report.decision, ValidationDecision::Valid);
}

#[test]
fn a_failing_step_is_explained_by_the_complete_state() {
    let (domain, problem, plan) = towers(4);
    let report = judge(&domain, &problem, &plan.replacen("(unstack b3 b2)\n", "", 1));
    let failing = report.failing_step.unwrap();
    assert_eq!((failing.index, failing.conditions.len()), (0, 1));
    let report = judge(&domain, &problem, "(unstack b3 b2)\n(unstack b2 b1)");
    assert!(!report.is_valid() && report.failing_step.is_none());
    assert_eq!(report.missing_goals.len(), 1);
}

#[test]
fn recursive_rules_in_every_form_give_the_same_atoms() {
    let closures = [
        "(:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))",
        "(:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (above ?x ?z) (above ?z ?y)))))",
        "(:derived (above ?x ?y) (on ?x ?y)) (:derived (above ?x ?y) (exists (?z) (and (above ?x ?z) (on ?z ?y))))",
        "(:derived (above ?x ?y) (or (on ?x ?y) (not (forall (?z) (not (and (on ?x ?z) (above ?z ?y)))))))",
    ];
    for rules in closures {
        let domain = format!(
            "(define (domain d) (:requirements :adl :derived-predicates) (:predicates (on ?a ?b) (above ?a ?b) (free ?a))
              {rules} (:derived (free ?x) (not (exists (?y) (above ?y ?x))))
              (:action cut :parameters (?a ?b) :precondition (and (on ?a ?b) (free ?a)) :effect (not (on ?a ?b)))
              (:action tie :parameters (?a ?b) :precondition (and (free ?a) (free ?b) (not (above ?a ?b))) :effect (on ?a ?b)))"
        );
        let problem = "(define (problem p) (:domain d) (:objects a b c e) (:init (on a b) (on b c) (on e e))
              (:goal (and (above c b) (not (above a c)) (free c) (above e e))))";
        let plan = "(cut a b)\n(cut b c)\n(tie c b)\n";
        assert!(judge(&domain, problem, plan).is_valid(), "{rules}");
        assert!(!judge(&domain, problem, "(cut b c)").is_valid(), "{rules}");
    }
}

/// Runs in a thread with a small stack.
fn in_small_stack(f: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(f).unwrap().join().unwrap();
}

/// Parses, normalises, grounds, plans, explains and validates.
fn everything(domain: String, problem: String) {
    in_small_stack(move || {
        let domain = parse_domain(&domain, SourceId(0)).value;
        let problem = parse_problem(&problem, SourceId(1)).value;
        let copy = problem.clone();
        let _ = planforge_pddl::print_problem(&copy);
        let _ = planforge_pddl::print_domain(&domain);
        drop(copy);
        let Ok(lifted) = normalize(&domain, &problem) else { return };
        let limits = || CountingLimits { polls: 2_000, bytes: 1 << 32 };
        let _ = why_unsolvable(&lifted, &mut limits());
        let _ = plan(&domain, &problem, &PlanOptions::default(), &mut limits());
        let validator = Validator::new(lifted);
        let report = validator.validate(&parse_plan("(a)\n", SourceId(2)), &mut limits());
        let _ = validator.goal_along(&report.trace, &mut limits());
    });
}

const TINY: &str =
    "(define (domain t) (:requirements :adl :fluents) (:predicates (p ?x ?y) (q)) (:functions (f))
  (:action a :parameters () :precondition (not (q)) :effect (and (q) (increase (f) 1))))";

#[test]
fn wide_texts_do_not_overflow_the_stack() {
    let many = 50_000;
    let goals = "(:goal (q)) ".repeat(many);
    everything(TINY.into(), format!("(define (problem t) (:domain t) (:init (= (f) 0)) {goals})"));
    let sum = format!("(< (+ {}) 7)", "(f) ".repeat(many));
    everything(TINY.into(), format!("(define (problem t) (:domain t) (:init (= (f) 0)) (:goal {sum}))"));
    let sum = format!("(:metric minimize (+ {}))", "(f) ".repeat(many));
    everything(TINY.into(), format!("(define (problem t) (:domain t) (:init (= (f) 0)) (:goal (q)) {sum})"));
    // Smaller: the limits are counted, but sums over pairs take their time.
    let many = 5_000;
    let variables: Vec<String> = (0..many).map(|i| format!("?v{i}")).collect();
    let chain: Vec<String> = (1..many).map(|i| format!("(p ?v{} ?v{i})", i - 1)).collect();
    for kind in ["exists", "forall"] {
        let goal = format!("({kind} ({}) (and {}))", variables.join(" "), chain.join(" "));
        everything(
            TINY.into(),
            format!("(define (problem t) (:domain t) (:objects o) (:init (p o o)) (:goal {goal}))"),
        );
    }
    let atoms = "(p o o) ".repeat(many);
    let domain = TINY
        .replace("(not (q))", &format!("(and {atoms})"))
        .replace("(:functions", "(:constants o) (:functions");
    everything(domain, "(define (problem t) (:domain t) (:init (p o o) (= (f) 0)) (:goal (q)))".into());
    let domain = TINY.replace(":parameters ()", &format!(":parameters ({})", variables.join(" ")));
    everything(domain, "(define (problem t) (:domain t) (:objects o) (:init (= (f) 0)) (:goal (q)))".into());
    let effects = "(increase (f) 1) ".repeat(many);
    let domain = TINY.replace("(increase (f) 1)", &effects);
    everything(domain, "(define (problem t) (:domain t) (:init (= (f) 0)) (:goal (q)))".into());
}

#[test]
fn deep_texts_do_not_overflow_the_stack() {
    let depth = 240;
    let open = |i: usize| {
        if i.is_multiple_of(2) {
            format!("(forall (?x{i}) (or (q) ")
        } else {
            format!("(exists (?x{i}) (and (p ?x{i} ?x{}) ", i - 1)
        }
    };
    let goal: String = (0..depth).map(open).collect::<String>() + "(q)" + &"))".repeat(depth);
    everything(
        TINY.into(),
        format!("(define (problem t) (:domain t) (:objects o) (:init (p o o) (= (f) 0)) (:goal {goal}))"),
    );
    let sum = "(+ 1 ".repeat(480) + "(f)" + &")".repeat(480);
    everything(
        TINY.into(),
        format!("(define (problem t) (:domain t) (:init (= (f) 0)) (:goal (> {sum} 480)))"),
    );
}
