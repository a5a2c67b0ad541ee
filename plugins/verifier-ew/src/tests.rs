//! Every verdict and rank over a small kitchen, with an environment that shows its model, one that can only be tried, and one
//! that answers nonsense; the feedback as snapshots.

mod goals;

use super::*;
use planforge_environment_pddl::PddlEnvironment;
use planforge_plugin_common::judging::JudgingLimits;
use planforge_plugin_sdk::testing::TestHost;
use std::collections::BTreeMap;
use std::sync::Arc;

const DOMAIN: &str = "(define (domain kitchen)
  (:requirements :strips :typing :negative-preconditions)
  (:types cup)
  (:predicates (clean ?c - cup) (full ?c - cup) (hot))
  (:action boil
    :parameters ()
    :precondition (not (hot))
    :effect (hot))
  (:action pour
    :parameters (?c - cup)
    :precondition (and (hot) (clean ?c))
    :effect (and (full ?c) (not (hot)) (not (clean ?c))))
  (:action drink
    :parameters (?c - cup)
    :precondition (full ?c)
    :effect (not (full ?c)))
  (:action wash
    :parameters (?c - cup)
    :precondition (not (full ?c))
    :effect (clean ?c)))";

const PROBLEM: &str = "(define (problem tea)
  (:domain kitchen)
  (:objects blue red - cup)
  (:init (clean blue) (clean red))
  (:goal (full red)))";

fn open() -> EnvironmentOpen {
    let says = |yes: &str, no: &str| Sentences { yes: yes.into(), no: no.into() };
    EnvironmentOpen {
        suite: "kitchen".into(),
        task: "p01".into(),
        domain: Some(DOMAIN.into()),
        problem: Some(PROBLEM.into()),
        problems: Vec::new(),
        sentences: BTreeMap::from([
            ("hot".to_owned(), says("The water is hot.", "The water is cold.")),
            ("clean".to_owned(), says("The cup {1} is clean.", "")),
        ]),
    }
}

/// A host with the kitchen as its environment.
fn host(model: bool) -> TestHost {
    let options = planforge_environment_pddl::PddlEnvironmentOptions { model, ..Default::default() };
    let environment = PddlEnvironment::create(options, &Secrets::default()).unwrap();
    TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open())
}

fn written(domain: &str, problem: &str) -> Candidate {
    Candidate { domain: Some(domain.into()), problem: Some(problem.into()), ..Candidate::default() }
}

fn changed(from: &str, to: &str) -> Candidate {
    assert!(DOMAIN.contains(from), "{from}");
    written(&DOMAIN.replace(from, to), PROBLEM)
}

fn judge_all(
    host: &TestHost,
    options: WalkVerifierOptions,
    candidates: Vec<Candidate>,
) -> Vec<Result<Assessment, Failure>> {
    let verifier = EwVerifier::create(options, &Secrets::default()).unwrap();
    let request = VerifyRequest { candidates, seed: 7, ..VerifyRequest::default() };
    verifier.verify(host, &request).unwrap().results.into_iter().map(Outcome::into_result).collect()
}

fn judge(host: &TestHost, options: WalkVerifierOptions, candidate: Candidate) -> Assessment {
    judge_all(host, options, vec![candidate]).remove(0).unwrap()
}

fn both(candidate: &Candidate) -> [Assessment; 2] {
    [true, false].map(|model| judge(&host(model), WalkVerifierOptions::default(), candidate.clone()))
}

