//! Several processes on one folder, and unwritable folders: the cause and the way to resume are reported, and
//! nothing is lost.

use super::support::wait_for;
use super::support::{Ran, example, files, pipeline, planforge, ran, right_reply};
use planforge_testkit::survival::{differences, results};
use planforge_testkit::{ScriptedRequest, ScriptedServer};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn evaluate(out: &Path, server: &ScriptedServer) -> Command {
    let mut command = planforge();
    command
        .arg("evaluate")
        .arg("--suite")
        .arg(example("parcels", ""))
        .args(["--tasks", "2", "--seeds", "1,2"]);
    command.arg("--pipeline").arg(pipeline("llm-p.toml")).arg("--out").arg(out);
    command.arg("--set").arg(format!("llm.main.base_url={}", server.base_url()));
    command
}

fn resumed(out: &Path) -> Ran {
    Ran::wait(planforge().args(["evaluate", "--resume", "--out"]).arg(out).spawn().unwrap())
}

/// Asserts that tables and reports are the same except for times. The matrices differ, as each test has its
/// own server.
fn the_same(one: &Path, other: &Path) {
    let of = |out: &Path| {
        let mut results = results(out).unwrap();
        results.remove("matrix.json");
        results
    };
    assert!(of(one).len() > 10);
    assert_eq!(differences(&of(one), &of(other)), Vec::<String>::new());
}

/// Answers once it may.
fn gated(gate: &Arc<AtomicBool>) -> ScriptedServer {
    let gate = Arc::clone(gate);
    ScriptedServer::matching(move |request: &ScriptedRequest| {
        while !gate.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        right_reply(request)
    })
    .unwrap()
}

#[test]
fn two_evaluations_on_one_folder_do_not_interfere() {
    let scratch = tempfile::tempdir().unwrap();
    let open = Arc::new(AtomicBool::new(true));
    let server = gated(&open);
    let whole = scratch.path().join("whole");
    Ran::wait(evaluate(&whole, &server).spawn().unwrap()).expect(0);
    let requests = server.count();

    let gate = Arc::new(AtomicBool::new(false));
    let server = gated(&gate);
    let out = scratch.path().join("shared");
    let mut first = evaluate(&out, &server).spawn().unwrap();
    wait_for(&server, 1, &mut first);
    // A second one that knows nothing of the first, and one that means to go on with it.
    Ran::wait(evaluate(&out, &server).spawn().unwrap())
        .expect(30)
        .says(&["already holds an evaluation", "--resume"]);
    let second = resumed(&out);
    second.expect(36).says(&[
        "record.locked",
        &format!("process {}", first.id()),
        "help: ",
        "same command again",
    ]);
    gate.store(true, Ordering::SeqCst);
    Ran::wait(first).expect(0);
    assert_eq!(server.count(), requests, "nobody was asked twice");
    the_same(&out, &whole);
    // Whoever was sent away gives the same command again.
    resumed(&out).expect(0);
    the_same(&out, &whole);
    assert_eq!(server.count(), requests);
}

#[test]
fn the_lock_of_a_dead_process_does_not_block() {
    let scratch = tempfile::tempdir().unwrap();
    let gate = Arc::new(AtomicBool::new(false));
    let server = gated(&gate);
    let mut first = evaluate(scratch.path(), &server).spawn().unwrap();
    wait_for(&server, 1, &mut first);
    first.kill().unwrap();
    first.wait().unwrap();
    gate.store(true, Ordering::SeqCst);
    resumed(scratch.path()).expect(0);
    // What was left of the dead one: its word, and no lock.
    let holders =
        files(scratch.path()).into_iter().filter(|file| file.extension().is_some_and(|e| e == "holder"));
    assert_eq!(holders.count(), 1);
}

/// A file instead of a folder is an unwritable place for every user.
#[test]
fn an_unwritable_folder_is_named_before_anything_is_lost() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let below = file.join("below");
    let gate = Arc::new(AtomicBool::new(true));
    let server = gated(&gate);
    let place = below.display().to_string();
    let base = format!("llm.main.base_url={}", server.base_url());
    let run = |runs: &Path| {
        let mut command = planforge();
        command.arg("run").arg(pipeline("llm-p.toml")).arg("--task").arg(example("parcels", "p01"));
        command.arg("--set").arg(&base).arg("--runs").arg(runs);
        command
    };
    Ran::wait(run(&below).spawn().unwrap()).expect(36).says(&["record.io", &place, "Not a directory"]);
    Ran::wait(evaluate(&below, &server).spawn().unwrap()).expect(36).says(&["record.io", &place]);
    assert_eq!(server.count(), 0, "nothing was paid for");
    let runs = scratch.path().join("runs");
    let mut recorded = run(&runs);
    recorded.arg("--record").arg(below.join("c.jsonl"));
    Ran::wait(recorded.spawn().unwrap()).expect(36).says(&["record.io", &place]);
    let folder = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let page = [Path::new("report"), &folder, Path::new("--out"), &below.join("page.html")];
    ran(page).expect(36).says(&[&place]);
    ran([Path::new("run"), Path::new("--resume"), &below]).expect(36);
    // The run itself is whole: only the copy of its replies had no place.
    ran([Path::new("replay"), &folder]).expect(0);
}
