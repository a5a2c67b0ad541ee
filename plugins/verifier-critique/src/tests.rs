//! The plugin through its interface: questions as snapshots, assessments, conversations.

use super::*;
use planforge_plugin_sdk::testing::TestHost;
use serde_json::json;

const DOMAIN: &str = "(define (domain balls)\n  (:predicates (at ?r ?x) (holding ?b))\n  (:action move :parameters (?a ?b)\n    :precondition (at ?a)\n    :effect (at ?b)))";
const PROBLEM: &str =
    "(define (problem p) (:domain balls) (:objects a b) (:init (at a b)) (:goal (holding a)))";
const APPROVAL: &str = r#"{"findings": [], "approves": true}"#;
const OBJECTION: &str = r#"{"findings": [{"finding": "The effect does not delete (at ?a)", "place": "action move", "severity": "error", "change": "add (not (at ?a))"}, {"finding": "`holding` is never used", "place": ":predicates", "severity": "warning", "change": ""}], "approves": false}"#;

fn plugin(options: serde_json::Value) -> CritiqueVerifier {
    CritiqueVerifier::create(serde_json::from_value(options).unwrap(), &Secrets::default()).unwrap()
}

fn candidate() -> Candidate {
    Candidate {
        domain: Some(DOMAIN.into()),
        thought: Some("move: the robot goes from a to b.\n".into()),
        ..Candidate::default()
    }
}

fn request(candidate: Candidate) -> VerifyRequest {
    let task = TaskView {
        suite: "balls".into(),
        task: "p01".into(),
        domain_text: "A robot moves between rooms.\n".into(),
        task_text: "Bring the ball to room b.\n".into(),
        ..TaskView::default()
    };
    VerifyRequest { task, candidates: vec![candidate], ..VerifyRequest::default() }
}

fn one(plugin: &CritiqueVerifier, host: &TestHost, request: &VerifyRequest) -> Result<Assessment, Failure> {
    let mut results = plugin.verify(host, request).unwrap().results;
    assert_eq!(results.len(), request.candidates.len());
    results.remove(0).into_result()
}

/// The messages to the critic, each under its role.
fn asked(options: serde_json::Value, request: &VerifyRequest) -> String {
    let host = TestHost::for_kind(PluginKind::Verifier).reply("critic", APPROVAL);
    one(&plugin(options), &host, request).unwrap();
    let requests = host.requests();
    let (role, completion) = &requests[0];
    assert_eq!((role.as_str(), completion.tags.artefact.as_str()), ("critic", "critique"));
    let turns = completion.messages.iter().map(|m| format!("<{:?}>\n{}", m.role, m.content));
    turns.collect::<Vec<_>>().join("\n\n")
}

fn plan() -> Candidate {
    let steps = vec!["(move a b)".to_owned(), "(move b a)".to_owned()];
    let claims = PlanClaims { cost: Some(2.0), ..PlanClaims::default() };
    Candidate {
        plan: Some(PlanOutcome::Plan {
            plans: vec![PlanDocument { steps, claims: Some(claims), ..PlanDocument::default() }],
            optimal: false,
            statistics: SearchStatistics::default(),
        }),
        ..Candidate::default()
    }
}

#[test]
fn questions_about_domains() {
    let mut with_all = request(candidate());
    with_all.task.given.problem = Some(PROBLEM.into());
    with_all.task.action_interface = Some(ActionInterface {
        types: Vec::new(),
        actions: vec![ActionSignature {
            name: "move".into(),
            parameters: vec![TypedName { name: "from".into(), type_name: "room".into() }],
        }],
        objects: vec![],
    });
    with_all.feedback = vec![vec!["The walk fails at {{ step }} 3.\n".into(), "  ".into()]];
    let mut by_problem = with_all.clone();
    by_problem.task.domain_text.clear();
    by_problem.task.action_interface = None;
    by_problem.feedback.clear();
    by_problem.candidates[0].thought = None;
    let texts = [
        asked(json!({}), &request(candidate())),
        asked(json!({"evidence": ["diagnostics"]}), &with_all),
        asked(json!({"form": "prose", "system": "Be kind."}), &by_problem),
    ];
    insta::assert_snapshot!(texts.join("\n\n=====\n\n"));
}

#[test]
fn questions_about_problems_and_plans() {
    let written = Candidate {
        problem: Some(PROBLEM.into()),
        thought: Some("a is a robot".into()),
        ..Candidate::default()
    };
    let mut problem = request(written);
    problem.task.given.domain = Some(DOMAIN.into());
    let mut with_pddl = request(plan());
    with_pddl.task.given = Given { domain: Some(DOMAIN.into()), problem: Some(PROBLEM.into()) };
    with_pddl.task.task_text.clear();
    let texts = [
        asked(json!({"of": "problem"}), &problem),
        asked(json!({"of": "plan"}), &request(plan())),
        asked(json!({"of": "plan", "form": "prose", "system": ""}), &with_pddl),
    ];
    insta::assert_snapshot!(texts.join("\n\n=====\n\n"));
}

