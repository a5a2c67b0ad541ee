//! Walks against programs, other code and several mistakes.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop"
)]

mod black_box;
mod reference_code;
mod several_mistakes;
