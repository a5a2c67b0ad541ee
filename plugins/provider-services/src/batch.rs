//! A provider without a connection: it writes each request as the body of an OpenAI-compatible chat completion, of OpenAI's
//! Responses or of Anthropic's Messages interface, and reads the answer later.
//!
//! It opens no file. The host keeps pending requests, writes them to batch files, and returns with answers
//! from a batch service, an agent or a person.

mod answer;
mod options;

pub use options::{BatchInterface, BatchProviderOptions, BatchService};
pub use planforge_model_api::chat_completions::{Field, MaxTokensField};

use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure};
use planforge_model_api::anthropic_messages::MessagesDialect;
use planforge_model_api::chat_completions::Dialect;
use planforge_model_api::http::{KEY_OPTION, Reasoning, ReasoningLevel, unsupported};
use planforge_model_api::openai_responses::ResponsesDialect;
use planforge_plugin_sdk::{About, Plugin, Secrets};
use serde_json::Value;

/// Operations of the batch services that answer the requests.
const CHAT: &str = "chat.completions";
const RESPONSES: &str = "responses";
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
        if options.service == BatchService::Anthropic && options.interface == BatchInterface::Responses {
            return Err(unsupported(
                "`interface` is for OpenAI, and `service` is \"anthropic\"",
                "remove `interface`; Anthropic has one interface, Messages",
            ));
        }
        Ok(Self { options })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_provider_batch", Provider, Batch);

impl Provider for Batch {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        if let Some(answer) = &request.answer {
            return Ok(answer::read(answer));
        }
        if request.extra.get("stream").is_some_and(|s| *s != Value::Bool(false)) {
            host.log(LogLevel::Warn, "`stream` in `extra_body` is ignored: answers are always read whole");
        }
        let (ticket, mut body) = self.body(request)?;
        // A batch has no streams, and some services refuse a field that they do not know.
        if let Value::Object(fields) = &mut body {
            fields.remove("stream");
        }
        Ok(CompletionResult::Pending { ticket: ticket.to_owned(), body: Some(body) })
    }
}

impl Batch {
    /// The operation of the service that answers a request, and the request's body.
    fn body(&self, request: &CompletionRequest) -> Result<(&'static str, Value), Failure> {
        let BatchProviderOptions { service, interface, reasoning, cache, .. } = self.options;
        let omit = &self.options.omit;
        Ok(match (service, interface) {
            (BatchService::Anthropic, _) => {
                check_one_reply(request, "Anthropic's interface")?;
                let dialect = MessagesDialect { cache, reasoning };
                (MESSAGES, planforge_model_api::anthropic_messages::request_body(request, &dialect)?)
            }
            (BatchService::Openai, BatchInterface::Responses) => {
                check_one_reply(request, "OpenAI's interface Responses")?;
                let reasoning = reasoning.map(Reasoning::level).transpose()?;
                let dialect = ResponsesDialect { omit, reasoning, grammar: None };
                (RESPONSES, planforge_model_api::openai_responses::request_body(request, &dialect)?)
            }
            (BatchService::Openai, BatchInterface::Chat) => {
                let level = reasoning.map(Reasoning::level).transpose()?;
                let dialect = Dialect {
                    max_tokens_field: self.options.max_tokens_field,
                    omit,
                    reasoning: level.map(ReasoningLevel::name),
                    grammar: None,
                };
                (CHAT, planforge_model_api::chat_completions::request_body(request, &dialect))
            }
        })
    }
}

/// Refuses a request for several replies: the missing ones would each need a wave.
fn check_one_reply(request: &CompletionRequest, interface: &str) -> Result<(), Failure> {
    if request.sampling.n.is_some_and(|n| n > 1) {
        return Err(unsupported(
            format!("{interface} returns one reply a request"),
            "set `n_per_request = 1` in the `[llm.NAME]` table, so that each sample is a request",
        ));
    }
    Ok(())
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
        let (ticket, body) = written(json!({"interface": "responses"}));
        assert_eq!(
            (ticket.as_str(), &body["max_output_tokens"], &body["store"]),
            ("responses", &json!(64), &json!(false))
        );
        assert_eq!(body["input"].as_array().unwrap().len(), 2);
        assert_eq!(body.get("stream"), None);
    }

    #[test]
    fn reasoning_and_cache_become_the_fields_of_each_service_or_are_refused() {
        let body = |table: Value| provider(table).unwrap().body(&question()).map(|(_, body)| body);
        let level = |table: Value| {
            let Value::Object(mut table) = table else { panic!("{table}") };
            table.insert("reasoning".into(), "low".into());
            body(table.into()).unwrap()
        };
        assert_eq!(level(json!({}))["reasoning_effort"], "low");
        assert_eq!(level(json!({"interface": "responses"}))["reasoning"]["effort"], "low");
        assert_eq!(level(json!({"service": "anthropic"}))["output_config"]["effort"], "low");
        let tokens = body(json!({"service": "anthropic", "reasoning": 2048, "cache": true})).unwrap();
        assert_eq!(tokens["thinking"]["budget_tokens"], 2048);
        assert_eq!(tokens["cache_control"]["type"], "ephemeral");
        for interface in ["chat", "responses"] {
            let refused = body(json!({"interface": interface, "reasoning": 2048})).unwrap_err();
            assert!(refused.message.contains("number of reasoning tokens"), "{refused}");
        }
    }

    #[test]
    fn what_an_interface_lacks_is_refused_with_the_key_to_set() {
        let several = Sampling { n: Some(4), ..question().sampling };
        let request = CompletionRequest { sampling: several, ..question() };
        for table in [json!({"service": "anthropic"}), json!({"interface": "responses"})] {
            let failure = provider(table).unwrap().complete(&NoHost, &request).unwrap_err();
            assert!(
                failure.code == "provider.unsupported" && failure.help.unwrap().contains("n_per_request")
            );
        }
        let failure = provider(json!({"service": "anthropic", "interface": "responses"})).unwrap_err();
        assert!(failure.message.contains("`interface`"), "{failure}");
        let failure = provider(json!({"service": "anthropic", "omit": ["seed"]})).unwrap_err();
        assert!(failure.message.contains("`omit`"), "{failure}");
    }
}
