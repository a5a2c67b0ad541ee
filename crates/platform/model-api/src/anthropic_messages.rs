//! Request and response bodies of Anthropic's Messages interface.
//!
//! Connections and batch files share this module, so a request means the same either way.

mod request;
mod response;

pub use request::{MessagesDialect, request_body};
pub use response::read_message;
