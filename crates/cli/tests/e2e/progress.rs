//! What a run says of itself while it goes on.

use super::support::{Run, right_reply};
use planforge_testkit::ScriptedServer;
use std::time::Duration;

fn slow() -> ScriptedServer {
    ScriptedServer::matching(|request| right_reply(request).delay(Duration::from_millis(2_600))).unwrap()
}

#[test]
fn plain_progress_says_in_lines_what_is_waited_for() {
    let server = slow();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run = run.arg("--progress").arg("plain").arg("--progress-every").arg("1");
    let ran = run.go();
    ran.expect(0)
        .says(&["0/1 tasks, 1 s; waiting for main: 1 call, ", "0/1 tasks, 2 s; waiting for main: 1 call, "]);
}

#[test]
fn without_a_terminal_and_without_being_asked_nothing_is_said() {
    let server = slow();
    let ran = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").go();
    assert!(!ran.expect(0).stderr.contains("waiting for"), "{}", ran.stderr);
}