#[test]
fn questions_are_one_conversation_only_with_a_history() {
    for history in [true, false] {
        let plugin = plugin(json!({"history": history}));
        let host = TestHost::new().reply("critic", OBJECTION).reply("critic", OBJECTION);
        let mut request = request(candidate());
        let first = one(&plugin, &host, &request).unwrap();
        request.conversations = vec![first.messages.clone()];
        request.candidates[0].domain = Some(DOMAIN.replace("(at ?b)", "(and (at ?b) (not (at ?a)))"));
        let second = one(&plugin, &host, &request).unwrap();
        let asked = host.requests();
        let turns = |n: usize| asked[n].1.messages.iter().map(|m| m.role).collect::<Vec<_>>();
        assert_eq!(turns(0), [Speaker::System, Speaker::User]);
        if history {
            assert_eq!(first.messages.len(), 3);
            assert_eq!(turns(1), [Speaker::System, Speaker::User, Speaker::Assistant, Speaker::User]);
            assert_eq!(second.messages.len(), 2, "what is added, not what was there");
            insta::assert_snapshot!("again", asked[1].1.messages[3].content);
        } else {
            assert_eq!(first.messages, [Message::assistant(OBJECTION)], "kept to compare with");
            assert_eq!(turns(1), [Speaker::System, Speaker::User]);
        }
        assert_eq!((second.metrics["repeated"], first.metrics["repeated"]), (2.0, 0.0));
        let critique: Critique = serde_json::from_value(second.evidence).unwrap();
        assert_eq!(critique.remarks, ["the reply repeats the last critique word for word"]);
    }
}

#[test]
fn assessments_follow_the_critic() {
    let assessed = |options, reply: &str| {
        let host = TestHost::new().reply("critic", reply);
        one(&plugin(options), &host, &request(candidate())).unwrap()
    };
    let objects = assessed(json!({}), OBJECTION);
    assert_eq!(objects.decision, Decision::Rejected);
    assert_eq!(objects.summary, "The critic objects to the domain: 1 error, 1 warning.");
    assert_eq!(
        objects.feedback,
        [
            "A critic objects to the domain and says:\n\n1. action move: The effect does not delete (at ?a)\n   Suggested change: add (not (at ?a))\n\n2. :predicates: (minor) `holding` is never used."
        ]
    );
    let metric = |a: &Assessment, name: &str| a.metrics.get(name).copied();
    assert_eq!(
        (metric(&objects, "findings"), metric(&objects, "errors"), metric(&objects, "approves")),
        (Some(2.0), Some(1.0), Some(0.0))
    );
    let critique: Critique = serde_json::from_value(objects.evidence).unwrap();
    assert_eq!((critique.findings[0].action.as_deref(), critique.reply.as_str()), (Some("move"), OBJECTION));

    let approves = assessed(json!({}), APPROVAL);
    assert_eq!((approves.decision.clone(), metric(&approves, "approves")), (Decision::Accepted, Some(1.0)));
    assert_eq!(approves.feedback, Vec::<String>::new(), "nothing to put right");
    assert_eq!(assessed(json!({}), "No errors.").feedback, Vec::<String>::new());

    let prose = assessed(json!({}), "The effect of move is wrong.\n");
    assert_eq!(prose.decision, Decision::Rejected);
    assert_eq!(prose.feedback, ["A critic says about the domain:\n\nThe effect of move is wrong."]);

    let silent = "A critic looked at the domain and said nothing that could be used.";
    for (reply, feedback) in [
        ("", silent),
        ("{\"findings\": []}", silent),
        (
            "Hm.",
            "A critic says about the domain:

Hm.",
        ),
    ] {
        let neither = assessed(json!({}), reply);
        assert!(matches!(
            neither.decision,
            Decision::Undecided { reason: UndecidedReason::MissingInput, .. }
        ));
        assert_eq!((metric(&neither, "approves"), neither.feedback), (None, vec![feedback.to_owned()]));
        assert_eq!(neither.summary, "the critic's reply does not say whether the domain is right");
    }
}

#[test]
fn a_cut_off_reply_is_not_a_failure() {
    let cut = Reply::new("The domain", FinishReason::Length);
    let host = TestHost::new().answer("critic", Ok(cut));
    let assessment = one(&plugin(json!({})), &host, &request(candidate())).unwrap();
    assert!(matches!(assessment.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }));
    assert_eq!(assessment.diagnostics[0].code, codes::CUT_OFF);
}

#[test]
fn a_call_that_breaks_is_a_failure_of_its_candidate_alone() {
    let broke = Failure::new(FailureClass::Provider, "llm.provider", "the server is gone");
    let host = TestHost::new().answer("critic", Err(broke.clone())).reply("critic", APPROVAL);
    let mut request = request(candidate());
    request.candidates.push(candidate());
    let results = plugin(json!({})).verify(&host, &request).unwrap().results;
    assert_eq!(results[0].clone().into_result().unwrap_err(), broke);
    assert_eq!(results[1].clone().into_result().unwrap().decision, Decision::Accepted);
}

#[test]
fn a_missing_artefact_causes_no_request() {
    let host = TestHost::new();
    let nothing = one(&plugin(json!({})), &host, &request(Candidate::default())).unwrap();
    assert_eq!(nothing.summary, "there is no domain to criticise");
    let mut lost = request(candidate());
    lost.task.domain_text.clear();
    let failure = one(&plugin(json!({})), &host, &lost).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, codes::NO_TEXT));
    host.cancel();
    assert_eq!(
        one(&plugin(json!({})), &host, &request(candidate())).unwrap_err().class,
        FailureClass::Cancelled
    );
    assert!(host.requests().is_empty());
}
