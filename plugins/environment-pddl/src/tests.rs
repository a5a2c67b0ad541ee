//! The environment on a small domain: a ferry with fuel, a one-way crossing and a bell.

use super::*;
use planforge_plugin_sdk::testing::TestHost;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const DOMAIN: &str = "(define (domain ferry)
  (:requirements :typing :numeric-fluents)
  (:types shore car)
  (:constants home - shore)
  (:predicates (ferry-at ?s - shore) (crossing ?a ?b - shore) (waits ?c - car ?s - shore) (aboard ?c - car) (deck-free))
  (:functions (fuel) (tolls ?s - shore))
  (:action sail
    :parameters (?a ?b - shore)
    :precondition (and (ferry-at ?a) (crossing ?a ?b) (>= (fuel) 1))
    :effect (and (not (ferry-at ?a)) (ferry-at ?b) (decrease (fuel) 1)))
  (:action board
    :parameters (?c - car ?s - shore)
    :precondition (and (ferry-at ?s) (waits ?c ?s) (deck-free))
    :effect (and (aboard ?c) (not (waits ?c ?s)) (not (deck-free))))
  (:action leave
    :parameters (?c - car ?s - shore)
    :precondition (and (ferry-at ?s) (aboard ?c))
    :effect (and (waits ?c ?s) (deck-free) (not (aboard ?c)))))";

const PROBLEM: &str = "(define (problem ferry-1)
  (:domain ferry)
  (:objects isle - shore Van - car)
  (:init (ferry-at home) (crossing home isle) (waits van home) (deck-free) (= (fuel) 2) (= (tolls isle) 3))
  (:goal (waits van isle)))";

fn plugin() -> PddlEnvironment {
    PddlEnvironment::create(PddlEnvironmentOptions::default(), &Secrets::default()).unwrap()
}

fn task() -> EnvironmentOpen {
    task_of(DOMAIN, PROBLEM)
}

