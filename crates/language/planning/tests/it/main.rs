//! Integration tests of the crate, one executable.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod action_mutants;
mod anytime;
mod claims;
mod constructs;
mod cross_check;
mod differential;
mod domains;
mod graph;
mod hde;
mod interface;
mod joint;
mod limits;
mod mutated_texts;
mod numbers;
mod proofs;
mod result_class;
mod several_problems;
mod suites;
mod support;
mod temporal;
mod timed;
mod top_k;
mod unsolvable;
mod validation;
mod walk_goals;
mod walk_methods;
mod walk_races;
mod walks;
mod wishes;
