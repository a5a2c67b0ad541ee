//! Every verdict over a small shelf, and that nothing of the reference becomes feedback.

mod domains;

use super::*;
use planforge_environment_pddl::PddlEnvironment;
use planforge_plugin_common::judging::JudgingLimits;
use planforge_plugin_sdk::testing::TestHost;
use std::sync::Arc;

const DOMAIN: &str = "(define (domain shelf)
  (:requirements :strips :typing)
  (:types box place)
  (:constants dock - place)
  (:predicates (in ?b - box ?p - place) (sealed ?b - box))
  (:action carry
    :parameters (?b - box ?from ?to - place)
    :precondition (in ?b ?from)
    :effect (and (in ?b ?to) (not (in ?b ?from)))))";

const PROBLEM: &str = "(define (problem tidy)
  (:domain shelf)
  (:objects red blue - box attic - place)
  (:init (in red dock) (in blue attic) (sealed blue))
  (:goal (and (in red attic) (in blue dock))))";

fn host(model: bool) -> TestHost {
    host_with(model, &[])
}

/// With further problems of the suite.
fn host_with(model: bool, further: &[&str]) -> TestHost {
    let options = planforge_environment_pddl::PddlEnvironmentOptions { model, ..Default::default() };
    let environment = PddlEnvironment::create(options, &Secrets::default()).unwrap();
    let open = EnvironmentOpen {
        suite: "shelf".into(),
        task: "p01".into(),
        domain: Some(DOMAIN.into()),
        problem: Some(PROBLEM.into()),
        problems: further.iter().map(|text| (*text).to_owned()).collect(),
        ..EnvironmentOpen::default()
    };
    TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open)
}

fn judge_with(host: &TestHost, given: Given, candidate: Candidate) -> Result<Assessment, Failure> {
    let verifier =
        EquivalenceVerifier::create(EquivalenceVerifierOptions::default(), &Secrets::default()).unwrap();
    let task = TaskView { given, ..TaskView::default() };
    let request = VerifyRequest { task, candidates: vec![candidate], seed: 7, ..VerifyRequest::default() };
    verifier.verify(host, &request)?.results.remove(0).into_result()
}

fn candidate(problem: &str) -> Candidate {
    Candidate { problem: Some(problem.to_owned()), ..Candidate::default() }
}

/// A problem over the given domain.
fn judge(problem: &str) -> Assessment {
    let given = Given { domain: Some(DOMAIN.into()), ..Given::default() };
    let got = judge_with(&host(true), given, candidate(problem)).unwrap();
    assert!(got.feedback.is_empty(), "{:?}", got.feedback);
    got
}

#[test]
fn other_names_and_another_order_are_the_reference() {
    let renamed = "(define (problem mine) (:domain shelf)
      (:objects cellar - place b1 b2 - box)
      (:init (sealed b1) (in b1 cellar) (in b2 dock))
      (:goal (and (in b1 dock) (in b2 cellar))))";
    let got = judge(renamed);
    assert_eq!(got.decision, Decision::Accepted);
    assert_eq!((got.metrics["equivalent"], got.metrics["missing"], got.metrics["extra"]), (1.0, 0.0, 0.0));
    assert_eq!(
        got.evidence["renaming"],
        serde_json::json!([["red", "b2"], ["blue", "b1"], ["attic", "cellar"]])
    );
    assert_eq!(judge(PROBLEM).summary, "The problem is the reference.");
}

#[test]
fn a_difference_is_told_to_the_record_with_its_size() {
    let got = judge(&PROBLEM.replace(" (sealed blue)", " (sealed red) (sealed blue)"));
    assert_eq!(got.decision, Decision::Rejected);
    assert_eq!((got.metrics["equivalent"], got.metrics["missing"], got.metrics["extra"]), (0.0, 0.0, 1.0));
    assert_eq!(got.evidence["difference"]["extra_facts"], serde_json::json!(["init (sealed red)"]));
    let codes: Vec<&str> = got.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert!(codes.ends_with(&["equivalence.extra"]), "{codes:?}");
    assert!(!codes.contains(&"equivalence.missing"));
    let fewer = judge(&PROBLEM.replace("red blue - box", "red blue green - box"));
    assert_eq!((fewer.decision, fewer.metrics["extra"]), (Decision::Rejected, 1.0));
}

#[test]
fn the_domain_s_own_names_stand_for_themselves() {
    let swapped = PROBLEM.replace("dock", "@").replace("attic)", "dock)").replace('@', "attic");
    assert_eq!(judge(&swapped).decision, Decision::Rejected);
}

#[test]
fn what_cannot_be_read_is_rejected_and_what_is_missing_is_undecided() {
    let got = judge("(define (problem tidy) (:domain shelf) (:init (in red");
    assert_eq!((got.decision, got.metrics["equivalent"]), (Decision::Rejected, 0.0));
    assert!(!got.diagnostics.is_empty());
    let got = judge_with(&host(true), Given::default(), Candidate::default()).unwrap();
    assert!(matches!(got.decision, Decision::Undecided { reason: UndecidedReason::MissingInput, .. }));
    let undeclared = judge(&PROBLEM.replace("(in blue attic)", "(in blue attick)"));
    assert_eq!((undeclared.decision, undeclared.metrics["equivalent"]), (Decision::Rejected, 0.0));
}

