//! The server over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

mod bad_input;
mod client;
mod jobs;
mod report;
mod security;
mod tabs;
