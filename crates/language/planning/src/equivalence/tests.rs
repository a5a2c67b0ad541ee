//! Relevant and irrelevant changes, and reported differences; enumeration of all renamings; symmetric
//! problems.

mod enumeration;
mod symmetric;

use super::*;
use crate::resources::Unlimited;
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem};

const DOMAIN: &str = "(define (domain shelf) (:requirements :strips :typing)
  (:types box place) (:constants dock - place)
  (:predicates (on ?a ?b - box) (at ?b - box ?p - place) (clear ?b - box) (near ?p ?q - place))
  (:functions (weight ?b - box)))";

fn compare_in(domain: &str, a: &str, b: &str) -> ProblemEquivalence {
    let domain = parse_domain(domain, SourceId(0)).value;
    let read = |text: &str| parse_problem(text, SourceId(1)).value;
    equivalent_problems(&domain, &read(a), &read(b), 100_000, &mut Unlimited)
}

fn problem(objects: &str, init: &str, goal: &str) -> String {
    format!("(define (problem p) (:domain shelf) (:objects {objects}) (:init {init}) (:goal {goal}))")
}

fn compare(a: &str, b: &str) -> ProblemEquivalence {
    compare_in(DOMAIN, a, b)
}

fn is_equal(result: &ProblemEquivalence) -> bool {
    matches!(result, ProblemEquivalence::Equal { .. })
}

