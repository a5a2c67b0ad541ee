//! Proofs that there is no plan, and their reasons: the smallest cause, not only the fact.

use crate::support::{read, suite};
use planforge_planning::{
    Algorithm, Explanation, PlanOptions, ReasonKind, SearchOutcome, Unlimited, normalize, plan,
    why_unsolvable,
};

fn why(domain: &str, problem: &str) -> Explanation {
    let (domain, problem) = read(domain, problem);
    let options = PlanOptions { algorithm: Algorithm::Greedy, ..PlanOptions::default() };
    match plan(&domain, &problem, &options, &mut Unlimited).unwrap().outcome {
        SearchOutcome::ProvenUnsolvable(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_action_that_is_missing_is_found_behind_two_facts_that_exclude_each_other() {
    // A sampler holds one sample, and `empty` is never applicable.
    let domain = "(define (domain samples) (:predicates (free) (has ?s) (sent ?s) (allowed))
      (:action take :parameters (?s) :precondition (free) :effect (and (has ?s) (not (free))))
      (:action send :parameters (?s) :precondition (has ?s) :effect (sent ?s))
      (:action empty :parameters (?s) :precondition (and (has ?s) (allowed)) :effect (and (free) (not (has ?s)))))";
    let problem = "(define (problem two) (:domain samples) (:objects a b) (:init (free)) (:goal (and (sent a) (sent b))))";
    let text = why(domain, problem).text();
    let parts = [
        "the goals (sent a) and (sent b) can never hold together: (sent a) is added only by send, which needs (has a); (sent b) is added \
         only by send, which needs (has b).",
        "only one of (free) and (has b) holds at a time, as (free) holds initially and every action that adds one deletes one.",
        "empty is never applicable: (allowed) can never hold.",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_fact_and_the_negation_that_a_goal_needs_exclude_each_other() {
    let domain =
        "(define (domain doors) (:requirements :negative-preconditions) (:predicates (open ?d) (sealed ?d))
      (:action close :parameters (?d) :precondition (open ?d) :effect (not (open ?d)))
      (:action seal :parameters (?d) :precondition (not (open ?d)) :effect (sealed ?d)))";
    let problem = "(define (problem one) (:domain doors) (:objects d) (:init (open d)) (:goal (and (sealed d) (open d))))";
    let text = why(domain, problem).text();
    assert!(text.contains("(sealed d) is added only by seal, which needs (not (open d))"), "{text}");
    assert!(text.contains("(open d) holds initially, and no action adds it again"), "{text}");
}

#[test]
fn the_fewest_goals_without_a_plan_are_named_where_no_two_exclude_each_other() {
    let domain = "(define (domain lamps) (:predicates (match ?m) (lit ?l))
      (:action light :parameters (?m ?l) :precondition (match ?m) :effect (and (lit ?l) (not (match ?m)))))";
    let problem = "(define (problem four) (:domain lamps) (:objects m n a b c d) (:init (match m) (match n))
      (:goal (and (lit a) (lit b) (lit c) (lit d))))";
    let why = why(domain, problem);
    assert_eq!(why.reasons[0].kind, ReasonKind::UnreachableGoal);
    let message = &why.reasons[0].message;
    assert!(
        message.ends_with("can never hold together: every state that can lead there was searched"),
        "{message}"
    );
    assert_eq!(message.matches("(lit ").count(), 3, "{message}");
}

#[test]
fn a_goal_that_only_a_search_shows_to_be_out_of_reach_is_followed_to_what_its_action_needs() {
    // Three lamps need three matches, and the door needs three lamps.
    let domain = "(define (domain door) (:constants a b c) (:predicates (match ?m) (lit ?l) (open))
      (:action light :parameters (?m ?l) :precondition (match ?m) :effect (and (lit ?l) (not (match ?m))))
      (:action enter :parameters () :precondition (and (lit a) (lit b) (lit c)) :effect (open)))";
    let problem =
        "(define (problem two) (:domain door) (:objects m n) (:init (match m) (match n)) (:goal (open)))";
    let text = why(domain, problem).text();
    assert!(text.contains("the goal (open) can never become true"), "{text}");
    let needs = "(open) is added only by enter, which needs (lit a), (lit b) and (lit c) together";
    assert!(text.contains(needs), "{text}");
}

