//! The MCP server: its tools as a client sees them, HTTP, and the generated page.
#![allow(clippy::unwrap_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

mod http;
mod reference_page;
mod solve;
mod support;
mod tools;