fn different(result: ProblemEquivalence) -> ProblemDifference {
    match result {
        ProblemEquivalence::Different(difference) => difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn objects_may_have_any_name_within_their_type() {
    let a = problem("a b - box p - place", "(on a b) (at b p) (near p dock)", "(and (on b a))");
    let b = problem("q - place y x - box", "(near q dock) (at x q) (on y x) (on y x)", "(on x y)");
    let ProblemEquivalence::Equal { renaming } = compare(&a, &b) else { panic!("they are the same") };
    let pairs: Vec<(&str, &str)> = renaming.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(pairs, [("a", "y"), ("b", "x"), ("p", "q")]);
    let other_type = b.replace("y x - box", "y - box x - place");
    assert!(!is_equal(&compare(&a, &other_type)));
}

#[test]
fn initial_state_and_goal_are_renamed_alike() {
    let a = problem("a b - box", "(clear a)", "(at a dock)");
    let b = problem("a b - box", "(clear a)", "(at b dock)");
    let difference = different(compare(&a, &b));
    assert_eq!(difference.missing_facts.len() + difference.extra_facts.len(), 2);
}

#[test]
fn constants_and_names_in_actions_stand_for_themselves() {
    let a = problem("a - box p - place", "(at a dock)", "(at a p)");
    let b = problem("a - box p - place", "(at a p)", "(at a dock)");
    assert!(!is_equal(&compare(&a, &b)));
    let domain = "(define (domain tools) (:predicates (have ?x) (done))
      (:action use :parameters () :precondition (have jack) :effect (done)))";
    let with = |x: &str| {
        format!("(define (problem p) (:domain tools) (:objects jack pump) (:init (have {x})) (:goal (done)))")
    };
    assert!(!is_equal(&compare_in(domain, &with("jack"), &with("pump"))));
    assert!(is_equal(&compare_in(domain, &with("pump"), &with("pump").replace("pump", "wrench"))));
}

#[test]
fn goals_are_compared_as_formulas() {
    let goal = |goal: &str| problem("a b - box", "(clear a) (clear b)", goal);
    let same = [
        ("(and (on a b) (not (clear a)))", "(and (not (clear b)) (on b a) (on b a))"),
        ("(or (on a b) (clear a))", "(or (clear b) (on b a))"),
        ("(imply (clear a) (on a b))", "(or (on b a) (not (clear b)))"),
        ("(not (and (clear a) (on a b)))", "(or (not (on a b)) (not (clear a)))"),
        ("(forall (?x - box) (clear ?x))", "(forall (?y - box) (clear ?y))"),
        ("(exists (?x ?y - box) (on ?x ?y))", "(exists (?v ?u - box) (on ?u ?v))"),
        (
            "(exists (?x ?y - box) (on ?x ?y))",
            "(exists (?v - box) (not (forall (?u - box) (not (on ?u ?v)))))",
        ),
        ("(or (on a b) (or (clear a) (clear b)))", "(or (clear b) (not (not (on a b))) (clear a) (clear b))"),
        ("(not (imply (clear a) (on a b)))", "(and (not (on a b)) (and (clear a)))"),
        (
            "(forall (?x - box) (or (clear ?x) (on ?x a)))",
            "(forall (?x - box) (imply (not (on ?x b)) (clear ?x)))",
        ),
    ];
    for (a, b) in same {
        assert!(is_equal(&compare(&goal(a), &goal(b))), "{a} {b}");
    }
    for (a, b) in [
        ("(on a b)", "(not (on a b))"),
        ("(or (on a b) (clear a))", "(and (on a b) (clear a))"),
        ("(or (on a b) (clear a))", "(or (on a b) (clear b))"),
        ("(exists (?x ?y - box) (on ?x ?y))", "(exists (?x - box) (on ?x ?x))"),
        ("(forall (?x - box) (clear ?x))", "(exists (?x - box) (clear ?x))"),
        ("(forall (?x - box) (on ?x a))", "(forall (?x - box) (on a ?x))"),
        ("(exists (?x - (either box place)) (= ?x a))", "(exists (?x - box) (= ?x a))"),
    ] {
        assert!(!is_equal(&compare(&goal(a), &goal(b))), "{a} {b}");
    }
}

#[test]
fn only_the_differing_condition_is_reported() {
    let goal = |goal: &str| problem("a b - box", "(on a b)", goal);
    let difference = different(compare(
        &goal("(and (or (clear a) (on b a)) (or (clear b) (on b a)))"),
        &goal("(and (or (clear a) (clear b)) (or (on b a) (clear a)))"),
    ));
    assert_eq!((difference.missing_facts.len(), difference.extra_facts.len()), (1, 1));
    assert!(difference.minimal);
}

#[test]
fn types_of_objects_are_kept() {
    let objects = |list: &str| problem(list, "(near p q)", "(near q p)");
    assert!(is_equal(&compare(
        &objects("p - (either box place) q - place"),
        &objects("q - place p - (either place box)")
    )));
    assert!(!is_equal(&compare(&objects("p - (either box place) q - place"), &objects("p q - place"))));
    assert!(is_equal(&compare(&objects("p q - object"), &objects("p q"))));
}

#[test]
fn a_goal_that_is_missing_is_not_the_empty_one() {
    let empty = problem("a - box", "(clear a)", "(and)");
    let none = empty.replace("(:goal (and))", "");
    assert!(is_equal(&compare(&none, &none)));
    assert_eq!(different(compare(&empty, &none)).extra_facts, ["no goal"]);
}

#[test]
fn numbers_and_the_metric_count() {
    let with = |weight: u32, metric: &str| {
        problem("a b - box", &format!("(= (weight a) {weight}) (= (weight b) 2)"), "(clear a)")
            .replace("(:goal", &format!("{metric} (:goal"))
    };
    let least = "(:metric minimize (total-cost))";
    assert!(is_equal(&compare(&with(3, least), &with(3, least))));
    assert_eq!(different(compare(&with(3, least), &with(4, least))).missing_facts, ["init (= (weight a) 3)"]);
    assert!(!is_equal(&compare(&with(3, least), &with(3, ""))));
    assert!(!is_equal(&compare(&with(3, least), &with(3, &least.replace("minimize", "maximize")))));
}

#[test]
fn a_difference_uses_both_problems_names_and_reports_whether_it_is_minimal() {
    let a = problem("a b c - box", "(on a b) (on b c) (clear a)", "(on c a)");
    let b = problem("x y z - box", "(on x y) (on y z) (clear x) (clear y)", "(on z x)");
    let difference = different(compare(&a, &b));
    assert_eq!(
        (difference.missing_facts.len(), &difference.extra_facts),
        (0, &vec!["init (clear y)".to_owned()])
    );
    assert!(difference.minimal);
    let fewer = problem("x y - box", "(on x y) (clear x)", "(on y x)");
    let difference = different(compare(&a, &fewer));
    assert_eq!(difference.missing_objects.len(), 1);
}

#[test]
fn a_limit_leaves_the_question_open() {
    let ring: Vec<(usize, usize)> = (0..30).map(|i| (i, (i + 1) % 30)).collect();
    let text = symmetric::graph_problem(30, &ring, |i| format!("n{i}"));
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let problem = parse_problem(&text, SourceId(1)).value;
    let result = equivalent_problems(&domain, &problem, &problem, 0, &mut Unlimited);
    assert!(matches!(result, ProblemEquivalence::Undecided { .. }), "{result:?}");
}
