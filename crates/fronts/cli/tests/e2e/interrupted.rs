//! Killed or interrupted at any moment, a run resumes where it was and sends no request twice.

use super::support::{Ran, Run, planforge, right_reply, signal, verdict, wait_for};
use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer};
use std::path::Path;

fn resume(folder: &Path) -> Ran {
    Ran::wait(planforge().arg("run").arg("--resume").arg(folder).arg("--json").spawn().unwrap())
}

/// Answers everything but the second request, which is left without an answer for ever.
fn silent_at_second(request: &ScriptedRequest) -> Scripted {
    if request.number == 1 { Scripted::stall() } else { right_reply(request) }
}

fn three_tasks(base_url: &str) -> Run {
    let run = Run::new("llm-p.toml", base_url).arg("--json").arg("--jobs=1");
    run.task("parcels", "p01").task("parcels", "p02").task("parcels", "p03")
}

/// The output of the same run without interruption.
fn uninterrupted() -> String {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let ran = three_tasks(&server.base_url()).go();
    ran.expect(0);
    ran.stdout
}

/// The number of requests with the text of a task.
fn asked(server: &ScriptedServer, stem: &str) -> usize {
    let text = super::support::example_text("parcels", &format!("{stem}.nl"));
    server.requests().iter().filter(|r| r.question().contains(text.trim())).count()
}

#[test]
fn resume_after_a_kill_sends_only_missing_requests() {
    let server = ScriptedServer::matching(silent_at_second).unwrap();
    let mut run = three_tasks(&server.base_url());
    let mut child = run.spawn();
    wait_for(&server, 2, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = resume(&run.folder());
    assert_eq!(resumed.expect(0).stdout, uninterrupted());
    assert_eq!([asked(&server, "p01"), asked(&server, "p02"), asked(&server, "p03")], [1, 2, 1]);
    // The record of both processes together replays.
    let replayed = Ran::wait(planforge().arg("replay").arg(run.folder()).arg("--json").spawn().unwrap());
    assert_eq!(replayed.expect(0).stdout, resumed.stdout);
    assert_eq!(server.count(), 4);
}

#[test]
fn ctrl_c_completes_the_record_and_prints_how_to_resume() {
    let server = ScriptedServer::matching(silent_at_second).unwrap();
    let mut run = three_tasks(&server.base_url());
    let mut child = run.spawn();
    wait_for(&server, 2, &mut child);
    signal(&child, "INT");
    let ran = Ran::wait(child);
    let folder = run.folder();
    ran.expect(29).says(&["interrupted", &format!("planforge run --resume {}", folder.display())]);
    let report = ran.json(29);
    assert_eq!((&report["state"], verdict(&report, 0)), (&"interrupted".into(), "accepted"));
    assert_eq!((verdict(&report, 1), verdict(&report, 2)), ("none", "none"));
    assert_eq!(resume(&folder).expect(0).stdout, uninterrupted());
    assert_eq!([asked(&server, "p01"), asked(&server, "p02"), asked(&server, "p03")], [1, 2, 1]);
}

#[test]
fn ctrl_c_while_waiting_for_another_attempt_stops_at_once() {
    let server = ScriptedServer::matching(|_| Scripted::error(503, "overloaded", "scripted")).unwrap();
    // The next attempt is hours away, so only the signal ends the run.
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let mut run = run
        .set("llm.main.max_attempts", "9")
        .set("llm.main.backoff_ms", "36000000")
        .set("llm.main.max_backoff_ms", "36000000");
    let mut child = run.spawn();
    wait_for(&server, 1, &mut child);
    signal(&child, "INT");
    Ran::wait(child).expect(29).says(&["--resume"]);
}

/// A replay of an incomplete run reports what is missing; it neither invents nor requests it.
#[test]
fn replaying_an_incomplete_run_reports_missing_replies() {
    let server = ScriptedServer::matching(silent_at_second).unwrap();
    let mut run = three_tasks(&server.base_url());
    let mut child = run.spawn();
    wait_for(&server, 2, &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let report =
        Ran::wait(planforge().arg("replay").arg(run.folder()).arg("--json").spawn().unwrap()).json(35);
    assert_eq!([0, 1, 2].map(|task| verdict(&report, task)), ["accepted", "failed", "failed"]);
    assert_eq!(server.count(), 2);
}

#[test]
fn two_processes_do_not_write_into_one_run() {
    let server = ScriptedServer::matching(silent_at_second).unwrap();
    let mut run = three_tasks(&server.base_url());
    let mut child = run.spawn();
    wait_for(&server, 2, &mut child);
    resume(&run.folder()).expect(36).says(&["record.locked"]);
    child.kill().unwrap();
    child.wait().unwrap();
    resume(&run.folder()).expect(0);
}

#[test]
fn ctrl_c_during_a_plan_explanation_leaves_only_that() {
    let server = ScriptedServer::matching(|request| match request.number {
        1 => Scripted::stall(),
        2 => Scripted::replies(&["The van goes twice."]),
        _ => right_reply(request),
    })
    .unwrap();
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let mut run = run.arg("--explain-plan=main");
    let mut child = run.spawn();
    wait_for(&server, 2, &mut child);
    signal(&child, "TERM");
    let ran = Ran::wait(child);
    ran.says(&["--resume"]);
    let report = ran.json(29);
    assert_eq!((verdict(&report, 0), &report["told"]), ("accepted", &serde_json::Value::Null));
    let report = resume(&run.folder()).json(0);
    assert_eq!(report["state"], "finished");
    assert!(report["told"].to_string().contains("The van goes twice."), "{report}");
    assert_eq!(report["tasks"][0]["usage"]["main"]["calls"], 2);
    assert_eq!(server.count(), 3);
}

#[test]
fn a_resumed_run_retries_server_failures() {
    let server = ScriptedServer::matching(|request| match request.number {
        1 => Scripted::error(500, "overloaded", "scripted: not now"),
        _ => right_reply(request),
    })
    .unwrap();
    let mut run = three_tasks(&server.base_url());
    let report = run.go().json(34);
    assert_eq!([0, 1, 2].map(|task| verdict(&report, task)), ["accepted", "failed", "accepted"]);
    assert_eq!(resume(&run.folder()).expect(0).stdout, uninterrupted());
    assert_eq!([asked(&server, "p01"), asked(&server, "p02"), asked(&server, "p03")], [1, 2, 1]);
}
