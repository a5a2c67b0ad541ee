//! MCP server: planforge's tools for agents.
//!
//! The tools are functions over the libraries; [`Backend`] supplies what only the command line has. A tool gets texts, or files under
//! the roots that the client grants, and reads and writes nothing else. A negative verdict is an answer; an error means that nothing
//! was judged.

mod answers;
mod backend;
mod call;
mod client;
mod client_model;
mod codes;
mod folders;
mod http;
mod limits;
mod prompts;
mod reference;
mod reports;
mod resources;
mod roots;
mod runtime;
mod server;
mod stdio;
mod suites;
mod tool;
mod tools;

pub use backend::{Backend, RunModel, RunRequest, RunWatch, ShippedPipeline, TaskModel};
pub use http::{HTTP_PATH, MIN_TOKEN_BYTES, serve_http, serve_http_within};
pub use reference::reference_page;
pub use server::McpServer;
pub use stdio::serve_stdio;
