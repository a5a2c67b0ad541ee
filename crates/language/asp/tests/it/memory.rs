//! Reading a hostile text costs little memory, whatever stands in it. Alone in its process, since the kernel counts by process.

#![cfg(target_os = "linux")]

use planforge_asp::Declarations;
use planforge_asp::reader::{MAX_TEXT_BYTES, Signature, read};
use planforge_diagnostics::SourceId;
use planforge_pddl::parse_domain;
use std::process::Command;

/// The most memory that the process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

/// True in a process that runs nothing but this test. Elsewhere starts such a process and waits for its success.
fn runs_alone(test: &str) -> bool {
    if std::env::args().any(|argument| argument == "--exact") {
        return true;
    }
    let status = Command::new(std::env::current_exe().unwrap()).args([test, "--exact"]).status().unwrap();
    assert!(status.success(), "{test}: {status}");
    false
}

#[test]
fn the_longest_texts_that_are_read_cost_less_than_100_megabytes() {
    if !runs_alone("memory::the_longest_texts_that_are_read_cost_less_than_100_megabytes") {
        return;
    }
    let domain = parse_domain("(define (domain d) (:predicates (clean ?x)))", SourceId(0)).value;
    let signature = Signature::new(&domain, &Declarations::default());
    let base = peak();
    let most = 100 << 20;
    for piece in [
        "a,",
        "init(clean(",
        "init(clean(a)).",
        "X-",
        "a\n",
        "goal(not a,",
        "init(clean(",
        "\u{201c}",
        "init(Clean(B)).\n",
    ] {
        let text = piece.repeat(MAX_TEXT_BYTES / piece.len());
        let reading = read(&text, SourceId(0), &signature);
        assert!(!reading.diagnostics().is_empty(), "{piece}");
        let grown = peak() - base;
        assert!(grown < most, "after {piece:?} the process has grown by {} MB", grown >> 20);
    }
}
