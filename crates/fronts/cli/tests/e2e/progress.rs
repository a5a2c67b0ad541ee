//! Progress on standard error while a run goes on.

use super::support::{Run, right_reply};
use planforge_testkit::ScriptedServer;
use std::io::{BufRead, BufReader};
use std::sync::Mutex;
use std::sync::mpsc;

#[test]
fn plain_progress_prints_lines_about_the_pending_request() {
    // The server answers once two lines were read.
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let server = ScriptedServer::matching(move |request| {
        released.lock().unwrap().recv().unwrap();
        right_reply(request)
    })
    .unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run = run.arg("--progress").arg("plain").arg("--progress-every").arg("1");
    let mut child = run.spawn();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waiting =
        |line: &String| line.starts_with("0/1 tasks, ") && line.contains("; waiting for main: 1 call, ");
    assert_eq!(lines.filter(waiting).take(2).count(), 2);
    release.send(()).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn without_a_terminal_no_progress_is_printed() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let ran = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").go();
    assert!(!ran.expect(0).stderr.contains("waiting for"), "{}", ran.stderr);
}
