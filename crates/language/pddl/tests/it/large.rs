//! Texts that repeat one construct are read without a panic. `cargo xtask long-tests` measures that time grows with their length.

use crate::large_texts::{large_texts, read_all_ways};

#[test]
fn repeated_constructs_of_every_kind_are_read_in_every_way() {
    for (_, text) in large_texts(1 << 16) {
        read_all_ways(&text);
    }
}

#[test]
fn a_cycle_of_1_000_types_is_found_and_one_of_100_000_is_refused() {
    let cycle = |count: usize| {
        let types: String = (0..count).map(|i| format!("t{i} - t{} ", (i + 1) % count)).collect();
        let text = format!("(define (domain d) (:types {types}) (:predicates (p ?x - t0)))");
        planforge_pddl::parse_domain(&text, planforge_diagnostics::SourceId(0))
    };
    let found = planforge_pddl::check_domain(&cycle(1000).value, planforge_diagnostics::SourceId(0));
    assert!(found.iter().any(|d| d.code == "pddl.type-cycle"));
    assert!(cycle(100_000).diagnostics.iter().any(|d| d.code == "pddl.too-many-types"));
}
