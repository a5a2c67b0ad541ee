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
fn repeated(start: &str, piece: &str, end: &str) -> String {
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
        ("types", repeated(&format!("{head}(:types "), "t# - u# ", "))")),
        ("constants", repeated(&format!("{head}(:types t) (:constants "), "c# - t ", "))")),
        ("predicates", repeated(&format!("{head}(:predicates "), "(p# ?x - object) ", "))")),
        ("parameters", repeated(&format!("{head}(:predicates (p)) (:action a :parameters ("), "?x# ", ")))")),
        ("actions", repeated(head, "(:action a# :parameters (?x) :effect (q ?x))", ")")),
        ("lost parentheses", repeated(head, "(:action a# :parameters (?x :effect (q ?x))", ")")),
        ("stray parentheses", repeated(head, "(:action a# :parameters (?x)) :effect (q ?x)))", ")")),
        ("sections", repeated(head, "(:predicates (p#))", ")")),
        ("constants undeclared", repeated(&format!("{head}(:action a :effect (and "), "(p c#)", ")))")),
        ("effects", repeated(&format!("{head}(:predicates (p)) (:action a :effect (and "), "(p)", ")))")),
    ] {
        within_limit(what, &text);
    }
}

#[test]
fn problems() {
    let head = "(define (problem p) (:domain d) ";
    for (what, text) in [
        ("objects", repeated(&format!("{head}(:objects "), "o# ", ") (:init) (:goal (and)))")),
        ("facts", repeated(&format!("{head}(:init "), "(p o#) ", ") (:goal (and)))")),
        ("one fact", repeated(&format!("{head}(:init "), "(p) ", ") (:goal (and)))")),
        ("goal", repeated(&format!("{head}(:init) (:goal (and "), "(p o#)", ")))")),
        ("broken facts", repeated(&format!("{head}(:init "), "(p o#\n", ") (:goal (and)))")),
    ] {
        within_limit(what, &text);
    }
}

#[test]
fn rubbish() {
    for (what, text) in [
        ("words", repeated("", "word# ", "")),
        ("open", "(".repeat(BYTES)),
        ("closed", ")".repeat(BYTES)),
        ("pairs", "()".repeat(BYTES / 2)),
        ("definitions", repeated("", "(define (domain d#))", "")),
        ("open definitions", repeated("", "(define (domain d#)\n", "")),
        ("comments", repeated("", "; (define (domain d#)\n", "")),
        ("one comment", repeated(";", "(define (domain d#)", "")),
        ("fences", repeated("", "```\n(:action a#)\n```\n", "")),
        ("lists outside", repeated("", "(:action a#) or ", "")),
        ("question marks", "?".repeat(BYTES)),
        ("variables", repeated("", "?x#", "")),
        ("spaces", format!("{}x", " ".repeat(BYTES))),
        ("accents", "é".repeat(BYTES / 2)),
    ] {
        within_limit(what, &text);
    }
}
