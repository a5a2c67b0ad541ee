//! Every code is explained, every explanation's example triggers its code, and nothing else is emitted.

use super::*;
use crate::{
    MAX_TEXT_BYTES, TaskSources, check_domain, check_problem, parse_domain, parse_problem, read_bytes,
    read_pddl_bytes,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, render};
use std::collections::BTreeSet;

const SOURCE: SourceId = SourceId(0);

/// The domain that the examples of problems are for.
const PROBLEM_DOMAIN: &str = "(define (domain blocks)
  (:requirements :strips :typing :derived-predicates)
  (:types block)
  (:predicates (on ?x ?y - block) (clear ?x - block) (movable ?x - block) (above ?x ?y - block))
  (:functions (weight ?x - block))
  (:derived (above ?x ?y - block) (on ?x ?y))
  (:action move
    :parameters (?x ?y ?z - block)
    :precondition (and (movable ?x) (on ?x ?y) (clear ?x) (clear ?z))
    :effect (and (on ?x ?z) (clear ?y) (not (on ?x ?y)) (not (clear ?z)))))";

/// The examples that are too long, or not texts, to be written out.
const DESCRIBED: &[&str] = &[
    "pddl.empty",
    "pddl.too-large",
    "pddl.binary",
    "pddl.invalid-utf8",
    "pddl.too-deep",
    "pddl.too-many-findings",
    "pddl.too-many-parameters",
    "pddl.too-many-types",
];

/// Each code with its example.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    CODES.iter().map(|info| {
        let (_, rest) = info.explanation.split_once("\n\nExample:\n\n").unwrap();
        (info.code, rest.rsplit_once("\n\n").unwrap().0)
    })
}

fn of_domain(text: &str) -> Vec<Diagnostic> {
    let parsed = parse_domain(text, SOURCE);
    let mut found = parsed.diagnostics;
    found.extend(check_domain(&parsed.value, SOURCE));
    found
}

fn of_problem(text: &str) -> Vec<Diagnostic> {
    let domain = parse_domain(PROBLEM_DOMAIN, SourceId(1));
    assert_eq!(domain.diagnostics, []);
    let parsed = parse_problem(text, SOURCE);
    let mut found = parsed.diagnostics;
    let sources = TaskSources { domain: SourceId(1), problem: SOURCE };
    found.extend(check_problem(&domain.value, &parsed.value, sources));
    found
}

/// Findings of the examples that are only described.
fn of_described(code: &str) -> Vec<Diagnostic> {
    let refused = |bytes: &[u8]| vec![read_bytes("file", bytes).unwrap_err()];
    match code {
        "pddl.empty" => refused(b" \n"),
        "pddl.too-large" => refused(&vec![b' '; MAX_TEXT_BYTES + 1]),
        "pddl.binary" => refused(b"\x7fELF\x02\x01\x01\x00\x00"),
        "pddl.invalid-utf8" => refused(b"(define\n; f\xfcr\n"),
        "pddl.too-deep" => of_domain(&"(".repeat(100_000)),
        "pddl.too-many-findings" => {
            let facts = "(nonsense)".repeat(2000);
            of_problem(&format!("(define (problem p) (:domain blocks) (:init {facts}) (:goal (and)))"))
        }
        "pddl.too-many-parameters" => {
            let parameters: String = (0..2000).map(|n| format!("?x{n} ")).collect();
            let action = format!("(:action a :parameters ({parameters}) :effect (p))");
            of_domain(&format!("(define (domain d) (:predicates (p)) {action})"))
        }
        "pddl.too-many-types" => {
            let types: String = (0..2000).map(|n| format!("t{} - t{n} ", n + 1)).collect();
            of_domain(&format!("(define (domain d) (:types {types}) (:predicates (p)))"))
        }
        other => panic!("no generator for {other}"),
    }
}

fn findings(code: &str, text: &str) -> Vec<Diagnostic> {
    // Domain files that hold a problem too, or only one.
    let in_domain_file = ["pddl.other-definition", "pddl.wrong-kind"].contains(&code);
    match text {
        _ if DESCRIBED.contains(&code) => of_described(code),
        text if !text.starts_with(['(', ';']) => crate::find_pddl(text, SOURCE).diagnostics,
        text if text.contains("(problem ") && !in_domain_file => of_problem(text),
        text => of_domain(text),
    }
}

