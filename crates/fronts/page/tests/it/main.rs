//! The server over HTTP.

mod bad_input;
mod client;
mod jobs;
mod security;
