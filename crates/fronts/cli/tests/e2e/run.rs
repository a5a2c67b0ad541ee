//! `planforge run` on scripted replies: every way a task may end.

use super::support::{
    Ran, Run, example, example_text, fenced, pipeline, planforge, right_reply, saying, verdict,
};
use planforge_testkit::{Scripted, ScriptedServer};

/// A well-formed reply with another goal than the text.
fn other_goal() -> String {
    let reference = example_text("parcels", "p01.pddl");
    let written = reference.replace("(parcel-at parcel2 elm)", "(parcel-at parcel2 fir)");
    assert_ne!(written, reference);
    fenced(&written)
}

/// A reply without the road out of oak, so parcel2 can never reach elm.
fn no_way_out() -> String {
    let reference = example_text("parcels", "p01.pddl");
    let written = reference.replace("(road oak fir)", "");
    assert_ne!(written, reference);
    fenced(&written)
}

#[test]
fn a_right_reply_is_accepted() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!((&report["schema"], &report["state"]), (&1.into(), &"finished".into()));
    assert_eq!((verdict(&report, 0), &report["tasks"][0]["task"]), ("accepted", &"parcels.p01".into()));
    let task = &report["tasks"][0];
    assert_eq!(task["candidate"]["plan"]["plans"][0]["steps"].as_array().unwrap().len(), 10);
    assert_eq!(
        (&task["usage"]["main"]["calls"], &task["usage"]["main"]["prompt_tokens"]),
        (&1.into(), &10.into())
    );
    for label in ["pddl", "valid", "environment"] {
        assert_eq!(task["candidate"]["assessments"][label]["decision"], "accepted", "{label}: {task}");
    }
    assert_eq!(server.count(), 1);
    let body = server.requests()[0].json();
    assert_eq!((&body["model"], &body["temperature"]), (&"qwen2.5-coder-1.5b-instruct".into(), &0.0.into()));
}

#[test]
fn the_text_form_shows_task_problem_plan_validation_and_tokens() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    let ran = run.go();
    let folder = run.folder().display().to_string();
    ran.expect(0).says(&[&format!("planforge replay {folder}")]);
    insta::assert_snapshot!("accepted", ran.stdout);
}

#[test]
fn a_wrong_reply_is_rejected_and_not_an_error() {
    for (reply, word, name) in
        [(other_goal(), "rejected", "rejected"), (no_way_out(), "unsolvable", "unsolvable")]
    {
        let server = saying(&reply);
        let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
        let text = run.go();
        insta::assert_snapshot!(name, text.expect(0).stdout.clone());
        let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
        assert_eq!(verdict(&run.go().json(0), 0), word);
        let mut run = run.arg("--fail-on").arg("negative");
        assert_eq!(verdict(&run.go().json(10), 0), word);
    }
}

#[test]
fn runs_are_listed_with_their_results_and_last_names_the_newest() {
    let home = tempfile::tempdir().unwrap();
    let in_home = |arguments: &[&str]| {
        let mut command = planforge();
        command.current_dir(home.path()).args(arguments);
        Ran::wait(command.spawn().unwrap())
    };
    assert_eq!(in_home(&["runs"]).expect(0).stdout, "There are no runs in runs.\n");
    in_home(&["replay", "last"]).expect(30).says(&["the folder `runs` holds no run"]);
    for reply in [other_goal(), fenced(&example_text("parcels", "p01.pddl"))] {
        let server = saying(&reply);
        let address = format!("llm.main.base_url={}", server.base_url());
        let (pipeline, task) = (pipeline("llm-p.toml"), example("parcels", "p01"));
        let ran = in_home(&[
            "run",
            pipeline.to_str().unwrap(),
            "--task",
            task.to_str().unwrap(),
            "--set",
            &address,
        ]);
        ran.expect(0);
    }
    let listed = in_home(&["runs"]).expect(0).stdout.clone();
    let results: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.rsplit_once("llm-p  ").map(|(_, result)| result.trim()))
        .collect();
    assert_eq!(results, ["1 of 1 solved", "0 of 1 solved"], "the newest first: {listed}");
    assert!(in_home(&["replay", "last"]).expect(0).stdout.starts_with("1 of 1 task solved.\n"));
    let listed = in_home(&["runs", "--json"]).json(0);
    assert_eq!((&listed["runs"][0]["solved"], &listed["runs"][1]["solved"]), (&1.into(), &0.into()));
    assert_eq!(
        (&listed["runs"][0]["pipeline"], &listed["runs"][0]["in_progress"]),
        (&"llm-p".into(), &false.into())
    );
}

#[test]
fn mistakes_in_a_reply_are_shown_with_their_place() {
    let reference = example_text("parcels", "p01.pddl");
    let server = saying(&fenced(&reference.replace("(van-at elm)", "(van-in elm) (parcel-at parcel1)")));
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    let ran = run.go();
    insta::assert_snapshot!("mistakes", ran.expect(0).stdout.clone());
}

