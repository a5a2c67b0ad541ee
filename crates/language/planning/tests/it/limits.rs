//! Small texts whose work is large: each ends at its limit, or is decided without the work.

use crate::support::read;
use planforge_diagnostics::SourceId;
use planforge_planning::task::TaskText;
use planforge_planning::walk::{GroundingMethod, Model, ModelOptions};
use planforge_planning::{
    Algorithm, CountingLimits, PlanOptions, SearchOutcome, StopReason, Unlimited, ValidationDecision,
    ValidationReport, parse_plan, plan, validate,
};
use std::fmt::Write as _;

/// Limits of which neither is reached by work that fits the input.
const ENOUGH: CountingLimits = CountingLimits { polls: 10_000, bytes: 1 << 20 };

fn objects(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = write!(text, " o{n}");
        text
    })
}

fn each(count: usize, fact: impl Fn(usize) -> String) -> String {
    (0..count).map(fact).collect()
}

/// One step whose effect is for eight objects at a time, out of 30 that all meet the condition.
fn one_step(effect: &str, mut limits: CountingLimits) -> ValidationReport {
    let condition = "abcdefgh".chars().map(|v| format!("(p ?{v})")).collect::<String>();
    let domain = format!(
        "(define (domain wide) (:requirements :adl) (:predicates (p ?x) (q ?x) (t ?a ?b ?c ?d ?e ?f ?g ?h))
          (:action go :parameters () :effect (forall (?a ?b ?c ?d ?e ?f ?g ?h) (when (and {condition}) {effect}))))"
    );
    let problem = format!(
        "(define (problem one) (:domain wide) (:objects{}) (:init {}) (:goal (q o3)))",
        objects(30),
        each(30, |n| format!("(p o{n})"))
    );
    let (domain, problem) = read(&domain, &problem);
    validate(&domain, &problem, &parse_plan("(go)", SourceId(2)), &mut limits).unwrap()
}

#[test]
fn an_effect_takes_place_once_for_each_atom_that_it_names() {
    let report = one_step("(and (q ?c) (not (p ?h)))", ENOUGH);
    assert_eq!(report.decision, ValidationDecision::Valid);
    assert_eq!((report.trace[0].added.len(), report.trace[0].deleted.len()), (30, 30));
}

#[test]
fn an_effect_with_too_many_matches_ends_at_the_memory_limit_and_is_named() {
    let report = one_step("(t ?a ?b ?c ?d ?e ?f ?g ?h)", ENOUGH);
    assert_eq!(report.decision, ValidationDecision::LimitReached(StopReason::Memory));
    let finding = &report.diagnostics[0];
    assert_eq!(finding.code, "plan.limit");
    assert!(finding.message.contains("in step 1 (go)"), "{}", finding.message);
    assert!(finding.message.contains("656100000000 combinations"), "{}", finding.message);
    let sources: Vec<SourceId> = finding.labels.iter().map(|label| label.source).collect();
    assert_eq!(sources, [TaskText::Plan.source(), TaskText::Domain.source()]);
    let report = one_step("(q ?c)", CountingLimits { bytes: 0, ..ENOUGH });
    let message = "the memory limit was reached while the plan of 1 steps was read";
    assert_eq!(report.diagnostics[0].message, message);
    assert_eq!(report.diagnostics[0].help, ["raise the limit"]);
}

#[test]
fn an_effect_without_matches_is_decided_beside_an_inexact_number() {
    let domain = "(define (domain squares) (:requirements :adl :numeric-fluents) (:predicates (p ?x) (q ?x)) (:functions (n))
      (:action square :parameters () :effect (assign (n) (* (n) (n))))
      (:action go :parameters () :effect (forall (?x ?y) (when (and (> (n) 3) (p ?x) (q ?y)) (q ?x)))))";
    let decision = |fact: &str| {
        let problem = format!(
            "(define (problem one) (:domain squares) (:objects o0 o1) (:init (= (n) 1.0000001) (q o0) {fact}) (:goal (q o0)))"
        );
        let (domain, problem) = read(domain, &problem);
        let plan = parse_plan(&("(square)\n".repeat(10) + "(go)\n"), SourceId(2));
        validate(&domain, &problem, &plan, &mut Unlimited).unwrap().decision
    };
    assert_eq!(decision(""), ValidationDecision::Valid);
    assert!(matches!(decision("(p o1)"), ValidationDecision::Unsupported(_)));
}

