//! A provider without a connection: it writes each request as the body of an OpenAI-compatible chat
//! completion or of Anthropic's Messages interface, and reads the answer later.
//!
//! It opens no file. The host keeps pending requests, writes them to batch files, and returns with answers
//! from a batch service, an agent or a person.

mod answer;
mod options;

pub use options::{BatchProviderOptions, BatchService};
pub use planforge_chat_completions::{Field, MaxTokensField};

use planforge_anthropic_messages::MessagesDialect;
use planforge_chat_completions::request_body;
use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure};
use planforge_model_http::{KEY_OPTION, unsupported};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use serde_json::Value;

/// Operations of the batch services that answer the requests.
const CHAT: &str = "chat.completions";
const MESSAGES: &str = "messages";

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
            .secret(KEY_OPTION)
            .server("base_url")
    }

    fn create(options: BatchProviderOptions, _: &Secrets) -> Result<Self, Failure> {
        if options.service == BatchService::Anthropic && !options.omit.is_empty() {
            return Err(unsupported(
                "`omit` is for OpenAI's interface, and `service` is \"anthropic\"",
                "remove `omit`; a setting that is left out of the `[llm.NAME]` table is not sent",
            ));
        }
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
        let (ticket, mut body) = match self.options.service {
            BatchService::Openai => (CHAT, request_body(request, &self.options.dialect())),
            BatchService::Anthropic => (MESSAGES, message_body(request)?),
        };
        // A batch has no streams, and some services refuse a field that they do not know.
        if let Value::Object(fields) = &mut body {
            fields.remove("stream");
        }
        Ok(CompletionResult::Pending { ticket: ticket.to_owned(), body: Some(body) })
    }
}

/// The body of a request to Anthropic. A request for several replies is refused: the missing ones would each need a wave.
fn message_body(request: &CompletionRequest) -> Result<Value, Failure> {
    if request.sampling.n.is_some_and(|n| n > 1) {
        return Err(unsupported(
            "Anthropic's interface returns one reply a request",
            "set `n_per_request = 1` in the `[llm.NAME]` table, so that each sample is a request",
        ));
    }
    planforge_anthropic_messages::request_body(request, &MessagesDialect::default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use planforge_contract::api::NoHost;
    use planforge_contract::{Message, Sampling};
    use serde_json::json;

    fn question() -> CompletionRequest {
        CompletionRequest {
            model: "m".into(),
            messages: vec![Message::system("be brief"), Message::user("hello")],
            sampling: Sampling { max_tokens: Some(64), ..Sampling::default() },
            ..CompletionRequest::default()
        }
    }

    fn provider(table: Value) -> Result<Batch, Failure> {
        Batch::create(serde_json::from_value(table).unwrap(), &Secrets::default())
    }

    #[test]
    fn each_service_has_its_own_body() {
        let written = |table: Value| match provider(table).unwrap().complete(&NoHost, &question()).unwrap() {
            CompletionResult::Pending { ticket, body } => (ticket, body.unwrap()),
            other => panic!("{other:?}"),
        };
        let (ticket, body) = written(json!({}));
        assert_eq!((ticket.as_str(), body["messages"].as_array().unwrap().len()), ("chat.completions", 2));
        let (ticket, body) = written(json!({"service": "anthropic"}));
        assert_eq!(ticket, "messages");
        let wanted = json!({"model": "m", "max_tokens": 64, "system": "be brief", "messages": [{"role": "user", "content": "hello"}]});
        assert_eq!(body, wanted);
    }

    #[test]
    fn what_anthropic_lacks_is_refused_with_the_key_to_set() {
        let several = Sampling { n: Some(4), ..question().sampling };
        let request = CompletionRequest { sampling: several, ..question() };
        let failure =
            provider(json!({"service": "anthropic"})).unwrap().complete(&NoHost, &request).unwrap_err();
        assert!(failure.code == "provider.unsupported" && failure.help.unwrap().contains("n_per_request"));
        let failure = provider(json!({"service": "anthropic", "omit": ["seed"]})).unwrap_err();
        assert!(failure.message.contains("`omit`"), "{failure}");
    }
}