#[test]
fn a_missing_parenthesis_is_restored_and_reported() {
    let reference = example_text("parcels", "p01.pddl");
    let server = saying(&fenced(reference.trim_end().strip_suffix("))").unwrap()));
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted");
    let fixes = report["tasks"][0]["written"][0]["fixes"].as_array().unwrap();
    assert!(!fixes.is_empty(), "{report}");
    // The same reply with fixes off is what it is: unreadable.
    let mut strict = run_strict(&server.base_url());
    assert_eq!(verdict(&strict.go().json(0), 0), "rejected");
}

fn run_strict(base_url: &str) -> Run {
    Run::new("llm-p.toml", base_url).task("parcels", "p01").set("stage.problem.fixes", "none").arg("--json")
}

#[test]
fn a_reply_without_pddl_is_an_answer_and_no_outage() {
    for reply in ["I am sorry, I cannot do that.", "", "```pddl\n```"] {
        let server = saying(reply);
        let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
        let report = run.go().json(11);
        assert_eq!(verdict(&report, 0), "unusable", "{reply}");
        let code = &report["tasks"][0]["verdict"]["failure"]["code"];
        assert!(code.as_str().unwrap().starts_with("reply."), "{code}");
    }
}

#[test]
fn a_server_that_always_fails_is_the_provider_s_failure() {
    let server =
        ScriptedServer::matching(|_| Scripted::error(500, "overloaded", "scripted: not now")).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(34);
    assert_eq!(verdict(&report, 0), "failed");
    let message = report["tasks"][0]["verdict"]["failure"]["message"].as_str().unwrap();
    assert!(message.contains("500") && message.contains("not now"), "{message}");
    assert_eq!(server.count(), 1);
    // With more attempts it is asked as often as the file says.
    let server =
        ScriptedServer::matching(|_| Scripted::error(503, "overloaded", "scripted: not now")).unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    let mut run = run.set("llm.main.max_attempts", "3").set("llm.main.backoff_ms", "1");
    run.go().expect(34);
    assert_eq!(server.count(), 3);
    // A key that is refused stays refused.
    let server =
        ScriptedServer::matching(|_| Scripted::error(401, "no_key", "scripted: who are you?")).unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run.set("llm.main.max_attempts", "3").go().expect(34);
    assert_eq!(server.count(), 1);
}

#[test]
fn a_recovering_server_is_retried() {
    let server = ScriptedServer::matching(|request| match request.number {
        0 => Scripted::error(429, "slow_down", "scripted").header("retry-after", "0"),
        1 => right_reply(request).half_body(),
        2 => Scripted::drop_connection(),
        _ => right_reply(request),
    })
    .unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let mut run = run.set("llm.main.max_attempts", "5").set("llm.main.backoff_ms", "1");
    assert_eq!(verdict(&run.go().json(0), 0), "accepted");
    assert_eq!(server.count(), 4);
}

#[test]
fn an_unreachable_server_is_a_provider_failure() {
    let unused = ScriptedServer::matching(right_reply).unwrap().base_url();
    let mut run = Run::new("llm-p.toml", &unused).task("parcels", "p01").arg("--json");
    let report = run.go().json(34);
    assert_eq!(report["tasks"][0]["verdict"]["failure"]["code"], "llm.connection");
}

#[test]
fn a_cap_on_calls_is_kept() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").task("parcels", "p02");
    let mut run = run.set("llm.main.max_calls", "1").arg("--json").arg("--jobs=1");
    let report = run.go().json(25);
    assert_eq!((verdict(&report, 0), verdict(&report, 1)), ("accepted", "undecided"));
    assert_eq!(server.count(), 1);
}

#[test]
fn a_planner_s_limit_leaves_the_task_undecided() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p04").arg("--json");
    let mut run = run.set("stage.plan.options.node_limit", "1");
    assert_eq!(verdict(&run.go().json(23), 0), "undecided");
}

#[test]
fn a_suite_gives_the_same_bytes_whatever_the_order_of_answers() {
    let mut outputs = Vec::new();
    for (seed, jobs) in [(1, "1"), (2, "8"), (3, "8")] {
        let server = ScriptedServer::in_random_order(seed, right_reply).unwrap();
        let run = Run::new("llm-p.toml", &server.base_url()).arg("--suite").arg(example("parcels", ""));
        let ran = run.arg("--json").arg("--jobs").arg(jobs).go();
        let report = ran.json(0);
        assert_eq!(report["tasks"].as_array().unwrap().len(), 4);
        assert!((0..4).all(|task| verdict(&report, task) == "accepted"));
        outputs.push(ran.stdout);
    }
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(outputs[1], outputs[2]);
}