#[test]
fn validation_ends_at_the_time_limit_in_the_search_for_matches() {
    // Every object is linked to every other, so no chain is open, and all of them are tried.
    let chain = "(and (r ?a ?b) (r ?b ?c) (r ?c ?d) (r ?d ?e) (r ?e ?f) (r ?f ?g) (r ?g ?h) (not (r ?h ?a)))";
    let domain = format!(
        "(define (domain links) (:requirements :adl) (:predicates (r ?x ?y) (q))
          (:action go :parameters () :precondition (forall (?a ?b ?c ?d ?e ?f ?g ?h) (not {chain})) :effect (q)))"
    );
    let links = each(20, |x| each(20, |y| format!("(r o{x} o{y})")));
    let problem = format!(
        "(define (problem one) (:domain links) (:objects{}) (:init {links}) (:goal (q)))",
        objects(20)
    );
    let (domain, problem) = read(&domain, &problem);
    let file = parse_plan("(go)", SourceId(2));
    let mut few = CountingLimits { polls: 100, bytes: u64::MAX };
    let report = validate(&domain, &problem, &file, &mut few).unwrap();
    assert_eq!(report.decision, ValidationDecision::LimitReached(StopReason::Time));
}

/// Polls of the limits, and the decision, for a plan that may use some.
fn polls_of(domain: &str, problem: &str, plan: &str, polls: u64) -> (u64, ValidationDecision) {
    let (domain, problem) = read(domain, problem);
    let mut limits = CountingLimits { polls, bytes: u64::MAX };
    let report = validate(&domain, &problem, &parse_plan(plan, SourceId(2)), &mut limits).unwrap();
    (polls - limits.polls, report.decision)
}

#[test]
fn the_comparison_of_steps_at_one_time_counts_as_work() {
    let count = 3_000;
    let domain = "(define (domain wide) (:requirements :adl :numeric-fluents) (:predicates (p ?x) (q ?x) (r ?x)) (:functions (n ?x))
      (:action fill :parameters () :effect (forall (?x) (and (p ?x) (not (q ?x)) (increase (n ?x) 1))))
      (:action drain :parameters () :effect (forall (?x) (and (not (r ?x)) (increase (n ?x) 2)))))";
    let problem = format!(
        "(define (problem one) (:domain wide) (:objects{}) (:init {}) (:goal (and (p o7) (= (n o7) 3))))",
        objects(count),
        each(count, |n| format!("(= (n o{n}) 0) (r o{n})"))
    );
    let (apart, valid) = polls_of(domain, &problem, "0: (fill)\n1: (drain)", 1_000_000);
    assert_eq!(valid, ValidationDecision::Valid);
    let (together, valid) = polls_of(domain, &problem, "0: (fill)\n0: (drain)", 1_000_000);
    assert_eq!(valid, ValidationDecision::Valid);
    // A call for each change in both directions, one poll for 256 calls.
    let expected = apart + 6 * count as u64 / 256;
    assert!((expected..2 * expected).contains(&together), "{together} polls, {apart} with steps apart");
    let (_, decision) = polls_of(domain, &problem, "0: (fill)\n0: (drain)", together - 1);
    assert_eq!(decision, ValidationDecision::LimitReached(StopReason::Time));
}

#[test]
fn the_inputs_of_derived_predicates_end_at_a_limit() {
    let count = 800;
    let domain = format!(
        "(define (domain chain) (:requirements :derived-predicates :preferences) (:predicates (b) (p) {}) {} (:derived (d{count}) (b))
          (:action a :parameters () :effect (p)))",
        each(count + 1, |n| format!("(d{n})")),
        each(count, |n| format!("(:derived (d{n}) (d{}))", n + 1)),
    );
    let problem = "(define (problem one) (:domain chain) (:init) (:goal (and (p) (preference k (p)))))";
    let (polls, decision) = polls_of(&domain, problem, "(a)", 1_000_000);
    assert_eq!(decision, ValidationDecision::Valid);
    // Each predicate depends on the ones after it.
    let pairs = (count * count / 2) as u64;
    assert!((pairs / 256..4 * pairs / 256).contains(&polls), "{polls} polls for {pairs} pairs");
    let (_, decision) = polls_of(&domain, problem, "(a)", pairs / 256);
    assert_eq!(decision, ValidationDecision::LimitReached(StopReason::Time));
    let (domain, problem) = read(&domain, problem);
    let mut limits = CountingLimits { polls: u64::MAX, bytes: 4 * pairs };
    let report = validate(&domain, &problem, &parse_plan("(a)", SourceId(2)), &mut limits).unwrap();
    assert_eq!(report.decision, ValidationDecision::LimitReached(StopReason::Memory));
}

fn lifted(domain: &str, problem: &str, limits: &mut CountingLimits) -> Result<Model, String> {
    let options = ModelOptions { method: GroundingMethod::Lifted, ..ModelOptions::default() };
    Model::from_texts(domain, problem, &options, limits).map_err(|error| error.to_string())
}

