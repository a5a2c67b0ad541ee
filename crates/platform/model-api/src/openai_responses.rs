//! Request and response bodies of OpenAI's interface Responses, after its reference as the Python client of 2026-08-21 has it
//! (openai-python, commit e43b422).
//!
//! Connections and batch files share this module, so a request means the same either way.

mod request;
mod response;

pub use request::{GrammarForm, ResponsesDialect, request_body};
pub use response::read_response;
