//! A provider without a connection: it writes each request as the body of an OpenAI-compatible chat
//! completion, and reads the answer later.
//!
//! It opens no file. The host keeps pending requests, writes them to batch files, and returns with answers
//! from a batch service, an agent or a person.

mod answer;
mod options;

pub use options::BatchProviderOptions;
pub use planforge_chat_completions::{Field, MaxTokensField};

use planforge_chat_completions::request_body;
use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use serde_json::Value;

/// The operation of the batch service that answers the requests.
const TICKET: &str = "chat.completions";

/// Questions that are answered later.
#[derive(Debug)]
pub struct Batch {
    options: BatchProviderOptions,
}

impl Plugin for Batch {
    type Options = BatchProviderOptions;

    fn about() -> About {
        About::new("Writes requests to a batch file, which any service, agent or person can answer")
            .deferred()
            .several_replies()
    }

    fn create(options: BatchProviderOptions, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options })
    }
}

planforge_plugin_sdk::export_plugin!(Provider, Batch);

impl Provider for Batch {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        if let Some(answer) = &request.answer {
            return Ok(answer::read(answer));
        }
        if request.extra.get("stream").is_some_and(|s| *s != Value::Bool(false)) {
            host.log(LogLevel::Warn, "`stream` in `extra_body` is ignored: answers are always read whole");
        }
        let mut body = request_body(request, &self.options.dialect());
        // A batch has no streams, and some services refuse a field that they do not know.
        if let Value::Object(fields) = &mut body {
            fields.remove("stream");
        }
        Ok(CompletionResult::Pending { ticket: TICKET.to_owned(), body: Some(body) })
    }
}
