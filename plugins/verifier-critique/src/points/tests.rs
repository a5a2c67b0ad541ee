//! The question as a snapshot, and what is made of replies.

use super::*;
use planforge_plugin_common::reading::{GapKind, apply};
use planforge_plugin_sdk::testing::TestHost;
use serde_json::json;

const DOMAIN: &str = "(define (domain carry)
  (:requirements :strips :typing)
  (:types box room)
  (:predicates (at ?r - room) (in ?b - box ?r - room) (holds ?b - box))
  (:action take ; [2]
    :parameters (?b - box ?r - room)
    :precondition (and (at ?r) (in ?b ?r)) ; [2]
    :effect (and (holds ?b) (not (in ?b ?r)))) ; assumed
)";
const PROBLEM: &str = "(define (problem two)
  (:domain carry)
  (:objects b1 b2 - box hall - room)
  (:init (at hall) (in b1 hall) (in b2 hall))
  (:goal (and (holds b1) (holds b2))))";
const TEXT: &str =
    "Two boxes are in the hall.\nThe robot takes a box where it is. It should hold both boxes.\n";

const CAPACITY: &str = r#"{"kind": "capacity", "question": "May the robot hold two boxes at once?", "here": "yes: it holds any number", "otherwise": "no: it holds one", "decided_by": "",
  "steps": ["(take b1 hall)", "(take b2 hall)"],
  "change": {"predicates": ["(free)"], "actions": ["(:action take :parameters (?b - box ?r - room)
    :precondition (and (at ?r) (in ?b ?r) (free)) :effect (and (holds ?b) (not (in ?b ?r)) (not (free))))"], "add": ["(free)"]}}"#;

fn plugin() -> PointsVerifier {
    PointsVerifier::create(PointsOptions::default(), &Secrets::default()).unwrap()
}

fn request() -> VerifyRequest {
    let task =
        TaskView { suite: "carry".into(), task: "two".into(), task_text: TEXT.into(), ..TaskView::default() };
    let candidate =
        Candidate { domain: Some(DOMAIN.into()), problem: Some(PROBLEM.into()), ..Candidate::default() };
    VerifyRequest { task, candidates: vec![candidate], ..VerifyRequest::default() }
}

fn first(host: &TestHost, request: &VerifyRequest) -> Result<Assessment, Failure> {
    plugin().verify(host, request).unwrap().results.remove(0).into_result()
}

fn assessed(reply: &str) -> Assessment {
    first(&TestHost::new().reply("critic", reply), &request()).unwrap()
}

fn points(assessment: &Assessment) -> Points {
    serde_json::from_value(assessment.evidence.clone()).unwrap()
}

/// The answer with these points.
fn answer(list: &[&str]) -> String {
    format!("Here they are.\n```json\n{{\"points\": [{}]}}\n```\n", list.join(", "))
}

fn messages(request: &VerifyRequest) -> String {
    let host = TestHost::for_kind(PluginKind::Verifier).reply("critic", &answer(&[]));
    first(&host, request).unwrap();
    let requests = host.requests();
    assert_eq!((requests[0].0.as_str(), requests[0].1.tags.artefact.as_str()), ("critic", "points"));
    requests[0].1.messages.iter().map(|m| format!("<{:?}>\n{}\n", m.role, m.content)).collect()
}

#[test]
fn the_question_shows_text_and_pddl() {
    insta::assert_snapshot!(messages(&request()));
}

#[test]
fn a_given_domain_is_not_to_be_changed() {
    let mut request = request();
    request.task.given.domain = request.candidates[0].domain.take();
    let asked = messages(&request);
    assert!(asked.contains("The domain does not change.") && !asked.contains("remove_actions"), "{asked}");
    let host = TestHost::new().reply("critic", &answer(&[CAPACITY]));
    let assessment = first(&host, &request).unwrap();
    assert_eq!(
        points(&assessment).remarks,
        ["May the robot hold two boxes at once? (not used: it changes the given domain)"]
    );
    assert!(matches!(assessment.decision, Decision::Undecided { .. }));
    assert_eq!(assessment.summary, "no point of the reply can be used");
}

#[test]
fn a_constant_of_a_given_domain_is_not_to_be_changed() {
    let mut request = request();
    let constant = DOMAIN.replace("(:predicates", "(:constants attic - room)\n  (:predicates");
    request.candidates[0].domain = None;
    request.task.given.domain = Some(constant);
    let point = |change: &str| {
        format!(
            r#"{{"kind": "number", "question": "Is it {}?", "here": "no", "otherwise": "yes", "change": {change}}}"#,
            change.len()
        )
    };
    let host = TestHost::new().reply(
        "critic",
        &answer(&[&point(r#"{"remove_objects": ["attic"]}"#), &point(r#"{"remove": ["(in b1 hall)"]}"#)]),
    );
    let read = points(&first(&host, &request).unwrap());
    assert_eq!(read.points.len(), 1, "a change of the problem is used: {:?}", read.remarks);
    assert!(read.remarks[0].ends_with("(not used: it changes the given domain)"), "{:?}", read.remarks);
}

#[test]
fn a_goal_of_several_texts_is_their_conjunction() {
    let point = r#"{"kind": "goal", "question": "Must it hold one?", "here": "no", "otherwise": "yes",
        "change": {"goal": ["(holds b1) ; [3]", "(in b2 hall)"]}}"#;
    let read = points(&assessed(&answer(&[point])));
    let (_, problem) = apply(DOMAIN, PROBLEM, &read.points[0].change).unwrap();
    assert!(problem.contains("(holds b1) ; [3]\n    (in b2 hall)\n"), "{problem}");
}

#[test]
fn a_point_has_a_change_that_makes_the_other_reading() {
    let assessment = assessed(&answer(&[CAPACITY]));
    assert!(matches!(assessment.decision, Decision::Undecided { reason: UndecidedReason::MissingInput, .. }));
    assert_eq!((assessment.metrics["points"], assessment.metrics["decided"]), (1.0, 0.0));
    let read = points(&assessment);
    let point = &read.points[0];
    assert_eq!((point.kind, point.decided_by.as_deref()), (GapKind::Capacity, None));
    assert_eq!(point.steps, ["(take b1 hall)", "(take b2 hall)"]);
    let (domain, problem) = apply(DOMAIN, PROBLEM, &point.change).unwrap();
    assert!(domain.contains("(not (free))") && problem.contains("(free)"), "{domain}\n{problem}");
    assert!(read.remarks.is_empty() && assessment.feedback.is_empty());
}

#[test]
fn a_complete_text_is_accepted() {
    for reply in [answer(&[]), "[]".to_owned(), "No doubt: {\"points\": []}".to_owned()] {
        let assessment = assessed(&reply);
        assert_eq!(assessment.decision, Decision::Accepted, "{reply}");
        assert_eq!(assessment.metrics["points"], 0.0);
        assert_eq!(points(&assessment), Points::default());
    }
}

#[test]
fn quotes_are_checked_against_the_text() {
    let goal = |quote: &str| {
        json!({"kind": "goal", "question": "Must it hold both?", "here": "yes: both", "otherwise": "no: one is enough",
            "decided_by": quote, "change": {"goal": "(holds b1)"}})
        .to_string()
    };
    let assessment = assessed(&answer(&[&goal("It should hold both boxes.")]));
    assert_eq!(assessment.metrics["decided"], 1.0);
    assert_eq!(points(&assessment).points[0].decided_by.as_deref(), Some("It should hold both boxes."));
    assert_eq!(
        assessment.feedback,
        ["The text says \"It should hold both boxes.\". Must it hold both? (no: one is enough)"]
    );
    let invented = points(&assessed(&answer(&[&goal("It must hold both boxes.")])));
    assert_eq!(invented.points[0].decided_by, None);
    assert_eq!(
        invented.remarks,
        ["Must it hold both? (the text does not have the quote `It must hold both boxes.`)"]
    );
    let short = points(&assessed(&answer(&[&goal("hold both boxes")])));
    assert_eq!(short.points[0].decided_by, None);
    assert_eq!(short.remarks, ["Must it hold both? (the quote `hold both boxes` is too short to decide)"]);
}

#[test]
fn an_unusable_point_does_not_lose_the_others() {
    let no_question = r#"{"kind": "goal", "change": {"goal": "(holds b1)"}}"#;
    let undeclared = r#"{"kind": "initial", "question": "Is it open?", "here": "no", "otherwise": "yes", "change": {"add": ["(open)"]}}"#;
    let nothing =
        r#"{"kind": "wish", "question": "Is it a wish?", "here": "no", "otherwise": "yes", "change": {}}"#;
    let read = points(&assessed(&answer(&[no_question, undeclared, CAPACITY, nothing, CAPACITY])));
    assert_eq!(read.points.len(), 1);
    assert_eq!(read.remarks.len(), 4, "{:?}", read.remarks);
    assert!(
        read.remarks[1].starts_with("Is it open? (not used: the result has an error: "),
        "{:?}",
        read.remarks
    );
    assert_eq!(read.remarks[2], "Is it a wish? (not used: nothing changes)");
    assert!(read.remarks[3].ends_with("(not used: another point makes the same change)"));
}

#[test]
fn a_reply_that_breaks_off_has_the_points_before() {
    let whole = answer(&[CAPACITY, CAPACITY]);
    let cut = Reply::new(&whole[..whole.len() - 80], FinishReason::Length);
    let assessment = first(&TestHost::new().answer("critic", Ok(cut)), &request()).unwrap();
    let read = points(&assessment);
    assert_eq!(read.points.len(), 1);
    assert!(read.remarks.last().unwrap().contains("cut off"));
    let empty = Reply::new("Let me", FinishReason::Length);
    let assessment = first(&TestHost::new().answer("critic", Ok(empty)), &request()).unwrap();
    assert!(matches!(assessment.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }));
}

#[test]
fn a_reply_without_points_is_undecided() {
    let unreadable = "{points: <{question: May it? remove_objects: []}>}";
    let words = r#"{"points": ["May it hold two boxes?", 3]}"#;
    for reply in ["", "The text looks fine.", "{\"verdict\": \"fine\"}", unreadable, words] {
        let assessment = assessed(reply);
        assert!(matches!(assessment.decision, Decision::Undecided { .. }), "{reply}");
        assert_eq!(assessment.diagnostics[0].code, UNREADABLE);
    }
}

#[test]
fn nothing_is_asked_about_unusable_input() {
    let host = TestHost::new();
    let mut broken = request();
    broken.candidates[0].problem = Some("(define (problem two)".into());
    let assessment = first(&host, &broken).unwrap();
    assert!(assessment.summary.contains("the PDDL has errors"), "{}", assessment.summary);
    let mut without = request();
    without.candidates[0].domain = None;
    assert_eq!(first(&host, &without).unwrap().summary, "there is no domain with a problem");
    let mut silent = request();
    silent.task.task_text.clear();
    assert_eq!(first(&host, &silent).unwrap_err().code, NO_TEXT);
    host.cancel();
    assert_eq!(first(&host, &request()).unwrap_err().class, FailureClass::Cancelled);
    assert!(host.requests().is_empty());
}
