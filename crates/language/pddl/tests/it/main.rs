//! Integration tests of the crate, one executable.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests are tests")]

mod diff;
mod extract;
mod large;
mod large_texts;
mod mutate;
mod recovery;
mod roundtrip;
mod suites;
