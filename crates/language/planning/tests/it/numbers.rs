//! Plans of tasks with numeric conditions: valid, better by the metric, and nothing claimed that is not shown.

use crate::support::{read, repository};
use planforge_diagnostics::SourceId;
use planforge_planning::{
    Algorithm, CountingLimits, Plan, PlanOptions, PlanResult, SearchOutcome, TopKOptions, TopKOutcome,
    Unlimited, ValidationDecision, parse_plan, plan_with_progress, top_k, validate,
};
use std::num::NonZeroUsize;

const POLLS: CountingLimits = CountingLimits { polls: 3_000, bytes: 1 << 30 };

/// Plans, and validates each plan that is reported. Returns the values of the plans.
fn solve(domain: &str, problem: &str, algorithm: Algorithm) -> (PlanResult, Vec<Option<f64>>) {
    let (domain, problem) = read(domain, problem);
    let check = |found: &Plan| {
        let file = parse_plan(&found.to_string(), SourceId(2));
        let report = validate(&domain, &problem, &file, &mut Unlimited).unwrap();
        assert_eq!(report.decision, ValidationDecision::Valid, "{:?}\n{found}", report.diagnostics);
        assert_eq!(report.cost, found.cost);
    };
    let mut values = Vec::new();
    let mut on_plan = |found: &Plan, _: &'static str| {
        check(found);
        values.push(found.cost);
    };
    let options = PlanOptions { algorithm, ..PlanOptions::default() };
    let result = plan_with_progress(&domain, &problem, &options, &mut POLLS.clone(), &mut on_plan).unwrap();
    if let SearchOutcome::Plan(found) = &result.outcome {
        check(found);
    }
    (result, values)
}

/// The decision of the validator on a plan.
fn validated(domain: &str, problem: &str, plan: &str) -> ValidationDecision {
    let (domain, problem) = read(domain, problem);
    validate(&domain, &problem, &parse_plan(plan, SourceId(2)), &mut Unlimited).unwrap().decision
}

fn task(functions: &str, actions: &str, init: &str, goal: &str) -> (String, String) {
    (
        format!(
            "(define (domain d) (:requirements :numeric-fluents :conditional-effects) (:predicates (p) (q))
             (:functions {functions}) {actions})"
        ),
        format!("(define (problem x) (:domain d) (:init {init}) (:goal {goal}))"),
    )
}

#[test]
fn a_task_with_money_gets_better_plans() {
    let text = |file: &str| std::fs::read_to_string(repository().join("examples/money").join(file)).unwrap();
    let (result, values) = solve(&text("domain.pddl"), &text("p01.pddl"), Algorithm::Anytime);
    let SearchOutcome::Plan(best) = result.outcome else { panic!("{:?}", result.outcome) };
    assert!(values[0] >= Some(30.0) && values.last() == Some(&best.cost), "{values:?}");
    assert!(values.is_sorted() && values.len() > 1, "{values:?}");
    assert!(!best.optimal && best.bound.is_none());
}

#[test]
fn what_the_relaxation_does_not_reach_has_no_plan() {
    let only_down = "(:action down :parameters () :precondition (p) :effect (decrease (x) 0.1))";
    let (domain, problem) = task("(x)", only_down, "(p) (= (x) 0.3)", "(> (x) 0.3)");
    let (result, _) = solve(&domain, &problem, Algorithm::Greedy);
    assert!(matches!(result.outcome, SearchOutcome::ProvenUnsolvable(_)), "{:?}", result.outcome);
    // Exactly three steps lead to zero.
    let (domain, problem) = task("(x)", only_down, "(p) (= (x) 0.3)", "(= (x) 0)");
    let (result, _) = solve(&domain, &problem, Algorithm::AStar);
    let SearchOutcome::Plan(found) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!((found.cost, found.optimal), (Some(3.0), true));
}

