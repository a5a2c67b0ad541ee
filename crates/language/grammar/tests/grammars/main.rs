//! Grammars against the references of the bundled suites and against mutants.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod corpus;
mod kinds;
mod suites;
