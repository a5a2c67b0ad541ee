//! A killed evaluation resumes, ends with the same bytes, and pays for nothing twice. `cargo xtask
//! measure-survival` does it at more moments.

use super::support::example;
use planforge_testkit::survival::{Survival, Survivor};
use std::path::Path;

#[test]
fn a_killed_evaluation_resumes_to_the_same_bytes() {
    let suites = example("", "");
    let survival = Survival {
        planforge: Path::new(env!("CARGO_BIN_EXE_planforge")),
        suites: &suites,
        seeds: "1",
        tasks: 2,
        most_kills: 5,
    };
    let mut all: Vec<Survivor> = Vec::new();
    survival.run(5, 7, |survivor| all.push(survivor.clone())).unwrap();
    let kills: usize = all.iter().map(|survivor| survivor.kills.len()).sum();
    assert_eq!(kills, 5);
    assert!(all[0].uninterrupted > 10, "{all:?}");
    assert!(all.iter().all(|survivor| survivor.violations.is_empty()), "{all:#?}");
}