fn undecided(assessment: &Assessment) -> Option<UndecidedReason> {
    match assessment.decision {
        Decision::Undecided { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn a_domain_compared_with_itself_scores_exactly_one() {
    let [exact, sampled] = both(&written(DOMAIN, PROBLEM));
    for got in [&exact, &sampled] {
        assert_eq!(got.decision, Decision::Accepted);
        assert_eq!((got.metrics["score"], got.metrics["rating"]), (1.0, 1.0));
        assert!(got.feedback.is_empty());
    }
    assert_eq!(exact.evidence["certainty"], "exact");
    assert_eq!((exact.metrics["low"], exact.metrics["walks"]), (1.0, 0.0));
    assert_eq!(sampled.evidence["certainty"], "all-walks");
    assert_eq!(sampled.metrics["walks"], 1000.0);
    assert!(sampled.metrics["low"] < 1.0 && sampled.metrics["high"] == 1.0);
}

#[test]
fn a_black_box_and_its_model_give_consistent_scores() {
    let wrong = [
        changed(":precondition (and (hot) (clean ?c))", ":precondition (hot)"),
        changed(":precondition (full ?c)", ":precondition (and (full ?c) (hot))"),
        changed("(not (hot)) (not (clean ?c))", "(not (clean ?c))"),
        written(DOMAIN, &PROBLEM.replace(" (clean red)", "")),
    ];
    for candidate in &wrong {
        let [exact, sampled] = both(candidate);
        let score = exact.metrics["score"];
        assert!(score > 0.0 && score < 1.0);
        assert_eq!(exact.metrics["low"], score);
        let (low, high) = (sampled.metrics["low"], sampled.metrics["high"]);
        assert!(low <= score && score <= high, "{score} is not in {low} to {high}");
        for got in [exact, sampled] {
            assert_eq!(got.decision, Decision::Rejected);
            assert_eq!(got.metrics["rating"], got.metrics["score"]);
            assert_eq!(got.feedback.len(), 1);
            assert_eq!(got.diagnostics.iter().filter(|d| d.code.starts_with("ew.refused-by")).count(), 1);
        }
    }
}

#[test]
fn feedback_shows_the_shortest_failing_walk_and_the_state_before_the_refused_action() {
    let candidates = [
        // The environment refuses at first, or later.
        changed(":precondition (not (full ?c))", ":precondition ()"),
        changed(":precondition (and (hot) (clean ?c))", ":precondition (clean ?c)"),
        // The candidate refuses at first, or later.
        changed(":precondition (not (hot))", ":precondition (and (not (hot)) (full blue))"),
        changed(":precondition (full ?c)", ":precondition (and (full ?c) (hot))"),
        // Something is missing.
        changed("(:action drink", "(:action sip"),
        changed(":parameters ()\n", ":parameters (?c - cup)\n"),
        written(
            DOMAIN,
            &PROBLEM
                .replace("(:objects blue red", "(:objects red")
                .replace(" (clean blue)", "")
                .replace("(clean blue) ", ""),
        ),
        // Nothing can be done.
        changed(":precondition (not (hot))", ":precondition (hot)")
            .domain
            .map(|d| written(&d.replace(":precondition (not (full ?c))", ":precondition (full ?c)"), PROBLEM))
            .unwrap(),
    ];
    let mut texts = Vec::new();
    for candidate in &candidates {
        let [model, black_box] = both(candidate);
        let same = model.feedback == black_box.feedback;
        texts.push(model.feedback.join("\n\n"));
        if !same {
            texts.push(format!("[black box] {}", black_box.feedback.join("\n\n")));
        }
    }
    insta::assert_snapshot!(texts.join("\n\n======\n\n"));
}

#[test]
fn each_refused_action_of_each_direction_has_a_minimal_failing_walk() {
    // Three mistakes: two conditions too few, and one too many.
    let domain = DOMAIN
        .replace(":precondition (not (full ?c))", ":precondition ()")
        .replace(":precondition (full ?c)", ":precondition (and (full ?c) (hot))")
        .replace(":precondition (not (hot))", ":precondition ()");
    let candidate = written(&domain, PROBLEM);
    let each = WalkVerifierOptions { failing_walks: FailingWalks::Each, ..Default::default() };
    let mut last = Vec::new();
    for model in [true, false] {
        let shortest = judge(&host(model), WalkVerifierOptions::default(), candidate.clone());
        let got = judge(&host(model), each.clone(), candidate.clone());
        let count = |of: &Assessment| of.diagnostics.iter().filter(|d| d.code.starts_with("ew.")).count();
        assert_eq!((shortest.feedback.len(), count(&shortest)), (1, 1));
        assert_eq!(got.metrics, shortest.metrics);
        assert_eq!(got.feedback[1], shortest.feedback[0]);
        let walks = got.evidence["failing_walks"].as_array().unwrap();
        assert_eq!((got.feedback.len(), count(&got)), (walks.len() + 1, walks.len()));
        let mut refused: Vec<(String, String, usize)> = walks
            .iter()
            .map(|walk| {
                let steps = walk["steps"].as_array().unwrap();
                let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
                let name = text(steps.last().unwrap());
                let name = name.trim_matches(['(', ')']).split(' ').next().unwrap().to_owned();
                (text(&walk["refused_by"]), name, steps.len())
            })
            .collect();
        refused.sort();
        last.push(refused);
        if model {
            insta::assert_snapshot!(got.feedback.join("\n\n---\n\n"));
        }
    }
    assert_eq!(last[0], last[1]);
    let names: Vec<(&str, &str)> = last[0].iter().map(|(by, name, _)| (by.as_str(), name.as_str())).collect();
    assert_eq!(names, [("candidate", "drink"), ("environment", "boil"), ("environment", "wash")]);
}

#[test]
fn conditions_of_the_reference_are_never_revealed() {
    let secret = DOMAIN.replace("(hot))\n  (:action boil", "(hot) (grail))\n  (:action boil");
    let secret = secret.replace("(and (hot) (clean ?c))", "(and (hot) (clean ?c) (not (grail)))");
    let mut open = open();
    open.domain = Some(secret);
    open.problem = Some(PROBLEM.replace("(clean blue)", "(clean blue) (grail)"));
    for model in [true, false] {
        let options = planforge_environment_pddl::PddlEnvironmentOptions { model, ..Default::default() };
        let environment = PddlEnvironment::create(options, &Secrets::default()).unwrap();
        let host = TestHost::new().environment(Arc::new(environment), open.clone());
        let got = judge(&host, WalkVerifierOptions::default(), written(DOMAIN, PROBLEM));
        assert_eq!(got.decision, Decision::Rejected);
        let (refusal, state) = got.feedback[0].split_once("The state of the environment").unwrap();
        assert!(refusal.contains("The environment refuses"), "{refusal}");
        assert!(!refusal.contains("grail"), "the reason is the reference's: {refusal}");
        assert!(state.contains("- grail holds."), "the state is the environment's: {state}");
        let told = format!("{:?}{}", got.diagnostics, got.summary);
        assert!(!told.contains("grail"), "{told}");
    }
}

#[test]
fn the_reports_of_both_environments() {
    let candidate = changed(":precondition (full ?c)", ":precondition (and (full ?c) (hot))");
    let small = WalkVerifierOptions { t_max: 3, walks: Some(4), ..Default::default() };
    let exact = judge(&host(true), small.clone(), candidate.clone());
    let sampled = judge(&host(false), small, candidate);
    insta::assert_json_snapshot!([exact.evidence, sampled.evidence]);
    insta::assert_snapshot!([exact.summary, sampled.summary].join("\n\n"));
}

#[test]
fn broken_candidates_are_ranked_by_the_tables() {
    let idle = changed(":effect (not (full ?c))", ":effect (and)");
    let unreadable = changed("(full ?c) (not (hot))", "(ful ?c) (not (hot))");
    let stuck = changed(":precondition (not (hot))", ":precondition (hot)");
    let stuck = written(
        &stuck.domain.unwrap().replace(":precondition (not (full ?c))", ":precondition (full ?c)"),
        PROBLEM,
    );
    let edited =
        |applied, refused| Candidate { edits: Some(Edits { applied, refused }), ..written(DOMAIN, PROBLEM) };
    let candidates =
        || vec![edited(0, 0), edited(0, 2), idle.clone(), unreadable.clone(), stuck.clone(), edited(1, 1)];
    let ratings = |model, ratings| -> Vec<Option<f64>> {
        let options = WalkVerifierOptions { ratings: Some(ratings), ..Default::default() };
        let results = judge_all(&host(model), options, candidates());
        results.into_iter().map(|r| r.unwrap().metrics.get("rating").copied()).collect()
    };
    for model in [true, false] {
        let some = |list: [f64; 6]| list.map(Some).to_vec();
        assert_eq!(ratings(model, Ratings::Paper), some([-5.0, -4.0, -3.0, -2.0, -1.0, 1.0]));
        assert_eq!(ratings(model, Ratings::ReferenceCode), some([-6.0, -5.0, -4.0, -3.0, -1.0, -5.0]));
        assert_eq!(ratings(model, Ratings::None), vec![None; 6]);
    }
    let results = judge_all(&host(true), WalkVerifierOptions::default(), candidates());
    let mut texts = Vec::new();
    for result in results.into_iter().take(5) {
        let got = result.unwrap();
        assert_eq!(got.decision, Decision::Rejected);
        assert!(!got.diagnostics.is_empty());
        texts.push(format!("{}\n\n{}", got.summary, got.feedback.join("\n\n")));
    }
    insta::assert_snapshot!(texts.join("\n\n======\n\n"));
}

#[test]
fn a_direction_that_is_not_defined_leaves_the_other_reported() {
    let stuck = changed(":precondition (not (hot))", ":precondition (hot)");
    let stuck = written(
        &stuck.domain.unwrap().replace(":precondition (not (full ?c))", ":precondition (full ?c)"),
        PROBLEM,
    );
    for got in both(&stuck) {
        assert!(!got.metrics.contains_key("score") && !got.metrics.contains_key("candidate_to_reference"));
        assert_eq!((got.metrics["reference_to_candidate"], got.metrics["rating"]), (0.0, -1.0));
        assert!(got.diagnostics.iter().any(|d| d.code == "ew.no-first-action"));
    }
    // The other way round nothing can be said about the candidate.
    for model in [true, false] {
        let mut open = open();
        open.domain = stuck.domain.clone();
        let options = planforge_environment_pddl::PddlEnvironmentOptions { model, ..Default::default() };
        let environment = PddlEnvironment::create(options, &Secrets::default()).unwrap();
        let host = TestHost::new().environment(Arc::new(environment), open);
        let got = judge(&host, WalkVerifierOptions::default(), written(DOMAIN, PROBLEM));
        assert_eq!(got.decision.name(), "not-comparable");
        assert_eq!((got.metrics["candidate_to_reference"], got.metrics["rating"]), (0.0, -1.0));
    }
}

#[test]
fn candidates_without_shared_names_are_not_comparable_but_ranked() {
    let mut other = DOMAIN.to_owned();
    for name in ["boil", "pour", "drink", "wash"] {
        other = other.replace(&format!("(:action {name}"), &format!("(:action do-{name}"));
    }
    let foreign = PROBLEM.replace("blue", "first").replace("red", "second");
    for candidate in [written(&other, PROBLEM), written(DOMAIN, &foreign)] {
        for got in both(&candidate) {
            assert_eq!(got.decision.name(), "not-comparable");
            assert_eq!(got.metrics["rating"], -2.0);
            assert!(got.feedback[0].contains("It needs these, with these names:"), "{}", got.feedback[0]);
        }
    }
}

#[test]
fn an_action_without_effects_is_right_where_the_environment_has_one() {
    let idle = DOMAIN.replace(":effect (not (full ?c))", ":effect (and)");
    let mut open = open();
    open.domain = Some(idle.clone());
    let environment = PddlEnvironment::create(Default::default(), &Secrets::default()).unwrap();
    let host = TestHost::new().environment(Arc::new(environment), open);
    let got = judge(&host, WalkVerifierOptions::default(), written(&idle, PROBLEM));
    assert_eq!(got.decision, Decision::Accepted, "{}", got.summary);
}

#[test]
fn options_that_need_a_model_leave_candidates_undecided_without_one() {
    let ask = |model, options: WalkVerifierOptions| judge(&host(model), options, written(DOMAIN, PROBLEM));
    let exact = WalkVerifierOptions { mode: Some(Mode::Exact), ..Default::default() };
    let code = WalkVerifierOptions { form: Form::ReferenceCode, ..Default::default() };
    for options in [exact.clone(), code.clone()] {
        let got = ask(false, options.clone());
        assert_eq!(undecided(&got), Some(UndecidedReason::Unsupported));
        assert!(got.summary.contains("shows its reference model"), "{}", got.summary);
        assert_eq!(ask(true, options).decision, Decision::Accepted);
    }
    let strips =
        WalkVerifierOptions { semantics: Some(planforge_plugin_common::judging::Semantics::Strips), ..code };
    let got = ask(false, strips);
    assert_eq!((got.decision.name(), got.metrics["walks"]), ("accepted", 100.0));
    let got = ask(true, WalkVerifierOptions { exact_pairs: 3, ..exact });
    assert_eq!(undecided(&got), Some(UndecidedReason::Limit));
    assert!(got.summary.contains("exact_pairs"), "{}", got.summary);
    let got = ask(true, WalkVerifierOptions { exact_pairs: 3, ..Default::default() });
    assert_eq!((got.decision.name(), got.metrics["walks"]), ("accepted", 1000.0), "auto samples then");
}

#[test]
fn memory_ends_an_exact_score_at_the_same_place_everywhere() {
    use crate::measure::{NoScore, TooLarge, models, shortest_failing};
    use planforge_planning::Unlimited;
    use planforge_planning::walk::{CounterexampleOutcome, Model, ModelOptions};
    let model =
        |domain: &str| Model::from_texts(domain, PROBLEM, &ModelOptions::default(), &mut Unlimited).unwrap();
    let reference = model(DOMAIN);
    let candidate = model(&DOMAIN.replace(":precondition (full ?c)", ":precondition (and (full ?c) (hot))"));
    let within = |mode, exact_bytes| {
        let settings = WalkVerifierOptions { mode: Some(mode), ..Default::default() }.settings().unwrap();
        let settings = Settings { exact_bytes, ..settings };
        let search = shortest_failing(&reference, &candidate, &settings, None, &mut Unlimited);
        (models(&[(&reference, &candidate)], &settings, 1, &mut Unlimited), search)
    };
    let (too_large, search) = within(Mode::Exact, 1000);
    assert_eq!(too_large.unwrap_err(), NoScore::TooLarge(TooLarge::Bytes(1000)));
    assert!(
        matches!(search, CounterexampleOutcome::LimitReached { reason: None, .. }),
        "no limit of the call: {search:?}"
    );
    assert!(!within(Mode::Auto, 1000).0.unwrap().exact);
    let (exact, search) = within(Mode::Auto, 1 << 20);
    assert!(exact.unwrap().exact && matches!(search, CounterexampleOutcome::Found(_)));
}

#[test]
fn a_plan_that_is_valid_in_the_environment_ranks_highest_in_the_reference_code() {
    let plan = |steps: &[&str]| PlanOutcome::Plan {
        plans: vec![PlanDocument {
            steps: steps.iter().map(|s| (*s).to_owned()).collect(),
            ..PlanDocument::default()
        }],
        optimal: false,
        statistics: SearchStatistics::default(),
    };
    let rating = |steps: &[&str], form| {
        let candidate = Candidate { plan: Some(plan(steps)), ..written(DOMAIN, PROBLEM) };
        judge(&host(true), WalkVerifierOptions { form, ..Default::default() }, candidate).metrics["rating"]
    };
    assert_eq!(rating(&["(boil)", "(pour red)"], Form::ReferenceCode), 2.0);
    assert_eq!(rating(&["(boil)"], Form::ReferenceCode), 1.0);
    assert_eq!(rating(&["(boil)", "(pour red)"], Form::Definition), 1.0);
}

#[test]
fn a_search_finds_what_walks_miss() {
    // One wash in a state that few walks reach; with one walk a length the samples agree.
    let rare = changed(
        ":precondition (not (full ?c))",
        ":precondition (and (not (full ?c)) (or (clean blue) (clean red) (full blue) (full red) (hot)))",
    );
    let rare = written(
        &rare
            .domain
            .unwrap()
            .replace(":negative-preconditions", ":negative-preconditions :disjunctive-preconditions"),
        PROBLEM,
    );
    let few = |mode, exact_pairs| WalkVerifierOptions {
        t_max: 8,
        walks: Some(1),
        mode: Some(mode),
        exact_pairs,
        ..Default::default()
    };
    let sampled = judge(&host(true), few(Mode::Sampled, 1), rare.clone());
    assert_eq!(sampled.metrics["score"], 1.0, "the seed is one whose walks agree");
    assert_eq!((sampled.decision.name(), &sampled.evidence["certainty"]), ("accepted", &"all-walks".into()));
    let exact = judge(&host(true), few(Mode::Exact, 50_000), rare.clone());
    assert!(exact.metrics["score"] < 1.0);
    let steps = exact.evidence["failing_walk"]["steps"].as_array().unwrap().len();
    // Too few pairs for an expectation over eight steps, and enough to search that far.
    let enough = (1..60).map(|n| n * 2).find(|&pairs| {
        let got = judge(&host(true), few(Mode::Auto, pairs), rare.clone());
        got.evidence["certainty"] == "refuted"
    });
    let pairs = enough.unwrap();
    let got = judge(&host(true), few(Mode::Auto, pairs), rare);
    assert_eq!((got.decision.name(), got.metrics["score"]), ("rejected", 1.0));
    assert_eq!(got.evidence["failing_walk"]["steps"].as_array().unwrap().len(), steps);
}

#[test]
fn lengths_without_walks_are_left_out_and_reported_alike() {
    // Each cup can be broken once, and then nothing can be done.
    let domain = "(define (domain shelf) (:requirements :typing) (:types cup) (:predicates (whole ?c - cup) (gone ?c - cup))
      (:action break :parameters (?c - cup) :precondition (whole ?c) :effect (and (gone ?c) (not (whole ?c)))))";
    let problem = "(define (problem s) (:domain shelf) (:objects a b c - cup) (:init (whole a) (whole b) (whole c)) (:goal (gone a)))";
    let judge_with = |model, dead_ends| {
        let open = EnvironmentOpen {
            domain: Some(domain.into()),
            problem: Some(problem.into()),
            ..EnvironmentOpen::default()
        };
        let options = planforge_environment_pddl::PddlEnvironmentOptions { model, ..Default::default() };
        let environment = PddlEnvironment::create(options, &Secrets::default()).unwrap();
        let host = TestHost::new().environment(Arc::new(environment), open);
        let options = WalkVerifierOptions { dead_ends: Some(dead_ends), t_max: 5, ..Default::default() };
        judge(&host, options, written(domain, problem))
    };
    for model in [true, false] {
        let got = judge_with(model, DeadEnds::Condition);
        assert_eq!(got.decision, Decision::Accepted);
        for direction in ["reference_to_candidate", "candidate_to_reference"] {
            let left_out = &got.evidence[direction]["problems"][0]["left_out"];
            assert_eq!(left_out, &serde_json::json!([4, 5]), "{direction}");
        }
        assert!(got.summary.contains("left out: length 4, 5"), "{}", got.summary);
        let got = judge_with(model, DeadEnds::Truncate);
        assert_eq!(got.evidence["reference_to_candidate"]["problems"][0]["left_out"], serde_json::json!([]));
    }
}

#[test]
fn candidates_of_a_request_are_raced() {
    let candidates = vec![
        changed(":precondition (and (hot) (clean ?c))", ":precondition ()"),
        written(DOMAIN, PROBLEM),
        changed(":precondition (full ?c)", ":precondition (and (full ?c) (hot))"),
        changed("(full ?c) (not (hot))", "(ful ?c) (not (hot))"),
    ];
    for model in [true, false] {
        let options = WalkVerifierOptions { racing: true, walks: Some(400), ..Default::default() };
        let results = judge_all(&host(model), options.clone(), candidates.clone());
        let results: Vec<Assessment> = results.into_iter().map(Result::unwrap).collect();
        let race = |i: usize| &results[i].evidence["race"];
        assert_eq!(race(1)["leader"], true);
        assert_eq!((&race(1)["decided"], &race(0)["eliminated"]), (&true.into(), &true.into()));
        assert!(race(0)["blocks"].as_u64() < Some(400), "an eliminated candidate gets no more walks");
        assert_eq!(results[3].metrics["rating"], -2.0, "a broken one is not in the race, and ranked");
        assert_eq!(results[1].decision, Decision::Accepted);
        for got in &results[..3] {
            let score = got.metrics["score"];
            assert!(got.metrics["low"] <= score && score <= got.metrics["high"], "{:?}", got.metrics);
        }
        let again = judge_all(&host(model), options, candidates.clone());
        assert_eq!(again.into_iter().map(Result::unwrap).collect::<Vec<_>>(), results);
    }
}

#[test]
fn seeds_and_settings_decide_alone() {
    let options = WalkVerifierOptions { mode: Some(Mode::Sampled), ..Default::default() };
    let candidate = changed(":precondition (full ?c)", ":precondition (and (full ?c) (hot))");
    for model in [true, false] {
        let once = judge(&host(model), options.clone(), candidate.clone());
        assert_eq!(judge(&host(model), options.clone(), candidate.clone()), once);
        let verifier = EwVerifier::create(options.clone(), &Secrets::default()).unwrap();
        let request =
            VerifyRequest { candidates: vec![candidate.clone()], seed: 8, ..VerifyRequest::default() };
        let other = verifier.verify(&host(model), &request).unwrap().results.remove(0).into_result().unwrap();
        assert_ne!(other.metrics["score"], once.metrics["score"]);
    }
    let guided = WalkVerifierOptions { policy: Policy::CoverageGuided, ..Default::default() };
    for model in [true, false] {
        let got = judge(&host(model), guided.clone(), candidate.clone());
        assert!(got.metrics["score"] < 1.0 && !got.metrics.contains_key("low"), "{:?}", got.metrics);
        assert!(got.summary.contains("no interval"), "{}", got.summary);
    }
}

#[test]
fn options_that_clash_are_refused_with_a_way_out() {
    let wrong = [
        WalkVerifierOptions { mode: Some(Mode::Exact), policy: Policy::CoverageGuided, ..Default::default() },
        WalkVerifierOptions { mode: Some(Mode::Auto), racing: true, ..Default::default() },
        WalkVerifierOptions { policy: Policy::CoverageGuided, racing: true, ..Default::default() },
        WalkVerifierOptions { t_max: 0, ..Default::default() },
        WalkVerifierOptions { confidence: 1.0, ..Default::default() },
    ];
    for options in wrong {
        let failure = EwVerifier::create(options, &Secrets::default()).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, "ew.options"));
        assert!(failure.help.is_some());
    }
}

