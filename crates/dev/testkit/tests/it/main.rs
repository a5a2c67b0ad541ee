//! Samples of all documents, and the corpus of the fuzz targets.
#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop"
)]

mod documents;
mod fuzz_corpus;
