//! Plans, refusals and differences in sentences.
#![allow(clippy::unwrap_used, reason = "tests")]

use planforge_contract::Sentences;
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::{Unlimited, parse_plan, validate};
use planforge_plugin_common::telling::{
    PlanWords, add_reasons, condition_clause, effect_clause, tell_differences, tell_plan,
};
use planforge_plugin_sdk::wording::Wording;
use std::collections::BTreeMap;

const DOMAIN: &str = "(define (domain d) (:requirements :adl :action-costs) (:types town parcel)
 (:predicates (van-at ?t - town) (parcel-at ?p - parcel ?t - town) (in-van ?p - parcel) (van-empty)) (:functions (total-cost))
 (:action drive :parameters (?from ?to - town) :precondition (and (van-at ?from) (not (= ?from ?to)))
  :effect (and (not (van-at ?from)) (van-at ?to) (increase (total-cost) 3)))
 (:action load :parameters (?p - parcel ?t - town) :precondition (and (van-at ?t) (parcel-at ?p ?t) (van-empty))
  :effect (and (in-van ?p) (not (parcel-at ?p ?t)) (not (van-empty)))))";
const PROBLEM: &str = "(define (problem p) (:domain d) (:objects elm fir - town p1 - parcel)
 (:init (van-at elm) (parcel-at p1 fir) (van-empty) (= (total-cost) 0)) (:goal (in-van p1)) (:metric minimize (total-cost)))";

/// Sentences of a suite; `van-empty` has none.
fn wording() -> Wording {
    let entry =
        |name: &str, yes: &str, no: &str| (name.to_owned(), Sentences { yes: yes.into(), no: no.into() });
    Wording::new(&BTreeMap::from([
        entry("van-at", "The van is in {1}.", "The van is not in {1}."),
        entry("parcel-at", "{1} is in {2}.", ""),
        entry("in-van", "The van carries {1}.", "The van does not carry {1}."),
    ]))
}

fn told(plan: &str, wording: &Wording) -> String {
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let problem = parse_problem(PROBLEM, SourceId(1)).value;
    let report = validate(&domain, &problem, &parse_plan(plan, SourceId(2)), &mut Unlimited).unwrap();
    tell_plan(&report, wording).to_string()
}

#[test]
fn a_valid_plan_is_told_in_the_suites_sentences() {
    let wanted = "The plan is valid: after 2 steps and cost 3, the goal holds.\n\
        1. drive elm fir: The van is in fir. The van is not in elm. total cost is 3.\n\
        2. load p1 fir: The van carries p1. Not true: p1 is in fir. van empty does not hold.\n";
    assert_eq!(told("(drive elm fir)\n(load p1 fir)", &wording()), wanted);
}

#[test]
fn a_plan_is_told_from_names_without_sentences() {
    let wanted = "The plan is valid: after 2 steps and cost 3, the goal holds.\n\
        1. drive elm fir: van at holds for fir. van at does not hold for elm. total cost is 3.\n\
        2. load p1 fir: in van holds for p1. parcel at does not hold for p1 and fir. van empty does not hold.\n";
    assert_eq!(told("(drive elm fir)\n(load p1 fir)", &Wording::default()), wanted);
}

#[test]
fn a_refused_step_names_the_condition_and_since_when_it_does_not_hold() {
    let refused = told("(drive elm fir)\n(drive fir elm)\n(load p1 fir)", &wording());
    assert!(
        refused.starts_with("The plan is not valid: step 3, load p1 fir, cannot be executed.\n1. "),
        "{refused}"
    );
    let last = "Step 3, load p1 fir, needs: The van is in fir. But: The van is not in fir since step 2.\n";
    assert!(refused.ends_with(last), "{refused}");
    let wanted = "The plan is not valid: step 1, drive elm elm, cannot be executed.\n\
        Step 1, drive elm elm, needs: `(not (= elm elm))`. But: both are the same object.\n";
    assert_eq!(told("(drive elm elm)", &wording()), wanted);
    let unknown = told("(fly elm)", &wording());
    assert!(
        unknown.contains("\nStep 1, fly elm, is refused: ") && unknown.contains("no action fly"),
        "{unknown}"
    );
}

#[test]
fn a_missed_goal_is_told() {
    let missed = told("(drive elm fir)", &wording());
    assert!(missed.starts_with("The plan is not valid: after 1 step, the goal does not hold.\n"), "{missed}");
    let last = "The goal needs: The van carries p1. But: The van does not carry p1 from the start.\n";
    assert!(missed.ends_with(last), "{missed}");
}

