//! Bodies of OpenAI-compatible chat completions: what is sent, what an answer says, and what an error means.
//!
//! Whoever carries them, a connection or a file, reads and writes them here, so that a question means the same either way.

mod answer;
mod failure;
mod request;

pub use answer::{Answer, error_text, read_answer, result_of};
pub use failure::{malformed, of_status, of_words};
pub use request::{Dialect, Field, MaxTokensField, request_body};
