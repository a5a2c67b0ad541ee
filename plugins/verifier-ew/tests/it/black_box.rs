//! A black-box environment without PDDL: the water jugs of `examples/environments`, compared with PDDL with
//! numbers.

use planforge_environment_process::{ProcessEnvironment, ProcessEnvironmentOptions};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::testing::TestHost;
use planforge_verifier_ew::{EwVerifier, WalkVerifierOptions};
use std::sync::Arc;

const DOMAIN: &str = "(define (domain jugs)
  (:requirements :typing :numeric-fluents :equality :conditional-effects :negative-preconditions)
  (:types jug)
  (:functions (litres ?j - jug) (size ?j - jug))
  (:action fill
    :parameters (?jug - jug)
    :precondition (< (litres ?jug) (size ?jug))
    :effect (assign (litres ?jug) (size ?jug)))
  (:action empty
    :parameters (?jug - jug)
    :precondition (> (litres ?jug) 0)
    :effect (assign (litres ?jug) 0))
  (:action pour
    :parameters (?from ?to - jug)
    :precondition (and (not (= ?from ?to)) (> (litres ?from) 0) (< (litres ?to) (size ?to)))
    :effect (and
      (when (<= (litres ?from) (- (size ?to) (litres ?to)))
        (and (increase (litres ?to) (litres ?from)) (assign (litres ?from) 0)))
      (when (> (litres ?from) (- (size ?to) (litres ?to)))
        (and (decrease (litres ?from) (- (size ?to) (litres ?to))) (assign (litres ?to) (size ?to)))))))";

const PROBLEM: &str = "(define (problem four-litres)
  (:domain jugs)
  (:objects small large - jug)
  (:init (= (litres small) 0) (= (litres large) 0) (= (size small) 3) (= (size large) 5))
  (:goal (= (litres large) 4)))";

/// A host with the puzzle as its environment; `None` without Python.
fn host() -> Option<TestHost> {
    let python = std::process::Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let options = ProcessEnvironmentOptions {
        command: vec!["python3".into(), "jugs.py".into()],
        cwd: concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/environments").to_owned(),
        ..Default::default()
    };
    let environment = ProcessEnvironment::create(options, &Secrets::default()).unwrap();
    let open = EnvironmentOpen { suite: "jugs".into(), task: "p01".into(), ..EnvironmentOpen::default() };
    Some(TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open))
}

fn judge(host: &TestHost, domain: &str) -> Assessment {
    let verifier = EwVerifier::create(
        WalkVerifierOptions { walks: Some(10), ..Default::default() },
        &Secrets::default(),
    )
    .unwrap();
    let candidate =
        Candidate { domain: Some(domain.into()), problem: Some(PROBLEM.into()), ..Candidate::default() };
    let request = VerifyRequest { candidates: vec![candidate], seed: 5, ..VerifyRequest::default() };
    verifier.verify(host, &request).unwrap().results.remove(0).into_result().unwrap()
}

#[test]
fn a_model_of_a_program_that_knows_no_pddl_scores_one() {
    let Some(host) = host() else { return };
    let got = judge(&host, DOMAIN);
    assert_eq!(got.decision, Decision::Accepted, "{}", got.summary);
    assert_eq!((got.metrics["score"], got.metrics["walks"]), (1.0, 200.0));
}

#[test]
fn a_wrong_model_learns_from_the_program_what_it_refuses_and_in_which_state() {
    let Some(host) = host() else { return };
    let spills = DOMAIN.replace(
        "(and (decrease (litres ?from) (- (size ?to) (litres ?to))) (assign (litres ?to) (size ?to)))",
        "(and (assign (litres ?from) 0) (assign (litres ?to) (size ?to)))",
    );
    let refills = DOMAIN.replace("(< (litres ?jug) (size ?jug))", "(>= (litres ?jug) 0)");
    let timid = DOMAIN.replace("(> (litres ?jug) 0)", "(= (litres ?jug) (size ?jug))");
    let mut texts = Vec::new();
    for domain in [spills, refills, timid] {
        assert_ne!(domain, DOMAIN);
        let got = judge(&host, &domain);
        assert_eq!(got.decision, Decision::Rejected);
        assert!(got.metrics["score"] < 1.0 && got.metrics["score"] > 0.0, "{:?}", got.metrics);
        texts.push(got.feedback.join("\n\n"));
    }
    insta::assert_snapshot!(texts.join("\n\n======\n\n"));
}