#[test]
fn applicable_actions_without_grounding_end_at_the_memory_limit() {
    let parameters = each(12, |n| format!(" ?v{n}"));
    let needed = each(12, |n| format!("(p ?v{n})"));
    let domain = format!(
        "(define (domain wide) (:predicates (p ?x) (q ?x))
          (:action go :parameters ({parameters}) :precondition (and {needed}) :effect (q ?v0)))"
    );
    let problem = format!(
        "(define (problem one) (:domain wide) (:objects{}) (:init {}) (:goal (q o3)))",
        objects(30),
        each(30, |n| format!("(p o{n})"))
    );
    let model = lifted(&domain, &problem, &mut ENOUGH.clone()).unwrap();
    let found = model.applicable(&model.initial(), &mut ENOUGH.clone());
    assert_eq!(found, Err(StopReason::Memory));
    let mut no_time = CountingLimits { polls: 0, bytes: u64::MAX };
    assert_eq!(model.applicable(&model.initial(), &mut no_time), Err(StopReason::Time));
}

#[test]
fn derived_atoms_end_at_the_memory_limit() {
    let domain = "(define (domain wide) (:requirements :derived-predicates) (:predicates (p ?x) (t ?a ?b ?c ?d ?e ?f ?g ?h))
      (:derived (t ?a ?b ?c ?d ?e ?f ?g ?h) (and (p ?a) (p ?b) (p ?c) (p ?d) (p ?e) (p ?f) (p ?g) (p ?h)))
      (:action go :parameters (?x) :precondition (t ?x ?x ?x ?x ?x ?x ?x ?x) :effect (p ?x)))";
    let problem = format!(
        "(define (problem one) (:domain wide) (:objects{}) (:init {}) (:goal (p o3)))",
        objects(38),
        each(38, |n| format!("(p o{n})"))
    );
    let error = lifted(domain, &problem, &mut ENOUGH.clone()).unwrap_err();
    assert!(error.starts_with("the memory limit"), "{error}");
}

#[test]
fn a_model_answers_rightly_after_a_limit_ended_its_work() {
    let domain = "(define (domain chain) (:requirements :derived-predicates) (:predicates (r ?x ?y) (above ?x ?y) (q ?x))
      (:derived (above ?x ?y) (or (r ?x ?y) (exists (?z) (and (r ?x ?z) (above ?z ?y)))))
      (:action cut :parameters (?x ?y) :precondition (r ?x ?y) :effect (not (r ?x ?y)))
      (:action mark :parameters (?x) :precondition (above o0 ?x) :effect (q ?x)))";
    let problem = format!(
        "(define (problem one) (:domain chain) (:objects{}) (:init {}) (:goal (q o3)))",
        objects(40),
        each(39, |n| format!("(r o{n} o{})", n + 1))
    );
    let model = lifted(domain, &problem, &mut ENOUGH.clone()).unwrap();
    let (again, state) = (lifted(domain, &problem, &mut ENOUGH.clone()).unwrap(), model.initial());
    let mut state = state;
    let cut = model.applicable(&state, &mut Unlimited).unwrap()[0];
    assert!(model.apply(&mut state, cut, &mut Unlimited).unwrap());
    let mut none = CountingLimits { polls: 0, bytes: u64::MAX };
    assert_eq!(model.applicable(&state, &mut none), Err(StopReason::Time));
    let names = |model: &Model, state| -> Vec<String> {
        let found = model.applicable(state, &mut Unlimited).unwrap();
        found.into_iter().map(|action| model.step(action).to_string()).collect()
    };
    let mut fresh = again.initial();
    let first = again.applicable(&fresh, &mut Unlimited).unwrap()[0];
    assert!(again.apply(&mut fresh, first, &mut Unlimited).unwrap());
    assert_eq!(names(&model, &state), names(&again, &fresh));
}

#[test]
fn the_bound_of_one_state_ends_at_the_time_limit() {
    let count = 600;
    let domain = "(define (domain many) (:predicates (p ?x) (q ?x))
      (:action go :parameters (?x) :precondition (p ?x) :effect (q ?x)))";
    let problem = format!(
        "(define (problem one) (:domain many) (:objects{}) (:init {}) (:goal (and {})))",
        objects(count),
        each(count, |n| format!("(p o{n})")),
        each(count, |n| format!("(q o{n})"))
    );
    let (domain, problem) = read(domain, &problem);
    let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
    let evaluated = |polls| {
        let result =
            plan(&domain, &problem, &options, &mut CountingLimits { polls, bytes: u64::MAX }).unwrap();
        assert!(
            matches!(result.outcome, SearchOutcome::LimitReached(StopReason::Time)),
            "{polls}: {:?}",
            result.outcome
        );
        result.statistics.evaluated
    };
    // How often the work before the search asks is not of interest here; the bound itself has to ask again and again.
    let first = (0..2000).step_by(5).find(|polls| evaluated(*polls) > 0).unwrap();
    assert_eq!([evaluated(first), evaluated(first + 25)], [1, 1]);
}