/// A suite may have its plans judged by a weaker domain than the one that it gives.
#[test]
fn the_given_domain_is_the_reference_problem_s_own() {
    let given = Given {
        domain: Some(
            DOMAIN.replace(":precondition (in ?b ?from)", ":precondition (and (in ?b ?from) (sealed ?b))"),
        ),
        ..Given::default()
    };
    let judged = |problem: &str| judge_with(&host(true), given.clone(), candidate(problem)).unwrap().decision;
    assert_eq!(judged(PROBLEM), Decision::Accepted);
    assert_eq!(judged(&PROBLEM.replace(" (sealed blue)", "")), Decision::Rejected);
    // The runner hands the given domain on in the candidate.
    let both = Candidate { domain: given.domain.clone(), ..candidate(PROBLEM) };
    assert_eq!(judge_with(&host(true), given, both).unwrap().decision, Decision::Accepted);
}

#[test]
fn a_problem_over_another_domain_is_not_comparable() {
    let over = |domain: &str| {
        let candidate = Candidate { domain: Some(domain.to_owned()), ..candidate(PROBLEM) };
        judge_with(&host(true), Given::default(), candidate).unwrap()
    };
    let other = over(&DOMAIN.replace(":precondition (in ?b ?from)", ":precondition (sealed ?b)"));
    let Decision::NotComparable { message } = &other.decision else { panic!("{other:?}") };
    assert!(message.contains("another domain"), "{message}");
    assert!(!other.metrics.contains_key("equivalent"));
    assert!(other.evidence["domain"].as_array().is_some_and(|a| !a.is_empty()));
    let same = DOMAIN
        .replace("(domain shelf)", "(domain store)")
        .replace("(:types box place)", "(:types place box)")
        .replace("?b", "?x")
        .replace(":strips :typing", ":typing");
    assert_eq!(over(&same).decision, Decision::Accepted);
    assert_eq!(
        judge_with(&host(true), Given::default(), candidate(PROBLEM)).unwrap().decision,
        Decision::Accepted
    );
}

#[test]
fn an_environment_that_shows_nothing_is_a_failure_and_no_verdict() {
    let failure = judge_with(&host(false), Given::default(), candidate(PROBLEM)).unwrap_err();
    assert_eq!(failure.code, "equivalence.no-reference");
}

#[test]
fn a_limit_leaves_the_candidate_undecided() {
    let host = host(true).remaining_ms(0);
    let got = judge_with(&host, Given::default(), candidate(&PROBLEM.replace("(sealed blue)", ""))).unwrap();
    // Without facts that tell the boxes apart nothing has to be tried, and the answer needs no time.
    assert_eq!(got.decision, Decision::Rejected);
    let twins = PROBLEM.replace("(sealed blue)", "").replace("(in blue attic)", "(in blue dock)");
    let twins = twins.replace("(in blue dock))))", "(in blue attic))))");
    let environment = PddlEnvironment::create(
        planforge_environment_pddl::PddlEnvironmentOptions::default(),
        &Secrets::default(),
    )
    .unwrap();
    let open = EnvironmentOpen {
        domain: Some(DOMAIN.into()),
        problem: Some(twins.clone()),
        ..EnvironmentOpen::default()
    };
    let environment = Arc::new(environment);
    let host = TestHost::new().environment(environment.clone(), open.clone()).remaining_ms(0);
    let got = judge_with(&host, Given::default(), candidate(&twins)).unwrap();
    assert!(matches!(got.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{got:?}");
    // The limit of the options, without a deadline of the host.
    let host = TestHost::new().environment(environment, open);
    let options = EquivalenceVerifierOptions {
        limits: JudgingLimits { time_s: 0, ..Default::default() },
        ..Default::default()
    };
    let verifier = EquivalenceVerifier::create(options, &Secrets::default()).unwrap();
    let request = VerifyRequest { candidates: vec![candidate(&twins)], ..VerifyRequest::default() };
    let got = verifier.verify(&host, &request).unwrap().results.remove(0).into_result().unwrap();
    assert!(matches!(got.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{got:?}");
}

#[test]
fn at_level_goals_what_follows_makes_no_difference() {
    let judge = |level: Level, max_states: u64, problem: &str| {
        let options = EquivalenceVerifierOptions { level: Some(level), max_states, ..Default::default() };
        let verifier = EquivalenceVerifier::create(options, &Secrets::default()).unwrap();
        let request = VerifyRequest { candidates: vec![candidate(problem)], ..VerifyRequest::default() };
        verifier.verify(&host(true), &request).unwrap().results.remove(0).into_result().unwrap()
    };
    let longer = PROBLEM.replace("(in blue dock)", "(in blue dock) (not (in red dock))");
    let got = judge(Level::Syntactic, 100, &longer);
    assert_eq!((got.decision, got.metrics["equivalent"]), (Decision::Rejected, 0.0));
    let got = judge(Level::Goals, 100, &longer);
    assert_eq!((got.decision, got.metrics["equivalent"]), (Decision::Accepted, 1.0));
    assert!(got.summary.contains("satisfied by the same reachable states"), "{}", got.summary);
    assert!(got.evidence["added_goal_facts"]["first"].as_array().is_some_and(|a| !a.is_empty()));
    let shorter = PROBLEM.replace(" (in blue dock)", "");
    for max_states in [0, 100] {
        let got = judge(Level::Goals, max_states, &shorter);
        assert_eq!((got.decision, got.metrics["missing"]), (Decision::Rejected, 1.0));
        assert_eq!(got.evidence["witness"]["satisfies"], "second");
        assert!(got.feedback.is_empty());
    }
    let open =
        judge(Level::Goals, 0, &PROBLEM.replace("(in blue dock)", "(or (in blue dock) (in blue attic))"));
    assert!(matches!(open.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{open:?}");
}

#[test]
fn an_option_out_of_range_is_refused() {
    let options = EquivalenceVerifierOptions { max_choices: 0, ..Default::default() };
    assert_eq!(
        EquivalenceVerifier::create(options, &Secrets::default()).unwrap_err().code,
        "equivalence.options"
    );
}
