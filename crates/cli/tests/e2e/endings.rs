//! Hints at the end of a run are true for that run: the printed command is run and does what it says.

use super::support::{Ran, Run, ran, right_reply, signal, verdict, wait_for};
use planforge_testkit::{Scripted, ScriptedServer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

const SAME_VERDICTS: &str = "gives the same verdicts";

/// The commands in backquotes that a run printed on standard error.
fn printed_commands(ended: &Ran, start: &str) -> Vec<Vec<String>> {
    let parts = ended.stderr.split('`').skip(1).step_by(2);
    let commands =
        parts.filter_map(|part| part.strip_prefix("planforge ")).filter(|part| part.starts_with(start));
    commands.map(|command| command.split_whitespace().map(str::to_owned).collect()).collect()
}

/// Runs the only printed command with that beginning.
fn run_printed(ended: &Ran, start: &str) -> Ran {
    let commands = printed_commands(ended, start);
    assert_eq!(commands.len(), 1, "{start}: {}", ended.stderr);
    ran(commands[0].iter().map(String::as_str).chain(["--json"]))
}

fn two_tasks(base_url: &str) -> Run {
    let run = Run::new("llm-p.toml", base_url).arg("--json").arg("--jobs=1");
    run.task("parcels", "p01").task("parcels", "p02")
}

fn manifest(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap()
}

/// Every finished run replays to the same exit code and verdicts.
fn expect_true_replay(ended: &Ran, code: i32) {
    let replayed = run_printed(ended, "replay");
    assert_eq!(replayed.expect(code).stdout, ended.stdout);
}

#[test]
fn a_finished_run_replays_as_its_hint_says() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = two_tasks(&server.base_url());
    let ended = run.go();
    expect_true_replay(ended.expect(0), 0);
    assert!(printed_commands(&ended, "run --resume").is_empty(), "{}", ended.stderr);
}

#[test]
fn the_hint_after_a_cap_raises_it_and_pays_nothing_twice() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = two_tasks(&server.base_url()).set("llm.main.max_calls", "1");
    let ended = run.go();
    expect_true_replay(ended.expect(25), 25);
    let resumed = run_printed(&ended, "run --resume");
    let report = resumed.json(0);
    assert_eq!([0, 1].map(|task| verdict(&report, task)), ["accepted", "accepted"]);
    assert_eq!(server.count(), 2);
    let manifest = manifest(&run.folder());
    let sessions = &manifest["settings"]["resumed_with"];
    assert_eq!(sessions[0]["set"], serde_json::json!(["llm.main.max_calls=2"]), "{manifest}");
    // The raised cap holds for later sessions and for replays.
    expect_true_replay(&resumed, 0);
}

#[test]
fn the_hint_after_a_failure_of_the_server_sends_the_requests_again() {
    for status in [500, 401, 400] {
        let code = Arc::new(AtomicU16::new(status));
        let current = Arc::clone(&code);
        let server = ScriptedServer::matching(move |request| match current.load(Ordering::SeqCst) {
            200 => right_reply(request),
            status => Scripted::error(status, "scripted", "not now"),
        })
        .unwrap();
        let mut run = two_tasks(&server.base_url()).set("llm.main.max_attempts", "1");
        let ended = run.go();
        expect_true_replay(ended.expect(34), 34);
        code.store(200, Ordering::SeqCst);
        run_printed(&ended, "run --resume").expect(0);
        assert_eq!(server.count(), 4, "{status}");
    }
}

#[test]
fn after_ctrl_c_only_resuming_is_suggested() {
    let server = ScriptedServer::matching(|request| match request.number {
        1 => Scripted::stall(),
        _ => right_reply(request),
    })
    .unwrap();
    let mut run = two_tasks(&server.base_url());
    let mut child = run.spawn();
    wait_for(&server, 2, &mut child);
    signal(&child, "INT");
    let ended = Ran::wait(child);
    assert!(!ended.expect(29).stderr.contains(SAME_VERDICTS), "{}", ended.stderr);
    run_printed(&ended, "run --resume").expect(0);
    assert_eq!(server.count(), 3);
}

#[test]
fn a_resumed_run_asks_another_server_for_what_is_missing() {
    let dead = ScriptedServer::matching(|request| match request.number {
        0 => right_reply(request),
        _ => Scripted::error(500, "overloaded", "scripted"),
    })
    .unwrap();
    let live = ScriptedServer::matching(right_reply).unwrap();
    let mut run = two_tasks(&dead.base_url()).set("llm.main.max_attempts", "1");
    run.go().expect(34);
    let folder = run.folder().display().to_string();
    let swap = format!("llm.main.base_url={}", live.base_url());
    ran(["run", "--resume", &folder, "--set", &swap, "--json"]).expect(0);
    assert_eq!((dead.count(), live.count()), (2, 1));
}

#[test]
fn resuming_refuses_changes_that_recorded_replies_depend_on() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = two_tasks(&server.base_url());
    run.go().expect(0);
    let folder = run.folder().display().to_string();
    for change in ["llm.main.model=other", "llm.main.temperature=0.5", "seed=3", "stage.problem.n=2"] {
        let key = change.split('=').next().unwrap();
        let refused = ran(["run", "--resume", &folder, "--set", change]);
        refused.expect(30).says(&[&format!("`{key}`"), "recorded replies", "start a new run", "`max_calls`"]);
    }
    assert_eq!(manifest(&run.folder())["settings"]["resumed_with"], serde_json::Value::Null);
    assert_eq!(server.count(), 2);
}

#[test]
fn the_limits_of_a_run_in_progress_can_be_changed() {
    let server = ScriptedServer::matching(|_| Scripted::stall()).unwrap();
    let mut run =
        Run::new("llm-p.toml", &server.base_url()).arg("--jobs=2").set("llm.main.max_concurrency", "1");
    run = run.task("parcels", "p01").task("parcels", "p02");
    let mut child = run.spawn();
    wait_for(&server, 1, &mut child);
    let folder = run.folder().display().to_string();
    let limit = |change: &str| ran(["runs", "limit", &folder, change]);
    limit("llm.main.model=other").expect(30).says(&["`max_concurrency`", "`max_cost_usd`", "`main`"]);
    limit("llm.main.max_calls=many").expect(30).says(&["not a number"]);
    limit("llm.main.max_calls=1").expect(30).says(&["1 are used"]);
    let changed = limit("llm.main.max_concurrency=2");
    assert!(changed.expect(0).stdout.contains("llm.main.max_concurrency=2"), "{}", changed.stdout);
    wait_for(&server, 2, &mut child);
    signal(&child, "INT");
    Ran::wait(child).expect(29);
    let refused = limit("llm.main.max_concurrency=4");
    refused.expect(30).says(&["not in progress", "--resume", "--set llm.main.max_concurrency=4"]);
}