#[test]
fn numbers_without_end_stop_at_a_limit() {
    let up = "(:action up :parameters () :precondition (>= (x) 0) :effect (increase (x) 2))";
    let (domain, problem) = task("(x)", up, "(= (x) 0)", "(= (x) 7)");
    for algorithm in [Algorithm::AStar, Algorithm::BreadthFirst] {
        let (result, _) = solve(&domain, &problem, algorithm);
        assert!(matches!(result.outcome, SearchOutcome::LimitReached(_)), "{:?}", result.outcome);
    }
    // The relaxation shows that 8 is too much.
    let (result, _) = solve(&domain, &problem, Algorithm::Greedy);
    assert!(matches!(result.outcome, SearchOutcome::ProvenUnsolvable(_)), "{:?}", result.outcome);
}

#[test]
fn effects_without_a_value_keep_actions_from_being_applicable() {
    let actions = "(:action divide :parameters () :effect (and (assign (x) (/ 6 (y))) (p)))
         (:action raise :parameters () :precondition (<= (y) 2) :effect (increase (y) 1))
         (:action use :parameters () :effect (and (increase (x) (z)) (q)))
         (:action set :parameters () :precondition (= (x) 3) :effect (assign (z) 1))";
    let (domain, problem) = task("(x) (y) (z)", actions, "(= (y) 0)", "(and (p) (q) (= (x) 4))");
    for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::Anytime] {
        let (result, _) = solve(&domain, &problem, algorithm);
        let SearchOutcome::Plan(found) = result.outcome else { panic!("{:?}", result.outcome) };
        // raise, raise, divide, set, use
        assert!(found.steps.len() == 5 || algorithm == Algorithm::Greedy, "{found}");
    }
}

#[test]
fn nothing_is_claimed_with_numbers_beyond_exact_arithmetic() {
    let square = "(:action square :parameters () :precondition (>= (x) 2) :effect (scale-up (x) (x)))";
    let (domain, problem) = task("(x)", square, "(= (x) 3)", "(= (x) 5)");
    let (result, _) = solve(&domain, &problem, Algorithm::Greedy);
    let SearchOutcome::Unsupported(why) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(why[0].what, "numbers beyond exact arithmetic");
    let digits = "9".repeat(60);
    let (domain, problem) = task("(x)", square, &format!("(= (x) {digits})"), "(= (x) 5)");
    let (result, _) = solve(&domain, &problem, Algorithm::Greedy);
    assert!(matches!(result.outcome, SearchOutcome::Unsupported(_)), "{:?}", result.outcome);
}

#[test]
fn the_metric_of_the_last_state_is_improved() {
    // Each jar that is sold adds to the debt what it still costs, and waiting makes it cheaper.
    let actions = "(:action wait :parameters () :precondition (> (price) 1) :effect (decrease (price) 1))
         (:action buy :parameters () :precondition (>= (price) 1) :effect (and (increase (debt) (price)) (increase (jars) 1)))";
    let (domain, problem) =
        task("(price) (debt) (jars)", actions, "(= (price) 5) (= (debt) 0) (= (jars) 0)", "(>= (jars) 3)");
    let problem = problem.replace("(:goal", "(:metric minimize (debt)) (:goal");
    let (result, values) = solve(&domain, &problem, Algorithm::Anytime);
    let SearchOutcome::Plan(best) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!((best.cost, values.last()), (Some(3.0), Some(&Some(3.0))), "{values:?}");
    // The same metric is refused by name where the best value would have to be proven.
    let (result, _) = solve(&domain, &problem, Algorithm::AStar);
    let SearchOutcome::Unsupported(why) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(why[0].what, "a cost that depends on the state");
}

#[test]
fn several_plans_with_numbers_are_refused_by_name() {
    let up = "(:action up :parameters () :precondition (>= (x) 0) :effect (increase (x) 2))";
    let (domain, problem) = task("(x)", up, "(= (x) 0)", "(= (x) 8)");
    let (domain, problem) = read(&domain, &problem);
    let options = TopKOptions::new(NonZeroUsize::MIN);
    let result = top_k(&domain, &problem, &options, &mut Unlimited).unwrap();
    let TopKOutcome::Unsupported(why) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(why[0].what, "a numeric condition");
}

