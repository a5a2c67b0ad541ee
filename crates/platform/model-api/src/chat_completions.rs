//! Bodies of OpenAI-compatible chat completions: requests, responses and errors.
//!
//! Connections and batch files share this module, so a request means the same either way.

mod error_text;
mod failure;
mod request;
mod response;

pub use error_text::error_text;
pub use failure::{failure_of_error, failure_of_status, is_refusal_body, malformed_failure};
pub use request::{Dialect, Field, GrammarField, MaxTokensField, request_body};
pub use response::{
    argument_text, called_argument_text, parse_body, read_error, read_logprobs, read_refusal, read_result,
};