#[test]
fn differences_between_domains_are_sentences() {
    let other = DOMAIN
        .replace(
            "(parcel-at ?p ?t) (van-empty)",
            "(parcel-at ?p ?t) (forall (?o - parcel) (not (in-van ?o)))",
        )
        .replace("(not (van-at ?from)) (van-at ?to)", "(van-at ?to) (when (van-empty) (not (van-empty)))")
        .replace("(van-empty)) (:f", "(van-empty) (open ?t - town)) (:f");
    let read = |text: &str| parse_domain(text, SourceId(0)).value;
    let told = tell_differences(&read(DOMAIN), &read(&other), ("the reference", "d.pddl"), &wording());
    for sentence in [
        "d.pddl has the predicate `(open ?t - town)`, and the reference has not.",
        "In the reference, the van is not in from after the action drive; not in d.pddl.",
        "In d.pddl, if van empty holds, then van empty does not hold after the action drive; not in the reference.",
        "In the reference, the action load needs that van empty holds; not in d.pddl.",
        "In d.pddl, the action load needs that for every parcel o, the van does not carry o; not in the reference.",
    ] {
        assert!(told.iter().any(|t| t == sentence), "{sentence}\n{told:#?}");
    }
    assert_eq!(told.len(), 5, "{told:#?}");
    // Names of parameters do not count.
    let renamed = DOMAIN.replace("?from", "?start");
    let told = tell_differences(&read(DOMAIN), &read(&renamed), ("a", "b"), &wording());
    assert!(told.iter().all(|t| t.contains("parameter")), "{told:#?}");
    assert!(tell_differences(&read(DOMAIN), &read(DOMAIN), ("a", "b"), &wording()).is_empty());
}

#[test]
fn every_kind_of_condition_and_effect_has_a_clause() {
    let domain = "(define (domain d) (:requirements :adl :fluents) (:predicates (p ?x) (q)) (:functions (f)) (:action a :parameters (?x)
      :precondition (and (or (p ?x) (q)) (imply (q) (p ?x)) (exists (?y ?z - (either t u)) (not (= ?y ?z))) (not (or (q))) (= ?x ?x) (> (f) 2))
      :effect (and (when (and (q) (p ?x)) (not (q))) (forall (?y - t) (p ?y)) (increase (f) 1))))";
    let action = parse_domain(domain, SourceId(0)).value.actions.remove(0);
    let wording = Wording::default();
    assert_eq!(
        condition_clause(&action.precondition.unwrap(), &wording),
        "either p holds for x or q holds, if q holds, then p holds for x, for some t or u y and t or u z, y is not z, \
         it is not true that either q holds, x is x and `(> (f) 2)`"
    );
    assert_eq!(
        effect_clause(&action.effect.unwrap(), &wording),
        "if q holds and p holds for x, then q does not hold, for every t y, p holds for y and `(increase (f) 1)`"
    );
}

#[test]
fn a_step_that_a_later_one_needs_says_so_unless_the_next_one_does() {
    let domain = "(define (domain cakes) (:requirements :strips :typing :negative-preconditions) (:types cake room)
     (:predicates (full) (in ?r - room) (iced ?c - cake) (cold))
     (:action fill :parameters () :precondition (not (full)) :effect (full))
     (:action cool :parameters () :precondition () :effect (cold))
     (:action walk :parameters (?a ?b - room) :precondition (and (in ?a) (full)) :effect (and (in ?b) (not (in ?a))))
     (:action ice :parameters (?c - cake ?r - room) :precondition (and (full) (cold) (in ?r)) :effect (and (iced ?c) (not (full)))))";
    let problem = "(define (problem p) (:domain cakes) (:objects almond - cake shop kitchen - room)
     (:init (in shop)) (:goal (iced almond)))";
    let (domain, problem) =
        (parse_domain(domain, SourceId(0)).value, parse_problem(problem, SourceId(1)).value);
    let plan = "(cool)\n(fill)\n(walk shop kitchen)\n(ice almond kitchen)";
    let report = validate(&domain, &problem, &parse_plan(plan, SourceId(2)), &mut Unlimited).unwrap();
    let mut told = tell_plan(&report, &Wording::default());
    add_reasons(&mut told, &report, &domain, problem.goal.as_ref(), &PlanWords::ENGLISH);
    let reasons: Vec<Option<&str>> = told.steps.iter().map(|step| step.reason.as_deref()).collect();
    assert_eq!(reasons, [Some("So that step 4, ice almond kitchen, is possible."), None, None, None]);
    assert!(
        told.to_string().contains("1. cool: cold holds. So that step 4, ice almond kitchen, is possible.\n"),
        "{told}"
    );
}

#[test]
fn repeated_parts_of_a_plan_are_one_line() {
    let problem = "(define (problem p) (:domain d) (:objects elm - town p1 p2 p3 - parcel)
     (:init (van-at elm) (parcel-at p1 elm) (parcel-at p2 elm) (parcel-at p3 elm) (= (total-cost) 0)) (:goal (in-van p3)))";
    let domain = DOMAIN.replace(" (van-empty))\n", ")\n").replace(" (not (van-empty))", "");
    let (domain, problem) =
        (parse_domain(&domain, SourceId(0)).value, parse_problem(problem, SourceId(1)).value);
    let plan = parse_plan("(load p1 elm)\n(load p2 elm)\n(load p3 elm)", SourceId(2));
    let report = validate(&domain, &problem, &plan, &mut Unlimited).unwrap();
    let told = tell_plan(&report, &wording()).to_string();
    assert!(told.ends_with("1. load p1 elm: The van carries p1. Not true: p1 is in elm.\nSteps 2 to 3: the same with p2 and p3 instead of p1.\n"), "{told}");
}
