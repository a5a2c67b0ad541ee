//! Choice of a model, calls, caps, retries and the record.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop"
)]

mod asking;
mod budget;
mod common;
mod deferred;
mod fallback;
mod mix;
mod record;
