#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on should stop"
)]

mod answers;
mod anthropic;
mod conformance;
mod gemini;
mod openai {
    mod endpoint;
    mod grammar;
    mod host;
    mod responses;
}
