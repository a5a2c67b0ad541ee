//! Language models as planners (test-time-scaling paper, section 4.6): pass@1, pass@8 and self-critique, on scripted replies.

use super::support::{Run, saying, verdict};
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::Value;

const PLAN: &str = "(drive elm fir)\n(load parcel1 fir)\n(drive fir elm)\n(unload parcel1 elm)\n(drive elm fir)\n\
                    (drive fir oak)\n(load parcel2 oak)\n(drive oak fir)\n(drive fir elm)\n(unload parcel2 elm)";

/// A plan in the requested form, with right and wrong claims about the first two steps.
fn answer(plan: &str, cost: usize) -> String {
    format!(
        "Step 1: (drive elm fir)\nCheck 1: a road leads from elm to fir; yes\n\
         State after step 1: The van is in fir; The van is in elm; the van is empty\n\
         State after step 2: The van carries parcel1; parcel1 is not in fir; everything is fine\n\n\
         Goal reached: yes\nCost: {cost}\nPlan valid: yes\n\n```plan\n{plan}\n```\n"
    )
}

fn broken() -> String {
    PLAN.replace("(drive fir oak)\n", "")
}

fn metric(task: &Value, name: &str) -> Option<f64> {
    task["candidate"]["assessments"]["environment"]["metrics"][name].as_f64()
}

#[test]
fn one_planned_answer_is_judged_and_its_claims_are_compared() {
    let server = saying(&answer(&broken(), 9));
    let mut run = Run::new("intrinsic-pass1.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "rejected");
    let task = &report["tasks"][0];
    let values = [
        "rule_violation",
        "wrong_state",
        "wrong_goal_claim",
        "wrong_self_evaluation",
        "wrong_cost",
        "not_optimal",
    ]
    .map(|name| metric(task, name));
    assert_eq!(values, [Some(1.0), Some(1.0), Some(1.0), Some(1.0), None, None]);
    let counts = ["claims_compared", "claims_wrong", "claims_unread"].map(|name| metric(task, name));
    assert_eq!(counts, [Some(5.0), Some(1.0), Some(1.0)]);
    let question = server.requests()[0].question();
    for part in ["once more", "Check N:", "parcel1 (parcel)", "(load ?p - parcel ?t - town)"] {
        assert!(question.contains(part), "{part}\n{question}");
    }
    assert!(!question.contains("van-at"), "no predicate of the reference: {question}");
    let good = saying(&answer(PLAN, 10));
    let mut run = Run::new("intrinsic-pass1.toml", &good.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    let task = &report["tasks"][0];
    let right = ["rule_violation", "wrong_goal_claim", "wrong_self_evaluation", "wrong_cost", "not_optimal"];
    assert_eq!(right.map(|name| metric(task, name)), [Some(0.0); 5]);
}

#[test]
fn one_right_answer_of_eight_counts_for_pass_at_8_and_the_first_is_the_verdict() {
    for (right, accepted) in [(true, 1), (false, 0)] {
        let mut answers = vec![answer(&broken(), 9); 7];
        answers.insert(5, if right { answer(PLAN, 10) } else { answer("(drive elm fir)", 1) });
        let all: Vec<Scripted> = answers.iter().map(|a| Scripted::replies(&[a])).collect();
        let server = ScriptedServer::in_order(all).unwrap();
        let mut run =
            Run::new("intrinsic-pass8.toml", &server.base_url()).task("parcels", "p01").arg("--json");
        let report = run.go().json(0);
        assert_eq!((verdict(&report, 0), server.count()), ("rejected", 8));
        let candidates = &report["tasks"][0]["candidates"];
        assert_eq!(candidates["accepted"].as_u64().unwrap_or(0), accepted, "{candidates}");
        assert_eq!(candidates["rejected"].as_u64().unwrap_or(0), 8 - accepted, "{candidates}");
    }
}

/// A critic that rejects plans without the step that the broken one lacks, and a planner that uses the
/// critique.
fn critical(server_sees: &str) -> String {
    let (broken, asks_critic) = (broken(), server_sees.contains("\"approves\""));
    match asks_critic {
        true if server_sees.contains(&broken) => "Step 6 drives from fir, but should go on to oak.\n```json\n\
            {\"findings\": [{\"finding\": \"the van is not in oak\", \"place\": \"step 6\", \"severity\": \"error\", \"change\": \"drive to oak first\"}], \"approves\": false}\n```"
            .to_owned(),
        true => "```json\n{\"findings\": [], \"approves\": true}\n```".to_owned(),
        false if server_sees.contains("the van is not in oak") => answer(PLAN, 10),
        false => answer(&broken, 9),
    }
}

#[test]
fn a_plan_is_rewritten_after_the_model_s_own_critique() {
    let server =
        ScriptedServer::matching(|request| Scripted::replies(&[&critical(&request.question())])).unwrap();
    let mut run =
        Run::new("intrinsic-self-critique.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    let questions: Vec<String> = server.requests().iter().map(|r| r.question()).collect();
    let critic: Vec<bool> = questions.iter().map(|q| q.contains("\"approves\"")).collect();
    // Plan, objection, better plan, approval, and the last look at it.
    assert_eq!(critic, [false, true, false, true, true]);
    assert!(questions[2].contains("This plan was written for the task before:"), "{}", questions[2]);
    assert!(
        questions.iter().all(|q| !q.contains("environment")),
        "no round sees a result of the environment"
    );
    assert_eq!(metric(&report["tasks"][0], "wrong_self_evaluation"), Some(0.0));
}

#[test]
fn an_always_approving_critic_is_detected() {
    let server = ScriptedServer::matching(|request| {
        let asks_critic = request.question().contains("\"approves\"");
        let approval = "```json\n{\"findings\": [], \"approves\": true}\n```".to_owned();
        Scripted::replies(&[&if asks_critic { approval } else { format!("```plan\n{}\n```", broken()) }])
    })
    .unwrap();
    let mut run =
        Run::new("intrinsic-self-critique.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!((verdict(&report, 0), server.count()), ("rejected", 3));
    let task = &report["tasks"][0];
    assert_eq!((metric(task, "wrong_self_evaluation"), metric(task, "wrong_goal_claim")), (Some(1.0), None));
}