fn task_of(domain: &str, problem: &str) -> EnvironmentOpen {
    EnvironmentOpen {
        suite: "ferry".into(),
        task: "p01".into(),
        domain: Some(domain.into()),
        problem: Some(problem.into()),
        ..EnvironmentOpen::default()
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect()
}

fn judge(plan: &str) -> EnvironmentVerdict {
    judge_in(&task(), plan)
}

fn judge_in(task: &EnvironmentOpen, plan: &str) -> EnvironmentVerdict {
    plugin().validate(&TestHost::new(), task, &EnvironmentPlan { steps: lines(plan) }).unwrap()
}

#[test]
fn the_interface_has_signatures_and_objects_and_no_conditions() {
    let info = plugin().describe(&TestHost::new(), &task()).unwrap();
    insta::assert_json_snapshot!(info.interface);
    assert_eq!(info.model, Some(task()));
    let black_box = PddlEnvironment::create(
        PddlEnvironmentOptions { model: false, ..Default::default() },
        &Secrets::default(),
    )
    .unwrap();
    let info = black_box.describe(&TestHost::new(), &task()).unwrap();
    assert_eq!(info.model, None);
}

#[test]
fn a_plan_is_valid_or_refused_with_the_reason() {
    let good = "(board van home)\n(sail home isle)\n(leave VAN isle)";
    assert_eq!(judge(good), EnvironmentVerdict { valid: true, executed: 3, ..EnvironmentVerdict::default() });
    insta::assert_json_snapshot!([
        judge("(sail home isle)\n(board van isle)"),
        judge("(sail home isle)"),
        judge("(board van home)\n(sail isle)\n(fly van)"),
        judge("(board home home)"),
        judge("(board van home)\nthen sail (over)"),
        judge(""),
    ]);
}

#[test]
fn sequences_run_to_the_first_refusal_each_from_the_initial_state() {
    let sequences = Sequences {
        sequences: vec![
            lines("(board van home)\n(leave van home)"),
            vec![],
            lines("(sail home isle)\n(sail isle home)\n(sail home isle)"),
            lines("(sink)"),
        ],
    };
    let report = plugin().execute(&TestHost::new(), &task(), &sequences).unwrap();
    let executed: Vec<u32> = report.executions.iter().map(|e| e.executed).collect();
    assert_eq!(executed, [2, 0, 1, 0]);
    assert_eq!(report.executions[0].refusal, None);
    assert!(
        report.executions[2]
            .refusal
            .as_ref()
            .unwrap()
            .starts_with("step 2 (sail isle home) is not applicable")
    );
    assert!(report.executions[3].refusal.as_ref().unwrap().contains("no action sink"));
}

#[test]
fn state_descriptions_include_numbers_and_facts_without_arguments() {
    let query = StateQuery {
        actions: lines("(board van home)\n(sail home isle)\n(leave van isle)"),
        ..StateQuery::default()
    };
    let state = plugin().describe_state(&TestHost::new(), &task(), &query).unwrap();
    assert_eq!(state.atoms, ["(ferry-at isle)", "(waits Van isle)", "(deck-free)", "(= (fuel) 1)"]);
    assert_eq!(
        state.sentences,
        ["ferry at holds for isle.", "waits holds for Van and isle.", "deck free holds.", "fuel is 1."]
    );
    let sentences =
        BTreeMap::from([("WAITS".to_owned(), FactWording::Yes("The car {1} waits at {2}.".to_owned()))]);
    let worded = PddlEnvironment::create(
        PddlEnvironmentOptions { sentences, ..Default::default() },
        &Secrets::default(),
    )
    .unwrap();
    let state = worded.describe_state(&TestHost::new(), &task(), &query).unwrap();
    assert_eq!(state.sentences[1], "The car Van waits at isle.");
    let nowhere = StateQuery { actions: lines("(leave van home)"), ..StateQuery::default() };
    let failure = plugin().describe_state(&TestHost::new(), &task(), &nowhere).unwrap_err();
    assert_eq!(failure.code, "environment.not-executable");
}

#[test]
fn state_descriptions_include_false_facts_about_the_next_action_s_objects() {
    let mut task = task();
    let words = |yes: &str, no: &str| Sentences { yes: yes.into(), no: no.into() };
    task.sentences = BTreeMap::from([
        ("deck-free".to_owned(), words("The deck is free.", "The deck is taken.")),
        ("waits".to_owned(), words("{1} waits at {2}.", "")),
        (
            "crossing".to_owned(),
            words("A crossing leads from {1} to {2}.", "No crossing leads from {1} to {2}."),
        ),
        ("fuel".to_owned(), words("{value} l of fuel are left.", "")),
    ]);
    let query =
        |actions: &str, focus: &str| StateQuery { actions: lines(actions), focus: Some(focus.into()) };
    let tell = |q: &StateQuery| plugin().describe_state(&TestHost::new(), &task, q).unwrap();
    let state = tell(&query("(board van home)\n(sail home isle)", "(sail isle home)"));
    assert_eq!(
        state.sentences,
        [
            "ferry at holds for isle.",
            "A crossing leads from home to isle.",
            "ferry at does not hold for home.",
            "No crossing leads from isle to home.",
            "The deck is taken.",
            "aboard holds for Van.",
            "1 l of fuel are left.",
        ]
    );
    assert_eq!(state.atoms[3..5], ["(not (crossing isle home))", "(not (deck-free))"]);
    // A fact that names one of the objects and never changes may decide, so it comes before the rest of the state.
    let state = tell(&query("(board van home)\n(sail home isle)", "(leave van isle)"));
    let place = |sentence: &str| state.sentences.iter().position(|s| s == sentence).expect(sentence);
    assert!(place("A crossing leads from home to isle.") < place("1 l of fuel are left."), "{state:?}");
    assert_eq!(state.atoms.len(), state.sentences.len());
    let own = PddlEnvironmentOptions {
        sentences: BTreeMap::from([(
            "waits".to_owned(),
            FactWording::Both(words("{1} queues at {2}.", "{1} left {2}.")),
        )]),
        ..Default::default()
    };
    let worded = PddlEnvironment::create(own, &Secrets::default()).unwrap();
    let state = worded
        .describe_state(&TestHost::new(), &task, &query("(board van home)", "(board VAN home)"))
        .unwrap();
    assert!(state.sentences.contains(&"Van left home.".to_owned()), "the option goes first: {state:?}");
    assert!(state.sentences.contains(&"The deck is taken.".to_owned()), "{state:?}");
    let unknown = tell(&query("", "(sink titanic)"));
    assert!(
        unknown.atoms.contains(&"(deck-free)".to_owned()),
        "an unknown object is passed over: {unknown:?}"
    );
}

#[test]
fn coverage_guided_walks_execute_rare_actions_more_often() {
    let share = |policy| {
        let lengths = vec![1; 1000];
        let spec = WalkSpec { lengths, seed: 5, policy };
        let walks = plugin().walks(&TestHost::new(), &task(), &spec).unwrap().walks;
        walks.iter().flatten().filter(|a| *a == "(sail home isle)").count()
    };
    // Two actions are applicable at first. The guided ones are kept close to half and half, the others are throws.
    assert!(share(WalkPolicy::CoverageGuided).abs_diff(500) <= 30, "{}", share(WalkPolicy::CoverageGuided));
    assert!(share(WalkPolicy::Uniform).abs_diff(500) < 80);
    assert_ne!(share(WalkPolicy::CoverageGuided), share(WalkPolicy::Uniform));
}

#[test]
fn walks_can_be_executed_and_stop_at_dead_ends() {
    let (plugin, host) = (plugin(), TestHost::new());
    let spec = WalkSpec { lengths: vec![12; 40], seed: 7, ..WalkSpec::default() };
    let numeric = plugin.walks(&host, &task(), &spec).unwrap();
    let sequences = Sequences { sequences: numeric.walks.clone() };
    let report = plugin.execute(&host, &task(), &sequences).unwrap();
    for (walk, execution) in numeric.walks.iter().zip(&report.executions) {
        assert_eq!(execution.executed as usize, walk.len(), "{walk:?}: {:?}", execution.refusal);
    }
    let stuck = EnvironmentOpen {
        domain: Some(DOMAIN.into()),
        problem: Some(
            PROBLEM.replace("(waits van home) ", "").replace("(waits van isle)", "(ferry-at isle)"),
        ),
        ..task()
    };
    let walks = plugin.walks(&host, &stuck, &spec).unwrap().walks;
    assert!(walks.iter().all(|w| w == &["(sail home isle)"]), "{walks:?}");
}

#[test]
fn walks_depend_on_the_seed_and_their_index_alone() {
    let (plugin, host) = (plugin(), TestHost::new());
    let walks = |lengths: Vec<u32>, seed| {
        plugin.walks(&host, &task(), &WalkSpec { lengths, seed, ..WalkSpec::default() }).unwrap().walks
    };
    let many = walks(vec![6, 6, 6, 6, 6, 6], 3);
    assert_eq!(walks(vec![6, 6], 3), many[..2]);
    assert_eq!(walks(vec![2, 6], 3)[0], many[0][..2]);
    assert_ne!(walks(vec![6, 6, 6, 6, 6, 6], 4), many);
    assert!(many.iter().collect::<BTreeSet<_>>().len() > 1);
}

#[test]
fn first_steps_are_uniform_over_the_applicable_actions() {
    let spec = WalkSpec { lengths: vec![1; 4000], seed: 11, ..WalkSpec::default() };
    let walks = plugin().walks(&TestHost::new(), &task(), &spec).unwrap().walks;
    let sails = walks.iter().filter(|w| w[0] == "(sail home isle)").count();
    // Two actions are applicable; five standard deviations of 4000 fair throws are about 158.
    assert!(sails.abs_diff(2000) < 158, "{sails}");
}

#[test]
fn one_instance_serves_many_threads() {
    let plugin = Arc::new(plugin());
    let expected = plugin
        .walks(&TestHost::new(), &task(), &WalkSpec { lengths: vec![8; 10], seed: 1, ..WalkSpec::default() })
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..20 {
                    let other = EnvironmentOpen {
                        problem: Some(PROBLEM.replace("ferry-1", &format!("f{n}"))),
                        ..task()
                    };
                    let spec = WalkSpec { lengths: vec![8; 10], seed: 1, ..WalkSpec::default() };
                    assert_eq!(plugin.walks(&TestHost::new(), &other, &spec).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn an_unsupported_simulation_is_a_failure_of_the_request() {
    let fail = |domain: Option<&str>, problem: Option<&str>| {
        let task =
            EnvironmentOpen { domain: domain.map(Into::into), problem: problem.map(Into::into), ..task() };
        let failure = plugin().describe(&TestHost::new(), &task).unwrap_err();
        assert_eq!(failure.class, FailureClass::Request);
        failure
    };
    assert_eq!(fail(None, Some(PROBLEM)).code, "environment.no-reference");
    assert_eq!(fail(Some(DOMAIN), Some(" ")).code, "environment.no-reference");
    let broken = fail(Some(DOMAIN), Some(&PROBLEM.replace("(deck-free)", "(deck-full)")));
    assert_eq!(broken.code, "environment.unreadable");
    assert!(broken.message.contains("problem:4:"), "{}", broken.message);
}

/// A kettle boils for five minutes while somebody is in the kitchen; tea is poured after it.
const KITCHEN: &str = "(define (domain kitchen)
  (:requirements :durative-actions :constraints)
  (:predicates (boiled) (in-kitchen) (cup))
  (:durative-action boil :parameters () :duration (= ?duration 5)
    :condition (over all (in-kitchen)) :effect (at end (boiled)))
  (:durative-action pour :parameters () :duration (= ?duration 1)
    :condition (at start (boiled)) :effect (at end (cup))))";

const TEA: &str = "(define (problem tea) (:domain kitchen) (:init (in-kitchen)) (:goal (cup)))";

#[test]
fn a_plan_with_times_is_judged_by_them() {
    let task = task_of(KITCHEN, TEA);
    let judge = |plan: &str| judge_in(&task, plan);
    let good = judge("0.000: (boil) [5.000]\n5.001: (pour) [1.000]");
    assert_eq!((good.valid, good.executed), (true, 2), "{:?}", good.reasons);
    let early = judge("0.000: (boil) [5.000]\n4.000: (pour) [1.000]");
    assert_eq!((early.valid, early.executed), (false, 1));
    assert!(early.reasons[0].starts_with("step 2 (pour)"), "{:?}", early.reasons);
    let short = judge("0.000: (boil) [2.000]\n2.001: (pour) [1.000]");
    assert!(!short.valid && short.reasons[0].starts_with("step 1 (boil)"), "{:?}", short.reasons);
    assert_eq!(short.executed, 0);
    // A duration that is not allowed is found before anything is executed.
    let long = judge("0.000: (boil) [5.000]\n5.001: (pour) [3.000]");
    assert!(!long.valid && long.reasons[0].starts_with("step 2 (pour)"), "{:?}", long.reasons);
    assert_eq!(long.executed, 1);
    // States between the steps of such a plan are not described, and nothing walks through them.
    let walks =
        plugin().walks(&TestHost::new(), &task, &WalkSpec { lengths: vec![1], ..WalkSpec::default() });
    assert_eq!(walks.unwrap_err().code, "environment.unsupported");
    let sequences = Sequences { sequences: vec![lines("(boil)")] };
    let executed = plugin().execute(&TestHost::new(), &task, &sequences);
    assert_eq!(executed.unwrap_err().code, "environment.unsupported");
}

#[test]
fn a_trajectory_constraint_is_judged_and_named() {
    let domain = "(define (domain lamps) (:requirements :constraints) (:predicates (on) (seen))
      (:action switch :parameters () :precondition () :effect (on))
      (:action look :parameters () :precondition (on) :effect (seen)))";
    let problem =
        "(define (problem p) (:domain lamps) (:init) (:goal (on)) (:constraints (sometime (seen))))";
    let task = task_of(domain, problem);
    let judge = |plan: &str| judge_in(&task, plan);
    assert!(judge("(switch)\n(look)").valid);
    let broken = judge("(switch)");
    assert!(!broken.valid);
    assert_eq!((broken.reasons.len(), &broken.reasons), (1, &broken.violations));
    assert!(broken.violations[0].starts_with("the constraint (sometime (seen)) is violated"), "{broken:?}");
    // The goal comes first: it is not told that the plan reaches it.
    let nothing = judge("");
    assert!(!nothing.valid && nothing.violations.is_empty(), "{nothing:?}");
}

#[test]
fn an_interrupted_run_ends_walking() {
    let host = TestHost::new().remaining_ms(0);
    let failure = plugin()
        .walks(&host, &task(), &WalkSpec { lengths: vec![5], seed: 0, ..WalkSpec::default() })
        .unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "environment.stopped"));
}

#[test]
fn every_code_is_explained_once() {
    let codes: BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.iter().all(|c| c.starts_with("environment.")));
}
