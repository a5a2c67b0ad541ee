//! MCP server: planforge's tools for agents.
//!
//! Each tool calls a use case of the application layer. A tool gets texts, or files under the roots that the client grants, and reads
//! and writes nothing else. A negative verdict is an answer; an error means that nothing was judged.

mod answers;
mod call;
mod client;
mod folders;
mod limits;
mod prompts;
mod resources;
mod roots;
mod server;
mod session;
mod tools;
mod transport;

pub use server::McpServer;
pub use transport::{HTTP_PATH, MIN_TOKEN_BYTES, serve_http, serve_http_within, serve_stdio};