const PLAN: &str = "(drive elm fir)\n(load parcel1 fir)\n(drive fir elm)\n(unload parcel1 elm)\n(drive elm fir)\n\
                    (drive fir oak)\n(load parcel2 oak)\n(drive oak fir)\n(drive fir elm)\n(unload parcel2 elm)";

#[test]
fn a_model_that_plans_by_itself_is_judged_by_the_environment() {
    let wrong = PLAN.replace("(drive fir oak)\n", "");
    for (pipeline, before) in [("intrinsic.toml", ""), ("intrinsic-cot.toml", "The van must go twice.\n\n")] {
        let reply = |plan: &str| format!("{before}```plan\n{plan}\n```\n");
        for (plan, word) in [(PLAN, "accepted"), (wrong.as_str(), "rejected")] {
            let server = saying(&reply(plan));
            let mut run = Run::new(pipeline, &server.base_url()).task("parcels", "p01").arg("--json");
            let report = run.go().json(0);
            assert_eq!(verdict(&report, 0), word, "{pipeline}");
            if word == "rejected" {
                let message = report["tasks"][0]["verdict"]["message"].as_str().unwrap();
                assert!(message.contains("6") && message.contains("(load parcel2 oak)"), "{message}");
            }
            let question = server.requests()[0].question();
            assert!(question.contains("parcel2") && !question.contains(":precondition"), "{question}");
        }
        let server = saying("I would drive around until both parcels are in elm.");
        let mut run = Run::new(pipeline, &server.base_url()).task("parcels", "p01").arg("--json");
        assert_eq!(verdict(&run.go().json(11), 0), "unusable", "{pipeline}");
    }
}

/// A reply is somebody else's text: it neither drives the terminal nor exhausts the stack.
#[test]
fn model_output_is_escaped() {
    let reference = example_text("parcels", "p01.pddl");
    let server =
        saying(&fenced(&reference.replace("parcel1", "par\u{1b}]0;title\u{7}cel1\u{1b}[31m\u{202e}")));
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    let ran = run.go();
    assert!(ran.expect(0).stdout.contains("rejected"), "{}", ran.stdout);
    for raw in ['\u{1b}', '\u{7}', '\u{202e}'] {
        assert!(!ran.stdout.contains(raw) && !ran.stderr.contains(raw), "{raw:?} reaches the terminal");
    }
    let deep = format!("(define (problem deep) (:domain parcels) (:goal {}", "(and ".repeat(100_000));
    let server = saying(&fenced(&deep));
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "rejected");
    let found = report["tasks"][0]["candidate"]["assessments"]["pddl"]["diagnostics"].as_array().unwrap();
    assert_eq!(found.iter().map(|d| d["code"].as_str().unwrap()).collect::<Vec<_>>(), ["pddl.too-deep"]);
}

#[test]
fn a_malformed_completion_is_the_provider_s_failure() {
    for (body, code) in [
        ("<html>Please log in</html>", "llm.malformed"),
        ("{\"choices\":[]}", "llm.malformed"),
        ("{}", "llm.malformed"),
        // What ends in the middle was cut off on its way.
        ("", "llm.connection"),
        ("[1,2", "llm.connection"),
    ] {
        let body = body.to_owned();
        let server = ScriptedServer::matching(move |_| Scripted::raw(200, body.clone())).unwrap();
        let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
        let report = run.go().json(34);
        assert_eq!(report["tasks"][0]["verdict"]["failure"]["code"], code, "{report}");
    }
}

#[test]
fn runs_that_start_at_the_same_moment_do_not_interfere() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    let children: Vec<_> = (0..8).map(|_| run.spawn()).collect();
    for child in children {
        super::support::Ran::wait(child).expect(0);
    }
    assert_eq!(run.folders().len(), 8);
}

/// The demo uses recorded replies of a real model: no server, no key, any working directory.
#[test]
fn the_demo_needs_no_key_network_or_working_directory() {
    let elsewhere = tempfile::tempdir().unwrap();
    let demo = |args: &[&str]| {
        let mut command = super::support::planforge();
        super::support::Ran::wait(
            command.arg("demo").args(args).current_dir(elsewhere.path()).spawn().unwrap(),
        )
    };
    let report = demo(&["--json"]).json(0);
    assert_eq!(report["solved"]["end"], "planned");
    let answers: Vec<&str> = report["dialogue"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| asked["answer"].as_str().unwrap())
        .collect();
    assert_eq!(answers, ["2", "1"], "{:#}", report["dialogue"]);
    let text = demo(&[]);
    let line = "3 of 3 readings by 1 model agree after 2 answers";
    for word in [
        "The text:",
        "Can she hold two cakes at once?",
        "> 2  (recorded)",
        "planned: ",
        line,
        "The plan is valid: after ",
    ] {
        assert!(text.expect(0).stdout.contains(word), "{word} is missing:\n{}", text.stdout);
    }
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
