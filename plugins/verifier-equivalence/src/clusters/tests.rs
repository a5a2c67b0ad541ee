//! The plugin through its interface: clusters, votes, questions.

use super::*;
use planforge_plugin_sdk::testing::TestHost;
use serde_json::json;

const PROBLEM: &str =
    "(define (problem p) (:domain boxes) (:objects a b - box) (:init (handempty) (on a)) (:goal (held a)))";

fn domain(pick_up: &str, put_down: &str) -> String {
    format!(
        "(define (domain boxes) (:requirements :strips :typing) (:types box)
          (:predicates (handempty) (on ?b - box) (held ?b - box))
          (:action pick :parameters (?b - box) {pick_up})
          (:action put :parameters (?b - box) {put_down}))"
    )
}

const PICK: &str =
    ":precondition (and (handempty) (on ?b)) :effect (and (held ?b) (not (handempty)) (not (on ?b)))";
const PUT: &str = ":precondition (held ?b) :effect (and (on ?b) (handempty) (not (held ?b)))";
/// Leaves the hand empty, so that the second box can be picked up too.
const GREEDY: &str = ":precondition (and (handempty) (on ?b)) :effect (held ?b)";
/// Picks up what is not there.
const WITHOUT: &str = ":precondition (handempty) :effect (and (held ?b) (not (handempty)))";

fn plugin(options: serde_json::Value) -> ClusterVerifier {
    ClusterVerifier::create(serde_json::from_value(options).unwrap(), &Secrets::default()).unwrap()
}

fn request(domains: &[(String, f64)]) -> VerifyRequest {
    let candidate = |(sample, (domain, likelihood)): (u32, &(String, f64))| Candidate {
        lineage: vec![LineageStep { stage: "domain".into(), sample }],
        domain: Some(domain.clone()),
        log_likelihood: Some(*likelihood),
        ..Candidate::default()
    };
    let mut task = TaskView {
        suite: "boxes".into(),
        task: "p01".into(),
        domain_text: "A hand picks up boxes, one at a time, and puts them down.\n".into(),
        task_text: "Hold box a.\n".into(),
        ..TaskView::default()
    };
    task.given.problem = Some(PROBLEM.into());
    VerifyRequest {
        task,
        candidates: (0..).zip(domains).map(candidate).collect(),
        ..VerifyRequest::default()
    }
}

fn judge(options: serde_json::Value, host: &TestHost, request: &VerifyRequest) -> Vec<Assessment> {
    let response = plugin(options).verify(host, request).unwrap();
    response.results.into_iter().map(|result| result.into_result().unwrap()).collect()
}

fn votes(all: &[Assessment]) -> Vec<Option<f64>> {
    all.iter().map(|one| one.metrics.get("votes").copied()).collect()
}

/// Two right domains that are written differently, one that holds several boxes, and a copy of the template.
fn samples() -> VerifyRequest {
    let right_in_other_words =
        domain(&PICK.replace("(handempty) (on ?b)", "(on ?b) (handempty) (on ?b)"), PUT).replace("?b", "?x");
    let empty = domain("", "");
    request(&[
        (empty, -1.0),
        (domain(GREEDY, PUT), -2.0),
        (domain(PICK, PUT), -9.0),
        (right_in_other_words, -5.0),
        ("(define (domain boxes".to_owned(), -1.0),
        (domain(":precondition (held ?b) :effect (on ?b)", PUT), -1.0),
    ])
}

