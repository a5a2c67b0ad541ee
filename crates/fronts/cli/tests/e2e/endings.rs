//! Hints at the end of a run are true for that run: the printed command is run and does what it says.

use super::batch::{BATCH, by_hand, requests, with_model};
use super::support::{
    Ran, Run, example_text, fenced, pipeline, planforge, ran, right_reply, saying, signal, sliding_puzzle,
    verdict, wait_for,
};
use planforge_testkit::{Scripted, ScriptedServer};
use std::path::Path;
use std::process::{Command, Stdio};
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
fn the_hints_of_a_run_whose_requests_wait_continue_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = with_model(folder.path(), "llm-p", "batch.toml", BATCH);
    let mut command = planforge();
    command.arg("run").arg(file).arg("--runs").arg(folder.path().join("runs")).arg("--json");
    let mut run = Run::of(command, folder).task("parcels", "p01").task("parcels", "p02");
    let waiting = run.go();
    assert!(!waiting.expect(26).stderr.contains(SAME_VERDICTS), "{}", waiting.stderr);
    let batch = run.folder().join("batch");
    let asked = requests(&batch, "requests-0001.jsonl");
    // With a file of answers, and with answers where the hint says that they are found.
    let file = run.runs.path().join("answers.jsonl");
    std::fs::write(&file, by_hand(&asked[0])).unwrap();
    let resume = |waiting: &Ran, answers: Option<&Path>| {
        let [command] = &printed_commands(waiting, "run --resume")[..] else { panic!("{}", waiting.stderr) };
        assert_eq!(command[command.len() - 2..], ["--answers", "FILE"]);
        let mut command = command.clone();
        command.truncate(command.len() - 2);
        command.extend(answers.map(|file| format!("--answers={}", file.display())));
        ran(command.iter().map(String::as_str).chain(["--json"]))
    };
    let waiting = resume(&waiting, Some(&file));
    assert_eq!(verdict(&waiting.json(26), 0), "accepted");
    let answers = batch.join("answers");
    waiting.says(&[&format!("put them into {} and leave `--answers` out", answers.display())]);
    std::fs::write(answers.join("more.jsonl"), by_hand(&asked[1])).unwrap();
    let done = resume(&waiting, None);
    assert_eq!(verdict(&done.json(0), 1), "accepted");
    expect_true_replay(&done, 0);
}

#[test]
fn the_hint_after_a_time_limit_plans_for_longer_and_sends_no_request() {
    let suite = tempfile::tempdir().unwrap();
    let (domain, problem) = sliding_puzzle(3);
    let server = saying(&fenced(&problem));
    for (name, text) in [
        ("domain.pddl", &*domain),
        ("p01.pddl", &*problem),
        ("domain.nl", "Tiles."),
        ("p01.nl", "Order them."),
    ] {
        std::fs::write(suite.path().join(name), text).unwrap();
    }
    let run = |more: &[&str]| {
        let mut run = Run::new("llm-p.toml", &server.base_url()).arg("--json");
        run = run.arg("--task").arg(suite.path().join("p01"));
        for word in more {
            run = run.arg(word);
        }
        run
    };
    let mut current = run(&["--set", "stage.plan.limits.time_s=0.001"]);
    let mut ended = current.go();
    expect_true_replay(ended.expect(21), 21);
    // Twice the time until it is enough.
    for _ in 0..20 {
        let mut hints = ended.stderr.split('`').filter(|part| part.starts_with("--replay "));
        let Some(hint) = hints.next() else { break };
        let words: Vec<&str> = hint.split_whitespace().collect();
        assert_eq!(words[1], current.folder().display().to_string());
        let mut next = run(&words);
        ended = next.go();
        current = next;
    }
    expect_true_replay(ended.expect(0), 0);
    assert_eq!(server.count(), 1);
}

/// A limit on the size of files stands for a full disk: both end a write to the run folder.
#[test]
fn the_hint_after_a_full_journal_continues_once_there_is_room() {
    let long = format!("{}{}", "; room\n".repeat(30_000), example_text("parcels", "p02.pddl"));
    let server = ScriptedServer::matching(move |request| match request.number {
        1 => Scripted::replies(&[&fenced(&long)]),
        _ => right_reply(request),
    })
    .unwrap();
    let runs = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 200; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_planforge"), "run"]);
    command.arg(pipeline("llm-p.toml")).arg("--runs").arg(runs.path().join("runs"));
    command.args(["--json", "--jobs=1"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = Run::of(command, runs).set("llm.main.base_url", &server.base_url());
    run = run.task("parcels", "p01").task("parcels", "p02");
    let ended = run.go();
    ended.expect(36).says(&["File too large", "[record.io]", "once that is mended"]);
    assert!(!ended.stderr.contains(SAME_VERDICTS), "{}", ended.stderr);
    assert_eq!(server.count(), 2);
    let resumed = run_printed(&ended, "run --resume");
    let report = resumed.json(0);
    assert_eq!([0, 1].map(|task| verdict(&report, task)), ["accepted"; 2]);
    assert_eq!(server.count(), 3, "only the reply that had no room is asked for again");
    expect_true_replay(&resumed, 0);
}

#[test]
fn the_hints_after_a_replay_miss_are_true() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let cassettes = tempfile::tempdir().unwrap();
    let cassette = cassettes.path().join("replies.jsonl");
    let with = |option: &str, stems: &[&str]| {
        let run = Run::new("llm-p.toml", &server.base_url()).arg("--json").arg(option).arg(&cassette);
        let mut run = stems.iter().fold(run, |run, stem| run.task("parcels", stem));
        let ended = run.go();
        (ended, run)
    };
    with("--record", &["p01"]).0.expect(0);
    let (missed, run) = with("--replay", &["p01", "p02"]);
    let report = missed.json(35);
    assert_eq!([0, 1].map(|task| verdict(&report, task)), ["accepted", "failed"]);
    assert!(missed.stdout.contains("or ask live (`--record` adds to it)"), "{}", missed.stdout);
    expect_true_replay(&missed, 35);
    // A resumption takes its replies from the cassette too.
    let folder = run.folder().display().to_string();
    let resumed = ran(["run", "--resume", &folder, "--json"]);
    let report = resumed.json(35);
    assert_eq!([0, 1].map(|task| verdict(&report, task)), ["accepted", "failed"]);
    resumed.says(&["takes its replies from", "replies.jsonl and sends no request"]);
    let moved = cassettes.path().join("moved.jsonl");
    std::fs::rename(&cassette, &moved).unwrap();
    let lacking = ran(["run", "--resume", &folder, "--json"]);
    assert!(lacking.exit >= 30, "{}", lacking.stderr);
    lacking.says(&["replies.jsonl"]);
    std::fs::rename(&moved, &cassette).unwrap();
    assert_eq!(server.count(), 1);
    with("--record", &["p01", "p02"]).0.expect(0);
    assert_eq!(server.count(), 2, "what is recorded is not asked again");
    with("--replay", &["p01", "p02"]).0.expect(0);
    assert_eq!(server.count(), 2);
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
