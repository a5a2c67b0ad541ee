//! Representations from text to problem, solved by clingo.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "helpers of tests are tests")]

mod answers;
mod common;
mod library;
mod memory;
mod suites;