#[test]
fn deletes_of_whatever_holds_exclude_the_values_of_one_thing() {
    let domain = "(define (domain paint) (:requirements :adl) (:predicates (colour ?t ?c) (tin ?c))
      (:action paint :parameters (?t ?c) :precondition (tin ?c)
        :effect (and (colour ?t ?c) (forall (?d) (when (and (colour ?t ?d) (not (= ?d ?c))) (not (colour ?t ?d)))))))";
    let problem = "(define (problem two) (:domain paint) (:objects wall red blue green) (:init (tin red) (tin blue) (colour wall green))
      (:goal (and (colour wall red) (colour wall blue))))";
    let text = why(domain, problem).text();
    for part in [
        "can never hold together",
        "paint, which deletes (colour wall red)",
        "paint, which deletes (colour wall blue)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("was searched"), "{text}");
}

#[test]
fn the_set_of_which_one_holds_is_named_for_two_blocks_on_one() {
    let text = |file: &str| std::fs::read_to_string(suite("blocks").join(file)).unwrap();
    let problem = text("p01.pddl").replace("(:goal (and", "(:goal (and (stands-on block1 block2)");
    let text = why(&text("domain.pddl"), &problem).text();
    for part in
        ["(stands-on block1 block2)", "(stands-on block4 block2)", "(held block2)", "(stands-on ? block2)"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.contains("holds at a time, as (uncovered block2) holds initially"), "{text}");
}

#[test]
fn a_delete_under_a_numeric_condition_excludes_nothing() {
    let domain = "(define (domain num) (:requirements :adl :fluents) (:predicates (at ?x)) (:functions (fuel))
      (:action refuel :parameters () :precondition () :effect (increase (fuel) 1))
      (:action go :parameters (?x ?y) :precondition (at ?x) :effect (and (at ?y) (when (> (fuel) 3) (not (at ?x))))))";
    let problem = "(define (problem p) (:domain num) (:objects a b) (:init (at a) (= (fuel) 0)) (:goal (and (at a) (at b))))";
    let (domain, problem) = read(domain, problem);
    let why = why_unsolvable(&normalize(&domain, &problem).unwrap(), &mut Unlimited);
    assert!(why.reasons.iter().all(|r| r.kind != ReasonKind::UnreachableGoal), "{}", why.text());
}

#[test]
fn a_fact_that_no_action_changes_holds_beside_the_set_of_which_one_holds() {
    let domain = "(define (domain walk) (:predicates (at ?x) (road ?x ?y))
      (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))";
    let problem = |init: &str| {
        format!(
            "(define (problem p) (:domain walk) (:objects a b z) (:init (at a) {init} (road a b) (road b a)) (:goal (and (at a) (at b))))"
        )
    };
    let text = why(domain, &problem("(at z)")).text();
    assert!(text.contains("only one of (at a) and (at b) holds at a time"), "{text}");
    let text = why(domain, &problem("")).text();
    assert!(text.contains("only one (at ?) holds at a time"), "{text}");
}

#[test]
fn every_action_that_adds_a_fact_is_named_also_where_two_do_the_same() {
    let domain = "(define (domain samples) (:predicates (free) (has ?s) (sent ?s) (allowed))
      (:action take :parameters (?s) :precondition (free) :effect (and (has ?s) (not (free))))
      (:action radio :parameters (?s) :precondition (has ?s) :effect (sent ?s))
      (:action send :parameters (?s) :precondition (has ?s) :effect (sent ?s)))";
    let problem = "(define (problem two) (:domain samples) (:objects a b) (:init (free)) (:goal (and (sent a) (sent b))))";
    let text = why(domain, problem).text();
    let part =
        "(sent a) is added only by radio, which needs (has a), and by send, which needs (has a); (sent b)";
    assert!(text.contains(part), "{text}");
}
