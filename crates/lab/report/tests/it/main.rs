//! Reports and pictures of states.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod common;
mod pictures;
mod report;
mod states;
mod suites;
