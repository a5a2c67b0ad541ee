//! Pipelines over scripted plugins: what files may say, what is read of suites, and what runs do.

// Helpers outside of #[test] are no production code either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod action_texts;
mod budget;
mod budget_branches;
mod check;
mod check_budget;
mod check_capabilities;
mod common;
mod deferred;
mod determinism;
mod fan_out;
mod full_disk;
mod ivml;
mod leaks;
mod mixing;
mod obfuscate;
mod pictures;
mod refine;
mod runner;
mod suites;