#[test]
fn functions_that_decide_whether_an_effect_has_a_value_are_searched() {
    let actions = |value: &str| {
        format!(
            "(:action set :parameters () :effect (and (p) (assign (v) {value})))
             (:action divide :parameters () :effect (and (q) (assign (t) (/ 6 (v)))))"
        )
    };
    // Nothing but the divisor reads the function.
    let (domain, problem) = task("(v) (t)", &actions("3"), "(= (v) 0) (= (t) 0)", "(q)");
    assert_eq!(validated(&domain, &problem, "(set)\n(divide)"), ValidationDecision::Valid);
    for algorithm in [Algorithm::Greedy, Algorithm::Anytime, Algorithm::BreadthFirst, Algorithm::AStar] {
        let (result, _) = solve(&domain, &problem, algorithm);
        let SearchOutcome::Plan(found) = result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!(found.steps.len(), 2, "{found}");
    }
    // After the step the divisor is 0.
    let (domain, problem) = task("(v) (t)", &actions("0"), "(= (v) 1) (= (t) 0)", "(and (p) (q))");
    assert_eq!(validated(&domain, &problem, "(set)\n(divide)"), ValidationDecision::Invalid);
    let (result, _) = solve(&domain, &problem, Algorithm::AStar);
    let SearchOutcome::Plan(found) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!((found.to_string().lines().next(), found.optimal), (Some("(divide)"), true), "{found}");
}

#[test]
fn variables_with_the_factor_zero_decide_whether_a_comparison_has_a_value() {
    let set = "(:action set :parameters () :effect (assign (y) 5))";
    for goal in ["(>= (+ (x) (* 0 (y))) 1)", "(>= (+ (x) (- (y) (y))) 1)"] {
        let (domain, problem) = task("(x) (y)", set, "(= (x) 1)", goal);
        assert_eq!(validated(&domain, &problem, ""), ValidationDecision::Invalid);
        assert_eq!(validated(&domain, &problem, "(set)"), ValidationDecision::Valid);
        for algorithm in [Algorithm::Greedy, Algorithm::AStar] {
            let (result, _) = solve(&domain, &problem, algorithm);
            let SearchOutcome::Plan(found) = result.outcome else { panic!("{:?}", result.outcome) };
            assert_eq!(found.steps.len(), 1, "{goal}\n{found}");
        }
    }
}

#[test]
fn a_metric_that_loses_its_value_makes_no_loop_of_parents() {
    let actions = "(:action off :parameters () :precondition (not (p)) :effect (and (p) (assign (b) 0)))
         (:action on :parameters () :precondition (p) :effect (and (not (p)) (assign (b) 5)))
         (:action finish :parameters () :precondition (and (not (p)) (>= (n) 1)) :effect (and (q) (decrease (n) 1)))";
    let (domain, problem) = task("(a) (b) (n)", actions, "(= (a) 10) (= (b) 1) (= (n) 1)", "(q)");
    let problem = problem.replace("(:goal", "(:metric minimize (/ (a) (b))) (:goal");
    let (result, values) = solve(&domain, &problem, Algorithm::Anytime);
    assert!(matches!(result.outcome, SearchOutcome::Plan(_)), "{:?}", result.outcome);
    assert_eq!(values.first(), Some(&Some(10.0)), "{values:?}");
}

#[test]
fn a_first_plan_whose_metric_is_beyond_exact_arithmetic_is_reported() {
    let square = "(:action square :parameters () :precondition (>= (x) 1) :effect (and (q) (decrease (x) 1) (scale-up (m) (m))))";
    let digits = format!("1{}", "0".repeat(30));
    let (domain, problem) = task("(x) (m)", square, &format!("(= (x) 1) (= (m) {digits})"), "(q)");
    let problem = problem.replace("(:goal", "(:metric minimize (m)) (:goal");
    let (domain, problem) = read(&domain, &problem);
    let options = PlanOptions { algorithm: Algorithm::Anytime, ..PlanOptions::default() };
    let mut count = 0;
    let result =
        plan_with_progress(&domain, &problem, &options, &mut POLLS.clone(), &mut |_, _| count += 1).unwrap();
    assert!(matches!(result.outcome, SearchOutcome::Plan(_)), "{:?}", result.outcome);
    let note = "the metric of the first plan is beyond exact arithmetic, so it is not improved";
    assert_eq!((count, result.note.as_deref()), (1, Some(note)));
}
