//! Claims about plans against what is the case.

use crate::support::read;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::claims::*;
use planforge_planning::{
    Algorithm, PlanOptions, StopReason, Unlimited, ValidationReport, Validator, normalize, parse_plan,
};

const DOMAIN: &str = "(define (domain lamps)
  (:predicates (on ?l) (near ?l) (lamp ?l) (bright))
  (:derived (bright) (exists (?l) (on ?l)))
  (:action go :parameters (?from ?to) :precondition (near ?from) :effect (and (near ?to) (not (near ?from))))
  (:action switch :parameters (?l) :precondition (near ?l) :effect (on ?l)))";
const PROBLEM: &str = "(define (problem l1) (:domain lamps) (:objects Red blue green) (:init (near red) (lamp red)) (:goal (and (on red) (on blue))))";

fn task(domain: &str) -> (Domain, Problem) {
    read(domain, PROBLEM)
}

fn validate_plan(plan: &str) -> (Validator, ValidationReport) {
    let (domain, problem) = task(DOMAIN);
    let validator = Validator::new(normalize(&domain, &problem).unwrap());
    let report = validator.validate(&parse_plan(plan, SourceId(2)), &mut Unlimited);
    (validator, report)
}

fn verdicts(plan: &str, claims: &[(usize, &str)]) -> Vec<LiteralVerdict> {
    let (validator, report) = validate_plan(plan);
    let claims: Vec<LiteralClaim> =
        claims.iter().map(|(after, l)| LiteralClaim { after: *after, literal: (*l).to_owned() }).collect();
    check_literals(&validator, &report, &claims)
}

#[test]
fn literals_are_compared_with_the_state_after_their_step_whatever_their_order() {
    use LiteralVerdict::{NotReached, Right, Wrong};
    let plan = "(switch red) (go red blue) (switch green) (switch blue)";
    let claims = [
        (2, "(near blue)"),
        (0, "(near blue)"),
        (0, "(not (near BLUE))"),
        (1, "(on red)"),
        (2, "( not ( near red ) )"),
        (2, "(on blue)"),
        (0, "(lamp red)"),
        (0, "(bright)"),
        (1, "(bright)"),
        (3, "(on green)"),
    ];
    let expected = [Right, Wrong, Right, Right, Right, Wrong, Right, Wrong, Right, NotReached];
    assert_eq!(verdicts(plan, &claims), expected);
}

#[test]
fn claims_that_are_not_literals_of_the_task_are_unread() {
    let why = |literal: &str| match verdicts("(switch red)", &[(7, literal)]).remove(0) {
        LiteralVerdict::Unread(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why("(glows red)"), "there is no predicate glows");
    assert_eq!(why("(on pink)"), "there is no object pink");
    assert_eq!(why("(on red blue)"), "on has 1 arguments, not 2");
    for text in ["on red", "()", "(not (on red)", "(and (on red) (on blue))", "(not (not (on red)))", "("] {
        why(text);
    }
}

fn failures(plan: &str, claim: PlanClaim) -> ClaimFailures {
    let (_, report) = validate_plan(plan);
    ClaimFailures::of(&PlanExecution::of(&report).unwrap(), &[], &claim)
}

#[test]
fn claims_about_a_plan_are_right_wrong_or_absent() {
    let all = |said: bool, cost: f64| PlanClaim {
        goal_reached: Some(said),
        cost: Some(cost),
        valid: Some(said),
        critic: None,
    };
    let good = "(switch red) (go red blue) (switch blue)";
    let none = ClaimFailures { wrong_state: None, ..ClaimFailures::default() };
    assert_eq!(failures(good, PlanClaim::default()), none);
    let right = ClaimFailures {
        wrong_goal_claim: Some(false),
        wrong_self_evaluation: Some(false),
        wrong_cost: Some(false),
        ..none
    };
    assert_eq!(failures(good, all(true, 3.0)), right);
    let wrong = ClaimFailures {
        wrong_goal_claim: Some(true),
        wrong_self_evaluation: Some(true),
        wrong_cost: Some(true),
        ..none
    };
    assert_eq!(failures(good, all(false, 4.0)), wrong);
    // The goal is missed: the same claims the other way round.
    assert_eq!(failures("(switch red)", all(true, 2.0)), wrong);
    assert_eq!(failures("(switch red)", all(false, 1.0)), right);
    // A step that cannot be executed: no cost to compare with.
    let broken = failures("(switch blue)", all(true, 1.0));
    assert_eq!(broken, ClaimFailures { rule_violation: true, wrong_cost: None, ..wrong });
    // A critic counts beside the author.
    let critic = PlanClaim { critic: Some(false), ..all(true, 3.0) };
    assert_eq!(failures(good, critic), ClaimFailures { wrong_self_evaluation: Some(true), ..right });
}

#[test]
fn a_violated_constraint_makes_the_plan_invalid_and_the_claim_of_the_goal_stays_right() {
    let problem = PROBLEM.trim_end().strip_suffix(')').unwrap();
    let problem = format!("{problem} (:constraints (always (not (on red)))))");
    let (domain, problem) = read(DOMAIN, &problem);
    let plan = parse_plan("(switch red) (go red blue) (switch blue)", SourceId(2));
    let report = Validator::new(normalize(&domain, &problem).unwrap()).validate(&plan, &mut Unlimited);
    assert!(!report.is_valid(), "the constraint is violated");
    let claim = PlanClaim { goal_reached: Some(true), valid: Some(true), ..PlanClaim::default() };
    let failures = ClaimFailures::of(&PlanExecution::of(&report).unwrap(), &[], &claim);
    assert_eq!((failures.wrong_goal_claim, failures.wrong_self_evaluation), (Some(false), Some(true)));
}

#[test]
fn states_are_wrong_where_one_literal_is_and_unknown_where_none_was_compared() {
    let (_, report) = validate_plan("(switch red)");
    let execution = PlanExecution::of(&report).unwrap();
    let of = |verdicts: &[LiteralVerdict]| {
        ClaimFailures::of(&execution, verdicts, &PlanClaim::default()).wrong_state
    };
    use LiteralVerdict::{NotReached, Right, Unread, Wrong};
    assert_eq!(of(&[Right, NotReached]), Some(false));
    assert_eq!(of(&[Right, Wrong]), Some(true));
    assert_eq!(of(&[NotReached, Unread("x".into())]), None);
}

#[test]
fn a_valid_plan_is_compared_with_a_cheapest_one() {
    let (domain, problem) = task(&DOMAIN.replace("(:derived (bright) (exists (?l) (on ?l)))", ""));
    let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
    let of = |cost: f64, options: &PlanOptions| {
        optimality(&domain, &problem, cost, options, &mut Unlimited).unwrap()
    };
    assert_eq!(of(3.0, &options), Optimality::Optimal);
    assert_eq!(of(5.0, &options), Optimality::Cheaper(3.0));
    let Optimality::Undecided(why) = of(5.0, &PlanOptions { max_nodes: 1, ..options }) else {
        panic!("decided")
    };
    assert!(why.starts_with(&StopReason::Nodes.to_string()), "{why}");
}
