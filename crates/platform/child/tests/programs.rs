//! Programs that behave and programs that do not. All are shell scripts of a few words.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use planforge_child::{CommandSpec, Ending, Environment, Limits, Session, Stream, Trouble, run};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

fn sh(script: &str) -> CommandSpec {
    CommandSpec::new("/bin/sh").arguments(["-c", script])
}

fn never() -> bool {
    false
}

/// Only stops a test that hangs.
const PATIENCE: Duration = Duration::from_secs(300);

fn within(ms: u64) -> Limits {
    Limits { wall: Some(Duration::from_millis(ms)), ..Limits::default() }
}

fn patient() -> Limits {
    Limits { wall: Some(PATIENCE), ..Limits::default() }
}

/// Process ids, one a line of a file that the script wrote.
fn ids(file: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|l| l.trim().parse().ok()).collect()
}

fn lives(id: i32) -> bool {
    // A zombie that nobody has waited for yet has ended all the same.
    match std::fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

fn all_gone(ids: &[i32]) -> bool {
    let until = Instant::now() + PATIENCE;
    while ids.iter().any(|id| lives(*id)) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn a_program_is_run_to_its_end() {
    let mut spec = sh("read line; echo \"got $line\"; echo trouble >&2; exit 3");
    spec.input = b"words\nmore".to_vec();
    let finished = run(&spec, &Limits::default(), &never);
    assert_eq!(finished.ending, Ending::Exited(3));
    assert_eq!(finished.output, b"got words\n");
    assert_eq!(finished.account(), "ended with exit code 3; it said: trouble");
    assert!(run(&sh("exit 0"), &Limits::default(), &never).ending.is_success());
}

#[test]
fn a_program_that_does_not_start_is_no_program_that_failed() {
    for (spec, part) in [
        (
            CommandSpec::new("no-such-program-anywhere"),
            "the program `no-such-program-anywhere` was not found",
        ),
        (CommandSpec::new("/no/such/file"), "does not exist"),
        (CommandSpec::new("/etc/passwd"), "is not executable"),
        (CommandSpec::new("/tmp"), "is not a file"),
        (CommandSpec::new(""), "the command is empty"),
        (sh("exit 0").folder("/no/such/folder"), "the working directory `/no/such/folder` does not exist"),
    ] {
        for memory_bytes in [None, Some(1 << 30)] {
            let limits = Limits { memory_bytes, ..Limits::default() };
            match run(&spec, &limits, &never).ending {
                Ending::CouldNotStart(why) => assert!(why.contains(part), "{why}"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn time_signals_and_interruption_are_told_apart() {
    // On a busy machine the program needs longer than that to write.
    let attempt = |ms| {
        let finished = run(&sh("echo early; sleep 3600"), &within(ms), &never);
        assert_eq!(finished.ending, Ending::TimedOut(Duration::from_millis(ms)));
        Some(finished.output).filter(|output| !output.is_empty())
    };
    let output = [150, 1_500, 15_000, 150_000].into_iter().find_map(attempt);
    assert_eq!(output.as_deref(), Some(&b"early\n"[..]), "what came before the end is kept");
    assert_eq!(run(&sh("kill -SEGV $$"), &patient(), &never).ending, Ending::Signal(11));
    assert_eq!(run(&sh("sleep 3600"), &patient(), &|| true).ending, Ending::Cancelled);
    // Both pipes closed, and alive: only the clock ends it.
    let silent = run(&sh("exec >&- 2>&-; sleep 3600"), &within(150), &never);
    assert_eq!(silent.ending, Ending::TimedOut(Duration::from_millis(150)));
}

#[test]
fn floods_are_cut_off() {
    let limits = Limits { output_bytes: 10_000, error_bytes: 20_000, error_tail_bytes: 100, ..patient() };
    let out = run(&sh("while :; do echo flood; done"), &limits, &never);
    assert_eq!(out.ending, Ending::OutputLimit(Stream::Output, 10_000));
    assert_eq!(out.output.len(), 10_000);
    let err = run(&sh("while :; do echo flood >&2; done"), &limits, &never);
    assert_eq!(err.ending, Ending::OutputLimit(Stream::Error, 20_000));
    assert!(err.error_tail.len() <= 100 && err.error_tail.contains("flood"));
    // Written and gone at once: the end of the program does not excuse it.
    let quick = run(&sh("head -c 30000 /dev/zero; exit 0"), &limits, &never);
    assert_eq!(quick.ending, Ending::OutputLimit(Stream::Output, 10_000));
}

#[test]
fn a_memory_limit_holds_from_the_first_moment() {
    let limits = Limits { memory_bytes: Some(64 << 20), ..patient() };
    let told = run(&sh("ulimit -v; ulimit -c"), &limits, &never);
    assert_eq!(String::from_utf8_lossy(&told.output), "65536\n0\n");
    // The shell keeps the whole value in memory; it says so when there is none left.
    let greedy = "x=0123456789abcdef; while :; do x=$x$x; done";
    let finished = run(&sh(greedy), &limits, &never);
    assert!(!finished.ending.is_success());
    assert_ne!(finished.ending, Ending::TimedOut(PATIENCE));
    let said = run(&sh("echo 'MemoryError' >&2; exit 1"), &limits, &never);
    assert_eq!(said.ending, Ending::Memory(64 << 20));
}

#[test]
fn words_of_a_command_are_never_read_by_a_shell() {
    let limits = Limits { memory_bytes: Some(1 << 30), ..patient() };
    let spec = CommandSpec::new("/bin/echo").arguments(["$HOME", "; exit 4", "a  b", "`id`"]);
    assert_eq!(run(&spec, &limits, &never).output, b"$HOME ; exit 4 a  b `id`\n");
}

#[test]
fn a_program_sees_the_variables_that_are_named() {
    let mut spec = CommandSpec::new("/usr/bin/env");
    spec.environment = Environment::Only {
        handed_on: vec!["PATH".to_owned(), "PLANFORGE_NOT_THERE".to_owned()],
        set: BTreeMap::from([("COLOUR".to_owned(), "blue".to_owned())]),
    };
    let text = String::from_utf8(run(&spec, &patient(), &never).output).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|l| l.split('=').next()).collect();
    // cargo sets CARGO_MANIFEST_DIR for tests: had the program inherited anything, that would be here.
    assert_eq!(names, ["COLOUR", "PATH", "PLANFORGE_CHILD"]);
    spec.environment = Environment::Whole { set: BTreeMap::new() };
    let text = String::from_utf8(run(&spec, &patient(), &never).output).unwrap();
    assert!(text.contains("CARGO_MANIFEST_DIR="));
}

#[test]
fn everything_that_a_program_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let path = file.display();
    // A child, a child of a child in the background, and one that has left the group.
    let script = format!(
        "echo $$ >> {path}; sleep 3601 & echo $! >> {path}; (sleep 3602 & echo $! >> {path}; sleep 3603) & \
         if command -v setsid >/dev/null; then setsid sh -c 'echo $$ >> {path}; exec sleep 3604' & \
         else echo >> {path}; fi; "
    );
    // Ends once so many ids are written.
    let all = |count: usize| format!("while [ $(wc -l < {path}) -lt {count} ]; do sleep 0.05; done; ");
    // By its own exit; by the end of a conversation; and once its time is over.
    let leaving = run(&sh(&format!("{script} {} exit 0", all(4))), &patient(), &never);
    assert_eq!(leaving.ending, Ending::Exited(0));
    let mut session =
        Session::start(&sh(&format!("{script} {} echo ready; wait", all(8))), &Limits::default()).unwrap();
    assert_eq!(session.receive(PATIENCE, &never).unwrap(), "ready");
    drop(session);
    // On a busy machine the program needs longer than that to start the others.
    let attempt = |ms| {
        let before = ids(&file).len();
        let hanging = run(&sh(&format!("{script} wait")), &within(ms), &never);
        assert!(matches!(hanging.ending, Ending::TimedOut(_)));
        (ids(&file).len() >= before + 3).then_some(())
    };
    [700, 7_000, 70_000].into_iter().find_map(attempt).unwrap();
    let started = ids(&file);
    assert!(started.len() >= 9, "{started:?}");
    assert!(all_gone(&started), "{started:?}");
}

#[test]
fn a_conversation_goes_line_by_line() {
    let script = "while read line; do echo \"<$line>\"; echo noise >&2; done; exit 7";
    let mut session = Session::start(&sh(script), &Limits::default()).unwrap();
    for word in ["one", "two"] {
        session.send(word);
        assert_eq!(session.receive(PATIENCE, &never).unwrap(), format!("<{word}>"));
    }
    assert!(session.is_alive());
    assert_eq!(session.has_more(), None);
    let silence = session.receive(Duration::from_millis(50), &never);
    assert_eq!(silence, Err(Trouble::Silent(Duration::from_millis(50))));
    assert_eq!(session.receive(PATIENCE, &|| true), Err(Trouble::Cancelled));
    let finished = session.stop(Ending::Cancelled);
    assert_eq!(finished.ending, Ending::Cancelled);
    assert_eq!(finished.error_tail, "noise\nnoise\n");
}

fn trouble(script: &str) -> Trouble {
    let limits = Limits { output_bytes: 5000, error_bytes: 9000, ..Limits::default() };
    let mut session = Session::start(&sh(script), &limits).unwrap();
    session.receive(PATIENCE, &never).unwrap_err()
}

#[test]
fn broken_conversations_are_told_apart() {
    match trouble("echo bad >&2; exit 9") {
        Trouble::Ended(f) => assert_eq!(f.account(), "ended with exit code 9; it said: bad"),
        other => panic!("{other:?}"),
    }
    match trouble("printf half; kill -TERM $$") {
        Trouble::EndedInLine(begun, f) => {
            assert_eq!((begun.as_str(), f.ending), ("half", Ending::Signal(15)))
        }
        other => panic!("{other:?}"),
    }
    match trouble("printf 'a\\377b\\n'; sleep 3600") {
        Trouble::NotUtf8(text) => assert_eq!(text, "a\u{fffd}b"),
        other => panic!("{other:?}"),
    }
    for (script, stream, most) in [
        ("while :; do printf flood; done", Stream::Output, 5000),
        ("while :; do echo flood >&2; done", Stream::Error, 9000),
    ] {
        match trouble(script) {
            Trouble::Ended(f) => assert_eq!(f.ending, Ending::OutputLimit(stream, most)),
            other => panic!("{other:?}"),
        }
    }
    match trouble("exec >&-; sleep 3600") {
        Trouble::Ended(f) => assert_eq!(f.ending, Ending::ClosedOutput),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_does_not_read_holds_nobody_up() {
    let mut session = Session::start(&sh("sleep 3600"), &Limits::default()).unwrap();
    let long = "x".repeat(1 << 20);
    for _ in 0..4 {
        session.send(&long);
    }
    let silence = session.receive(Duration::from_millis(50), &never);
    assert!(matches!(silence, Err(Trouble::Silent(_))));
}
