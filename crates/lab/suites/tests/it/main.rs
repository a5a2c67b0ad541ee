//! Suites: generated, paraphrased, imported, and checked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod check;
mod examples;
mod generate;
mod import_actions;
mod ladder;
mod paraphrase;
