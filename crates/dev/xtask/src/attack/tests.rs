//! A small part of each attack, with fixed seeds.

use super::validation::{attack_planning, run_top_k};
use super::{Context, Row, fuzz, validation};
use std::path::{Path, PathBuf};

fn small(scale: f64, scratch: &Path) -> Context {
    Context {
        scale,
        seed: 20_261_122,
        val: None,
        planforge: PathBuf::new(),
        suites: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites"),
        scratch: scratch.to_owned(),
    }
}

fn assert_explained(name: &str, row: &Row, fewest: usize) {
    assert_eq!(row.unexplained, Vec::<String>::new(), "{name}: {:?}", row.details(name));
    assert!(row.agreed >= fewest, "{name}: {:?}", row.details(name));
}

#[test]
fn the_validator_agrees_with_an_independent_simulator() {
    let scratch = tempfile::tempdir().unwrap();
    let [row, val] = validation::run(&small(0.011, scratch.path())).unwrap();
    assert_explained("validation", &row, 300);
    assert!(row.counts["valid plans"] > 80 && row.counts["invalid plans"] > 80, "{:?}", row.counts);
    assert_eq!(val.line("VAL"), "| VAL | not run: VAL is not installed | | | |");
}

#[test]
fn the_planner_agrees_with_brute_force() {
    let scratch = tempfile::tempdir().unwrap();
    let row = attack_planning(&small(0.011, scratch.path()));
    assert_explained("planning", &row, 80);
    assert!(row.counts["solvable"] >= 15 && row.counts["unsolvable"] >= 3, "{:?}", row.counts);
}

#[test]
fn top_k_plans_agree_with_an_enumeration() {
    let scratch = tempfile::tempdir().unwrap();
    let row = run_top_k(&small(0.0275, scratch.path()));
    assert_explained("top-k", &row, 20);
    assert!(row.counts["plans compared"] > 50, "{:?}", row.counts);
}

#[test]
fn mutated_texts_cause_no_panic_and_no_call_ignores_its_limits() {
    let scratch = tempfile::tempdir().unwrap();
    let row = fuzz::run(&small(0.003, scratch.path())).unwrap();
    assert_explained("fuzz", &row, 300);
}