#[test]
fn candidates_that_behave_the_same_are_one_cluster_and_trivial_ones_have_no_vote() {
    let host = TestHost::for_kind(PluginKind::Verifier);
    let all = judge(json!({}), &host, &samples());
    assert_eq!(votes(&all), [None, Some(1.0), Some(2.0), Some(2.0), None, None]);
    let decisions: Vec<&str> = all.iter().map(|one| one.decision.name()).collect();
    assert_eq!(decisions, ["rejected", "rejected", "accepted", "accepted", "rejected", "rejected"]);
    let trivial = [0, 4, 5].map(|index: usize| all[index].summary.as_str());
    assert_eq!(
        trivial,
        [
            "The candidate is trivial: no action has an effect.",
            "The candidate is trivial: it has errors.",
            "The candidate is trivial: its problem has no plan."
        ]
    );
    assert_eq!(all[2].evidence["clusters"], json!([[0], [1], [2, 3], [4], [5]]));
    assert!(host.requests().is_empty() && all.iter().all(|one| one.feedback.is_empty()));
}

#[test]
fn a_comparison_that_is_cut_leaves_the_candidate_in_a_cluster_of_its_own() {
    let request = request(&[(domain(PICK, PUT), -1.0), (domain(GREEDY, PUT), -1.0)]);
    let all = judge(json!({ "max_states": 0 }), &TestHost::new(), &request);
    assert_eq!(votes(&all), [Some(1.0), Some(1.0)]);
    assert!(matches!(all[1].decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }));
}

/// The greedy domain comes first by likelihood; the answers tell that a second box cannot be picked up.
#[test]
fn answers_decide_between_clusters() {
    let mut request =
        request(&[(domain(GREEDY, PUT), -1.0), (domain(PICK, PUT), -2.0), (domain(WITHOUT, PUT), -3.0)]);
    let all = judge(json!({}), &TestHost::new(), &request);
    assert_eq!((votes(&all), all[0].decision.name()), (vec![Some(1.0); 3], "accepted"));

    let host = TestHost::new().reply("critic", "It holds a.\nAnswer: no").reply("critic", "**Answer:** no");
    let all = judge(json!({ "questions": 1 }), &host, &request);
    let asked: Vec<String> = host.requests().iter().map(|(_, r)| r.messages[1].content.clone()).collect();
    insta::assert_snapshot!(asked.join("\n\n=====\n\n"));
    let best = all.iter().position(|one| one.decision == Decision::Accepted).unwrap();
    assert_eq!((best, host.left_over()), (1, 0), "{:?}", votes(&all));
    // A reply that does not say leaves the votes as they are.
    let host =
        TestHost::new().reply("critic", "I cannot tell.").reply("critic", "").reply("critic", "Yes or no.");
    let all = judge(json!({ "questions": 1 }), &host, &request);
    assert_eq!(votes(&all), [Some(1.0); 3]);

    // An answer cannot change a lead of two.
    request.candidates.extend([request.candidates[1].clone(), request.candidates[1].clone()]);
    let all = judge(json!({ "questions": 1 }), &TestHost::new(), &request);
    assert_eq!((votes(&all)[1], all[1].decision.name()), (Some(3.0), "accepted"));
    request.candidates.truncate(3);

    request.task.given.problem = None;
    for candidate in &mut request.candidates {
        candidate.problem = Some(PROBLEM.into());
    }
    request.task.domain_text.clear();
    request.task.task_text.clear();
    let failure = plugin(json!({ "questions": 1 })).verify(&TestHost::new(), &request).unwrap_err();
    assert_eq!(failure.code, codes::NO_TEXT);
}

#[test]
fn answers_are_read_in_several_forms() {
    let read = |text: &str, finish| cluster::read_answer(&Reply::new(text, finish));
    for (text, answer) in [
        ("First this.\n\nAnswer: yes", Some(true)),
        ("**Answer:** No.", Some(false)),
        ("The answer is yes.", Some(true)),
        ("No, the hand is full.", Some(false)),
        ("It needs a hand.\nYes", Some(true)),
        ("Answer with `Answer: yes` or `Answer: no`.", None),
        ("It depends.", None),
        ("", None),
    ] {
        assert_eq!(read(text, FinishReason::Stop), answer, "{text}");
    }
    assert_eq!(read("No wonder that", FinishReason::Length), None);
}