#[test]
fn every_example_triggers_its_code_and_only_explained_codes() {
    let known: BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(known.len(), CODES.len(), "a code is explained twice");
    for (code, example) in examples() {
        let found = findings(code, example);
        let codes: BTreeSet<&str> = found.iter().map(|d| d.code.as_ref()).collect();
        assert!(codes.contains(code), "the example of {code} gives {codes:?}");
        let unknown: Vec<_> = codes.difference(&known).collect();
        assert!(unknown.is_empty(), "{unknown:?} are not explained");
    }
}

#[test]
fn every_code_in_the_source_is_explained() {
    let known: BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root];
    let mut seen = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            for literal in std::fs::read_to_string(&path).unwrap().split('"') {
                let is_code = literal.strip_prefix("pddl.").is_some_and(|name| {
                    !name.is_empty()
                        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
                });
                if is_code {
                    seen.insert(literal.to_owned());
                }
            }
        }
    }
    let unexplained: Vec<_> = seen.iter().filter(|code| !known.contains(code.as_str())).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    assert!(seen.len() >= CODES.len());
}

#[test]
fn bad_input_gives_one_clear_diagnostic() {
    for code in ["pddl.empty", "pddl.too-large", "pddl.binary", "pddl.invalid-utf8", "pddl.too-deep"] {
        let found = of_described(code);
        let codes: Vec<&str> = found.iter().map(|d| d.code.as_ref()).collect();
        assert_eq!(codes, [code]);
        assert!(!found[0].help.is_empty(), "{code} says no way out");
    }
    let balanced = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    let codes: Vec<_> = parse_problem(&balanced, SOURCE).diagnostics.into_iter().map(|d| d.code).collect();
    assert_eq!(codes, ["pddl.too-deep"]);
}

#[test]
fn a_wide_either_over_many_names_is_refused_with_the_size_that_it_needs() {
    let types: String = (0..1001).map(|n| format!("t{n} ")).collect();
    let domain = |names: usize| {
        let names: String = (0..names).map(|n| format!("c{n} ")).collect();
        let constants = format!("(:constants {names} - (either {types}))");
        format!("(define (domain d) (:types {types}) {constants} (:predicates (p)))")
    };
    assert_eq!(parse_domain(&domain(999), SOURCE).diagnostics.len(), 1, "there is no action");
    let refused = parse_domain(&domain(1000), SOURCE);
    assert!(refused.value.constants.is_empty());
    let found = refused.diagnostics.iter().find(|d| d.code == "pddl.too-many-types").unwrap();
    assert!(found.message.contains("1000 names 1001 types each") && found.message.contains("1001000 in all"));
}

#[test]
fn the_offset_of_the_first_invalid_byte_is_reported() {
    let found = read_bytes("a.pddl", b"(define\n; f\xfcr\n").unwrap_err();
    assert_eq!(found.message, "a.pddl is not UTF-8: byte 11 (line 2) is 0xfc");
}

#[test]
fn a_latin_1_byte_in_a_comment_is_a_warning_and_elsewhere_an_error() {
    let bytes = b"; \xe9t\xe9 \xc3\xa9t\xc3\xa9\n(define (domain d) ; f\xfcr\n (:predicates (p)))\n";
    let read = read_pddl_bytes("a.pddl", bytes).unwrap();
    assert_eq!(
        read.text,
        "; \u{e9}t\u{e9} \u{e9}t\u{e9}\n(define (domain d) ; f\u{fc}r\n (:predicates (p)))\n"
    );
    let warning = read.warning.unwrap();
    assert!(!warning.is_error());
    assert_eq!(
        warning.message,
        "a.pddl is not UTF-8: byte 2 (line 1) is 0xe9, in a comment, and 2 more bytes"
    );
    assert_eq!(&read.text[warning.primary().unwrap().span.range()], "\u{e9}");
    let refused = read_pddl_bytes("a.pddl", b"; f\xfcr\n(define (domain d\xfc)) ; \xfc\n").unwrap_err();
    assert_eq!(refused.message, "a.pddl is not UTF-8: byte 23 (line 2) is 0xfc");
    assert!(refused.is_error());
    assert_eq!(read_pddl_bytes("a.pddl", "; f\u{fc}r\n".as_bytes()).unwrap().warning, None);
}

/// Rendered diagnostics of every example.
#[test]
fn every_example_renders_as_in_its_snapshot() {
    let mut out = String::new();
    for (code, example) in examples().filter(|(code, _)| !DESCRIBED.contains(code)) {
        let mut sources = SourceMap::single("example.pddl", example);
        sources.add("domain.pddl", PROBLEM_DOMAIN);
        out.push_str(&format!("# {code}\n"));
        out.push_str(&render::all(&findings(code, example), &sources, false));
        out.push('\n');
    }
    insta::assert_snapshot!("examples", out);
}