#[test]
fn limits_and_missing_texts_leave_a_candidate_undecided() {
    let got = judge(
        &host(true),
        WalkVerifierOptions::default(),
        Candidate { problem: None, ..written(DOMAIN, PROBLEM) },
    );
    assert_eq!(undecided(&got), Some(UndecidedReason::MissingInput));
    for model in [true, false] {
        let got =
            judge(&host(model).remaining_ms(0), WalkVerifierOptions::default(), written(DOMAIN, PROBLEM));
        assert_eq!(undecided(&got), Some(UndecidedReason::Limit), "{}", got.summary);
    }
    let options = WalkVerifierOptions {
        limits: JudgingLimits { time_s: 0, ..Default::default() },
        ..Default::default()
    };
    let got = judge(&host(true), options, written(DOMAIN, PROBLEM));
    assert_eq!(undecided(&got), Some(UndecidedReason::Limit), "{}", got.summary);
    let interrupted = host(true);
    interrupted.cancel();
    let verifier = EwVerifier::create(WalkVerifierOptions::default(), &Secrets::default()).unwrap();
    let request = VerifyRequest { candidates: vec![written(DOMAIN, PROBLEM)], ..VerifyRequest::default() };
    let failure = verifier.verify(&interrupted, &request).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Cancelled, "ew.cancelled"));
}

