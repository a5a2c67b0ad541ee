//! Differences between definitions, in the words people read.

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{diff_domains, diff_problems, parse_domain, parse_problem};

const DOMAIN: &str = "(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp switch - object)
  (:predicates (lit ?l - lamp) (wired ?s - switch ?l - lamp) (dark))
  (:action press
    :parameters (?s - switch ?l - lamp)
    :precondition (and (wired ?s ?l) (dark))
    :effect (and (lit ?l) (not (dark))))
  (:action wait :parameters () :effect (dark)))";

const PROBLEM: &str = "(define (problem one) (:domain lamps)
  (:objects a b - lamp s - switch)
  (:init (wired s a) (dark) (= (power a) 3))
  (:goal (and (lit a) (not (dark)))))";

fn domain(text: &str) -> Domain {
    let parsed = parse_domain(text, SourceId(0));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.value
}

fn problem(text: &str) -> Problem {
    let parsed = parse_problem(text, SourceId(0));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.value
}

fn of_domains(changed: &str) -> Vec<String> {
    diff_domains(&domain(DOMAIN), &domain(changed)).iter().map(ToString::to_string).collect()
}

fn of_problems(changed: &str) -> Vec<String> {
    diff_problems(&problem(PROBLEM), &problem(changed)).iter().map(ToString::to_string).collect()
}

#[test]
fn case_and_order_do_not_count() {
    let same = DOMAIN.replace("(and (wired ?s ?l) (dark))", "(AND (Dark) (and (WIRED ?S ?l)))").replace(
        "(lit ?l - lamp) (wired ?s - switch ?l - lamp)",
        "(wired ?a - switch ?b - lamp) (lit ?c - lamp)",
    );
    assert_eq!(of_domains(&same), [""; 0]);
    let same =
        PROBLEM.replace("(wired s a) (dark)", "(dark) (wired S A)").replace("a b - lamp", "b a - LAMP");
    assert_eq!(of_problems(&same), [""; 0]);
}

#[test]
fn added_and_removed_literals_are_reported() {
    let changed = DOMAIN
        .replace("(and (wired ?s ?l) (dark))", "(and (wired ?s ?l) (not (lit ?l)))")
        .replace("(not (dark))))", "(lit ?l)))");
    assert_eq!(
        of_domains(&changed),
        [
            "action press: precondition: (dark) removed",
            "action press: precondition: (not (lit ?l)) added",
            "action press: effect: (not (dark)) removed",
            "action press: effect: (lit ?l) added",
        ]
    );
}

#[test]
fn a_renamed_parameter_is_one_difference() {
    let changed = DOMAIN
        .replace("(?s - switch ?l - lamp)\n", "(?l - switch ?x - lamp)\n")
        .replace("(wired ?s ?l) (dark)", "(wired ?l ?x) (dark)")
        .replace("(and (lit ?l) (not", "(and (lit ?x) (not");
    assert_eq!(
        of_domains(&changed),
        [
            "action press: parameter: ?s - switch became ?l - switch",
            "action press: parameter: ?l - lamp became ?x - lamp",
        ]
    );
}

#[test]
fn differences_of_declarations_and_actions_are_reported() {
    let changed = DOMAIN
        .replace("lamps", "torches")
        .replace(":strips :typing", ":typing :adl")
        .replace("lamp switch - object", "lamp - object switch - lamp")
        .replace("(dark))\n  (:action press", "(dark ?l - lamp))\n  (:action press")
        .replace("(:action wait", "(:action rest");
    assert_eq!(
        of_domains(&changed),
        [
            "domain name: lamps became torches",
            "requirement: :strips removed",
            "requirement: :adl added",
            "type: switch - object became switch - lamp",
            "predicate: (dark) became (dark ?l - lamp)",
            "action: wait removed",
            "action: rest added",
        ]
    );
}

#[test]
fn differences_of_problems_are_reported() {
    let changed = PROBLEM
        .replace("a b - lamp", "a - lamp")
        .replace("(dark) (=", "(wired s b) (=")
        .replace("a) 3", "a) 4")
        .replace("(lit a) (not (dark))", "(lit b) (lit a)");
    let changed_tree = problem(&changed);
    let found = diff_problems(&problem(PROBLEM), &changed_tree);
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        [
            "object: b - lamp removed",
            "init: (dark) removed",
            "init: (= (power a) 3) became (= (power a) 4)",
            "init: (wired s b) added",
            "goal: (not (dark)) removed",
            "goal: (lit b) added",
        ]
    );
    let span = found[5].after_span.unwrap();
    assert_eq!(&changed[span.range()], "(lit b)");
    assert_eq!(&PROBLEM[found[0].before_span.unwrap().range()], "b");
}

#[test]
fn a_fact_given_twice_is_a_difference() {
    assert_eq!(of_problems(&PROBLEM.replace("(dark) (=", "(dark) (dark) (=")), ["init: (dark) added"]);
}
