//! The server over HTTP.

mod client;
mod security;