/// A kitchen in which one method is broken.
struct Strange {
    inner: PddlEnvironment,
    method: &'static str,
}

impl Environment for Strange {
    fn describe(&self, host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        self.inner.describe(host, task)
    }
    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure> {
        let mut walks = self.inner.walks(host, task, spec)?;
        match self.method {
            "walks" => drop(walks.walks.pop()),
            "longer" => walks.walks[0].extend(vec!["(boil)".to_owned(); 20]),
            _ => {}
        }
        Ok(walks)
    }
    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure> {
        let mut report = self.inner.execute(host, task, sequences)?;
        if self.method == "execute" {
            report.executions[0].executed = 99;
        }
        Ok(report)
    }
    fn validate(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        self.inner.validate(host, task, plan)
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        Err(Failure::new(FailureClass::Plugin, "odd.mute", "this environment describes no states"))
    }
}

#[test]
fn an_environment_that_answers_nonsense_is_a_failure_and_one_that_is_mute_is_not() {
    let strange = |method| {
        let options =
            planforge_environment_pddl::PddlEnvironmentOptions { model: false, ..Default::default() };
        let inner = PddlEnvironment::create(options, &Secrets::default()).unwrap();
        TestHost::new().environment(Arc::new(Strange { inner, method }), open())
    };
    let candidate = changed(":precondition (full ?c)", ":precondition (and (full ?c) (hot))");
    let verifier = EwVerifier::create(WalkVerifierOptions::default(), &Secrets::default()).unwrap();
    let request = VerifyRequest { candidates: vec![candidate.clone()], ..VerifyRequest::default() };
    for method in ["walks", "longer"] {
        let failure = verifier.verify(&strange(method), &request).unwrap_err();
        assert_eq!(failure.code, "ew.environment-answer", "{method}");
    }
    let failure =
        judge_all(&strange("execute"), WalkVerifierOptions::default(), vec![candidate.clone()]).remove(0);
    assert_eq!(failure.unwrap_err().code, "ew.environment-answer");
    let got = judge(&strange("describe-state"), WalkVerifierOptions::default(), candidate.clone());
    assert_eq!(got.decision, Decision::Rejected);
    assert!(!got.feedback[0].contains("The state of the environment"), "{}", got.feedback[0]);
    assert_eq!(got.evidence["failing_walk"]["no_state"], "this environment describes no states [odd.mute]");
    let none = verifier.verify(&TestHost::new(), &request).unwrap_err();
    assert_eq!(none.code, "host.no-environment");
}

