//! Texts of any size that repeat one construct, and every way of reading them.
#![allow(unreachable_pub, reason = "xtask includes this file too")]

use planforge_diagnostics::SourceId;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{
    TaskSources, check_domain, check_problem, diff_problems, find_pddl, fix_all, parse_domain, parse_problem,
    print_domain, print_problem,
};

/// Parses, checks, prints, compares, fixes and extracts a text.
pub fn read_all_ways(text: &str) {
    let source = SourceId(0);
    let domain = parse_domain(text, source).value;
    let problem = parse_problem(text, source).value;
    check_domain(&domain, source);
    check_problem(&domain, &problem, TaskSources { domain: source, problem: source });
    print_domain(&domain);
    print_problem(&problem);
    diff_problems(&problem, &problem);
    fix_all(text, BlockKind::Domain);
    find_pddl(text, source);
}

/// Texts of about `bytes` bytes, each with the name of the construct that it repeats.
pub fn large_texts(bytes: usize) -> Vec<(&'static str, String)> {
    // `piece` with its number for `#`, repeated between `start` and `end`.
    let repeat_piece = |start: &str, piece: &str, end: &str| {
        let mut text = String::from(start);
        let mut number = 0;
        while text.len() < bytes {
            text.push_str(&piece.replace('#', &number.to_string()));
            number += 1;
        }
        text + end
    };
    let head = "(define (domain d) (:requirements :typing) ";
    let mut texts = vec![
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
    ];
    let count = bytes / 16;
    let cycle: String = (0..count).map(|i| format!("t{i} - t{} ", (i + 1) % count)).collect();
    texts.push(("types in a cycle", format!("{head}(:types {cycle}) (:predicates (p ?x - t0)))")));
    let head = "(define (problem p) (:domain d) ";
    texts.extend([
        ("objects", repeat_piece(&format!("{head}(:objects "), "o# ", ") (:init) (:goal (and)))")),
        ("facts", repeat_piece(&format!("{head}(:init "), "(p o#) ", ") (:goal (and)))")),
        ("one fact", repeat_piece(&format!("{head}(:init "), "(p) ", ") (:goal (and)))")),
        ("goal", repeat_piece(&format!("{head}(:init) (:goal (and "), "(p o#)", ")))")),
        ("broken facts", repeat_piece(&format!("{head}(:init "), "(p o#\n", ") (:goal (and)))")),
    ]);
    texts.extend([
        ("words", repeat_piece("", "word# ", "")),
        ("open", "(".repeat(bytes)),
        ("closed", ")".repeat(bytes)),
        ("pairs", "()".repeat(bytes / 2)),
        ("definitions", repeat_piece("", "(define (domain d#))", "")),
        ("open definitions", repeat_piece("", "(define (domain d#)\n", "")),
        ("comments", repeat_piece("", "; (define (domain d#)\n", "")),
        ("one comment", repeat_piece(";", "(define (domain d#)", "")),
        ("fences", repeat_piece("", "```\n(:action a#)\n```\n", "")),
        ("lists outside", repeat_piece("", "(:action a#) or ", "")),
        ("question marks", "?".repeat(bytes)),
        ("variables", repeat_piece("", "?x#", "")),
        ("spaces", format!("{}x", " ".repeat(bytes))),
        ("accents", "é".repeat(bytes / 2)),
    ]);
    texts
}
