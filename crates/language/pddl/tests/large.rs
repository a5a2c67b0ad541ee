//! Texts of a megabyte with one construct repeated: no step takes quadratic time.
//!
//! A quadratic step over a quarter of a million tokens takes minutes, so even a generous limit detects it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use planforge_diagnostics::SourceId;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{
    TaskSources, check_domain, check_problem, diff_problems, find_pddl, fix_all, parse_domain, parse_problem,
    print_domain, print_problem,
};
use std::time::{Duration, Instant};

const BYTES: usize = 1 << 20;
const LIMIT: Duration = Duration::from_secs(20);

/// A text of about [`BYTES`]: `piece` with its number for `#`, again and again between `start` and `end`.
fn repeat_piece(start: &str, piece: &str, end: &str) -> String {
    let mut text = String::from(start);
    let mut number = 0;
    while text.len() < BYTES {
        text.push_str(&piece.replace('#', &number.to_string()));
        number += 1;
    }
    text + end
}

fn within_limit(what: &str, text: &str) {
    let source = SourceId(0);
    let start = Instant::now();
    let domain = parse_domain(text, source).value;
    let problem = parse_problem(text, source).value;
    check_domain(&domain, source);
    check_problem(&domain, &problem, TaskSources { domain: source, problem: source });
    print_domain(&domain);
    print_problem(&problem);
    diff_problems(&problem, &problem);
    fix_all(text, BlockKind::Domain);
    find_pddl(text, source);
    let took = start.elapsed();
    println!("{what}: {took:?}");
    assert!(took < LIMIT, "{what} took {took:?}");
}

#[test]
fn domains() {
    let head = "(define (domain d) (:requirements :typing) ";
    for (what, text) in [
        ("types", repeat_piece(&format!("{head}(:types "), "t# - u# ", "))")),
        ("constants", repeat_piece(&format!("{head}(:types t) (:constants "), "c# - t ", "))")),
        ("predicates", repeat_piece(&format!("{head}(:predicates "), "(p# ?x - object) ", "))")),
        (
            "parameters",
            repeat_piece(&format!("{head}(:predicates (p)) (:action a :parameters ("), "?x# ", ")))"),
        ),
        ("actions", repeat_piece(head, "(:action a# :parameters (?x) :effect (q ?x))", ")")),
        ("lost parentheses", repeat_piece(head, "(:action a# :parameters (?x :effect (q ?x))", ")")),
        ("stray parentheses", repeat_piece(head, "(:action a# :parameters (?x)) :effect (q ?x)))", ")")),
        ("sections", repeat_piece(head, "(:predicates (p#))", ")")),
        ("constants undeclared", repeat_piece(&format!("{head}(:action a :effect (and "), "(p c#)", ")))")),
        ("effects", repeat_piece(&format!("{head}(:predicates (p)) (:action a :effect (and "), "(p)", ")))")),
    ] {
        within_limit(what, &text);
    }
}

#[test]
fn problems() {
    let head = "(define (problem p) (:domain d) ";
    for (what, text) in [
        ("objects", repeat_piece(&format!("{head}(:objects "), "o# ", ") (:init) (:goal (and)))")),
        ("facts", repeat_piece(&format!("{head}(:init "), "(p o#) ", ") (:goal (and)))")),
        ("one fact", repeat_piece(&format!("{head}(:init "), "(p) ", ") (:goal (and)))")),
        ("goal", repeat_piece(&format!("{head}(:init) (:goal (and "), "(p o#)", ")))")),
        ("broken facts", repeat_piece(&format!("{head}(:init "), "(p o#\n", ") (:goal (and)))")),
    ] {
        within_limit(what, &text);
    }
}

#[test]
fn rubbish() {
    for (what, text) in [
        ("words", repeat_piece("", "word# ", "")),
        ("open", "(".repeat(BYTES)),
        ("closed", ")".repeat(BYTES)),
        ("pairs", "()".repeat(BYTES / 2)),
        ("definitions", repeat_piece("", "(define (domain d#))", "")),
        ("open definitions", repeat_piece("", "(define (domain d#)\n", "")),
        ("comments", repeat_piece("", "; (define (domain d#)\n", "")),
        ("one comment", repeat_piece(";", "(define (domain d#)", "")),
        ("fences", repeat_piece("", "```\n(:action a#)\n```\n", "")),
        ("lists outside", repeat_piece("", "(:action a#) or ", "")),
        ("question marks", "?".repeat(BYTES)),
        ("variables", repeat_piece("", "?x#", "")),
        ("spaces", format!("{}x", " ".repeat(BYTES))),
        ("accents", "é".repeat(BYTES / 2)),
    ] {
        within_limit(what, &text);
    }
}