#[test]
fn metrics_are_those_declared_and_codes_are_explained_once() {
    let info = planforge_plugin_sdk::__private::describe::<
        __planforge::Names,
        planforge_plugin_sdk::kinds::Verifier,
        EwVerifier,
    >();
    let declared: Vec<&str> = info.metrics.iter().map(|m| m.name.as_str()).collect();
    let got = judge(
        &host(true),
        WalkVerifierOptions::default(),
        changed(":precondition (full ?c)", ":precondition ()"),
    );
    assert!(got.metrics.keys().all(|k| declared.contains(&k.as_str())), "{:?}", got.metrics);
    let codes: std::collections::BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.iter().all(|c| c.starts_with("ew.")));
}

#[test]
fn other_names_are_matched_where_that_is_asked_for() {
    let renamed = |text: &str| written(&text.replace("pour", "fill").replace("?c", "?x"), PROBLEM);
    let exact = judge(&host(true), WalkVerifierOptions::default(), renamed(DOMAIN));
    assert_eq!(exact.decision, Decision::Rejected);
    let matched = WalkVerifierOptions { interface: InterfaceOption::Matched, ..Default::default() };
    let got = judge(&host(true), matched.clone(), renamed(DOMAIN));
    assert_eq!((&got.decision, got.metrics["score"]), (&Decision::Accepted, 1.0), "{got:?}");
    let actions = got.evidence["interface"]["actions"].as_array().unwrap();
    assert_eq!((&actions[1]["reference"], &actions[1]["candidate"]), (&"pour".into(), &"fill".into()));
    // Feedback about a wrong candidate begins with the names of its actions.
    let wrong = renamed(&DOMAIN.replace("(and (hot) (clean ?c))", "(hot)"));
    let got = judge(&host(true), matched.clone(), wrong);
    assert_eq!(got.decision, Decision::Rejected);
    assert!(
        got.feedback[0].contains("your action fill is called pour, with your parameter 1"),
        "{:?}",
        got.feedback
    );
    assert!(got.feedback.len() == 2 && got.feedback[1].contains("pour"), "{:?}", got.feedback);
    let own = judge(&host(true), matched.clone(), changed("(and (hot) (clean ?c))", "(hot)"));
    assert_eq!(own.feedback.len(), 1, "{:?}", own.feedback);
    // Without a match actions are compared by name. Without a shared name the metric is not defined; without a
    // model there is nothing to match with.
    let wider =
        DOMAIN.replace("(?c - cup)\n    :precondition (full", "(?c ?d - cup)\n    :precondition (full");
    let by_name = judge(&host(true), matched.clone(), renamed(&wider));
    let exact = judge(&host(true), WalkVerifierOptions::default(), renamed(&wider));
    assert_eq!(
        (&by_name.decision, by_name.metrics.get("score")),
        (&exact.decision, exact.metrics.get("score"))
    );
    assert!(by_name.metrics.contains_key("score"), "{by_name:?}");
    let strange = ["boil", "pour", "drink", "wash"]
        .iter()
        .fold(wider, |text, name| text.replace(&format!(":action {name}"), &format!(":action my-{name}")));
    let got = judge(&host(true), matched.clone(), written(&strange, PROBLEM));
    let Decision::NotComparable { message } = &got.decision else { panic!("{got:?}") };
    assert!(message.ends_with("one for one"), "{message}");
    assert!(!got.metrics.contains_key("score"));
    assert_eq!(undecided(&judge(&host(false), matched, renamed(DOMAIN))), Some(UndecidedReason::Unsupported));
}
