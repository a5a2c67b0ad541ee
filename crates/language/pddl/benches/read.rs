//! Reading, checking and printing, in bytes a second.
//!
//! The texts are generated; where the shared suites are present, all of their files are read as well.

#![allow(clippy::unwrap_used, reason = "a bench may stop")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use planforge_diagnostics::SourceId;
use planforge_pddl::{check_problem, fix_all, parse_domain, parse_problem, print_problem};
use std::fmt::Write;
use std::path::Path;

fn main() {
    divan::main();
}

const SOURCE: SourceId = SourceId(0);

const DOMAIN: &str = "(define (domain grid)
  (:requirements :strips :typing)
  (:types cell crate)
  (:predicates (next ?a ?b - cell) (at ?c - crate ?x - cell) (free ?x - cell))
  (:action push
    :parameters (?c - crate ?from ?to - cell)
    :precondition (and (at ?c ?from) (next ?from ?to) (free ?to))
    :effect (and (at ?c ?to) (free ?from) (not (at ?c ?from)) (not (free ?to)))))";

/// A grid of `side` by `side` cells, a crate on every tenth: about 100 bytes a cell.
fn problem(side: usize) -> String {
    let mut text = String::from("(define (problem p) (:domain grid)\n  (:objects");
    for cell in 0..side * side {
        let _ = write!(text, " cell-{}-{}", cell / side, cell % side);
    }
    text.push_str(" - cell");
    for crate_ in 0..side * side / 10 {
        let _ = write!(text, " crate{crate_}");
    }
    text.push_str(" - crate)\n  (:init\n");
    for row in 0..side {
        for column in 0..side {
            let _ = writeln!(text, "    (free cell-{row}-{column})");
            if column + 1 < side {
                let _ = writeln!(text, "    (next cell-{row}-{column} cell-{row}-{})", column + 1);
            }
            if row + 1 < side {
                let _ = writeln!(text, "    (next cell-{row}-{column} cell-{}-{column})", row + 1);
            }
        }
    }
    text.push_str("  )\n  (:goal (and (at crate0 cell-0-0))))\n");
    text
}

#[divan::bench(args = [10, 100, 400], sample_count = 20)]
fn read_problem(bencher: Bencher<'_, '_>, side: usize) {
    let text = problem(side);
    bencher.counter(BytesCount::of_str(&text)).bench(|| parse_problem(black_box(&text), SOURCE));
}

#[divan::bench(args = [10, 100, 400], sample_count = 20)]
fn check(bencher: Bencher<'_, '_>, side: usize) {
    let text = problem(side);
    let domain = parse_domain(DOMAIN, SOURCE).value;
    let problem = parse_problem(&text, SOURCE).value;
    let sources = planforge_pddl::TaskSources::default();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| check_problem(black_box(&domain), black_box(&problem), sources));
}

#[divan::bench(args = [10, 100])]
fn print(bencher: Bencher<'_, '_>, side: usize) {
    let text = problem(side);
    let problem = parse_problem(&text, SOURCE).value;
    bencher.counter(BytesCount::of_str(&text)).bench(|| print_problem(black_box(&problem)));
}

#[divan::bench]
fn read_domain(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::of_str(DOMAIN)).bench(|| parse_domain(black_box(DOMAIN), SOURCE));
}

#[divan::bench]
fn fix_lost_parentheses(bencher: Bencher<'_, '_>) {
    let text = DOMAIN.trim_end_matches(')').to_owned();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| fix_all(black_box(&text), planforge_pddl::extract::BlockKind::Domain));
}

/// All files of the shared suites, one after another; nothing where they are absent.
#[divan::bench(sample_count = 20)]
fn read_suites(bencher: Bencher<'_, '_>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites");
    let mut folders: Vec<_> = root.is_dir().then_some(root).into_iter().collect();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "pddl") {
                texts.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        for text in &texts {
            // Which of the two it is shows in the first lines.
            if text.contains("(:domain") || text.contains("(:DOMAIN") {
                black_box(parse_problem(text, SOURCE));
            } else {
                black_box(parse_domain(text, SOURCE));
            }
        }
    });
}
