//! A provider without a connection: it writes each request as the body of an OpenAI-compatible chat completion, of OpenAI's
//! Responses or of Anthropic's Messages interface, and reads the answer later.
//!
//! It opens no file. The host keeps pending requests, writes them to batch files, and returns with answers
//! from a batch service, an agent or a person.

pub use planforge_model_api::chat_completions::{Field, MaxTokensField};

use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, FinishReason, Replies, Reply, Usage};
use planforge_model_api::anthropic_messages::{MessagesDialect, read_message};
use planforge_model_api::chat_completions::{Dialect, malformed_failure, read_result};
use planforge_model_api::http::{KEY_OPTION, Reasoning, ReasoningLevel, unsupported};
use planforge_model_api::openai_responses::{ResponsesDialect, read_response};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
            return Ok(read_answer(answer));
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

/// Reads an answer. By hand it is `{"content": "..."}`, or `{"contents": ["...", "..."]}` for several replies to one question;
/// who writes so counts no tokens, so the usage is unknown.
fn read_answer(answer: &str) -> CompletionResult {
    match serde_json::from_str::<Map<String, Value>>(answer) {
        Ok(object) if object.get("type").is_some_and(|kind| kind == "message") => {
            read_message(answer.as_bytes())
        }
        Ok(object) if object.get("object").is_some_and(|kind| kind == "response") => {
            read_response(answer.as_bytes())
        }
        Ok(object) => match by_hand(&object) {
            Some(contents) => of_contents(contents, &object, answer),
            None => read_result(answer.as_bytes()),
        },
        Err(_) => read_result(answer.as_bytes()),
    }
}

/// The replies of a hand-written object; `Some(None)` if they are not texts.
fn by_hand(object: &Map<String, Value>) -> Option<Option<Vec<String>>> {
    if object.contains_key("choices") || object.get("error").is_some_and(|error| !error.is_null()) {
        return None;
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match (object.get("content"), object.get("contents")) {
        (Some(content), _) => Some(text(content).map(|content| vec![content])),
        (None, Some(contents)) => Some(contents.as_array().and_then(|all| all.iter().map(text).collect())),
        (None, None) => None,
    }
}

fn of_contents(contents: Option<Vec<String>>, object: &Map<String, Value>, raw: &str) -> CompletionResult {
    let Some(contents) = contents.filter(|contents| !contents.is_empty()) else {
        let why = "`content` is a text, and `contents` a list of at least one";
        return CompletionResult::ProviderFailure(malformed_failure(200, why, raw.as_bytes()));
    };
    let reply = |content| Reply::new(content, FinishReason::Other);
    CompletionResult::Replies(Replies {
        replies: contents.into_iter().map(reply).collect(),
        usage: Usage::default(),
        model: object.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw: raw.to_owned(),
    })
}

/// Services that answer batch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchService {
    /// OpenAI's Batch API, and servers that have the same interface.
    Openai,
    /// Anthropic's Message Batches.
    Anthropic,
}

/// OpenAI's interfaces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchInterface {
    /// Chat completions.
    #[default]
    Chat,
    /// Responses. It has no `stop` and no `seed`, and gives one reply a request.
    Responses,
}

/// Options of `provider-batch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BatchProviderOptions {
    /// The service whose format the files have, and to which `planforge batch` sends them.
    pub service: BatchService,
    /// The interface whose bodies the requests have (OpenAI).
    pub interface: BatchInterface,
    /// The service's interface as far as `/v1`, for `planforge batch`. Left out: the service's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key, for `planforge batch`. Left out: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`
    /// for the service's own address, and no key for any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The amount that the model reasons before it answers, also as a number of tokens (Anthropic). Left out: the service's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// True marks the prompt for the service's cache (Anthropic). OpenAI caches the beginnings of long prompts by itself.
    pub cache: bool,
    /// The field of chat completions for the most tokens of a reply (OpenAI).
    pub max_tokens_field: MaxTokensField,
    /// Fields of OpenAI's interfaces that are never sent, for services that refuse them.
    pub omit: Vec<Field>,
}

impl Default for BatchProviderOptions {
    fn default() -> Self {
        Self {
            service: BatchService::Openai,
            interface: BatchInterface::Chat,
            base_url: None,
            api_key_env: None,
            reasoning: None,
            cache: false,
            max_tokens_field: MaxTokensField::MaxTokens,
            omit: Vec::new(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use planforge_contract::api::NoHost;
    use planforge_contract::{Message, ProviderFailureClass, Sampling};
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

    fn replies(answer: &str) -> Replies {
        match read_answer(answer) {
            CompletionResult::Replies(replies) => replies,
            other => panic!("{answer}: {other:?}"),
        }
    }

    #[test]
    fn what_is_written_by_hand_has_an_unknown_usage() {
        let one = replies(r#"{"content": "(define)"}"#);
        assert_eq!((one.replies[0].content.as_str(), one.usage), ("(define)", Usage::default()));
        let two = replies(r#"{"contents": ["a", "b"], "model": "Ada"}"#);
        assert_eq!((two.replies.len(), two.model.as_str()), (2, "Ada"));
    }

    #[test]
    fn a_body_of_a_service_is_read_as_if_it_had_come_over_a_connection() {
        let body = r#"{"model": "m", "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1}}"#;
        let read = replies(body);
        assert_eq!((read.replies[0].content.as_str(), read.usage.prompt_tokens), ("hi", Some(3)));
        assert_eq!((read.raw.as_str(), read.replies[0].finish), (body, FinishReason::Stop));
        let refused = replies(r#"{"choices": [{"message": {"content": null, "refusal": "no"}}]}"#);
        assert_eq!(refused.replies[0].finish, FinishReason::ContentFilter);
    }

    #[test]
    fn a_message_is_read_as_from_the_service_itself() {
        let read = replies(
            r#"{"type": "message", "model": "claude-x", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 1}}"#,
        );
        assert_eq!((read.replies[0].content.as_str(), read.usage.prompt_tokens), ("hi", Some(3)));
    }

    #[test]
    fn a_response_is_read_as_from_the_service_itself() {
        let read = replies(
            r#"{"object": "response", "status": "completed", "error": null, "model": "m", "output": [{"type": "message", "content":
                [{"type": "output_text", "text": "hi"}]}], "usage": {"input_tokens": 3, "output_tokens": 1}}"#,
        );
        assert_eq!((read.replies[0].content.as_str(), read.usage.prompt_tokens), ("hi", Some(3)));
    }

    #[test]
    fn what_is_no_answer_is_a_failure_of_its_class() {
        use ProviderFailureClass as C;
        for (answer, class) in [
            (r#"{"choices": []}"#, C::Malformed),
            (r#"{"content": 7}"#, C::Malformed),
            (r#"{"contents": []}"#, C::Malformed),
            (r#"{"contents": ["a", 1]}"#, C::Malformed),
            ("[1]", C::Malformed),
            ("half a b", C::Malformed),
            (r#"{"error": {"message": "maximum context length is 10"}}"#, C::ContextOverflow),
            (r#"{"error": {"message": "busy", "code": 503}, "content": "x"}"#, C::Server),
        ] {
            match read_answer(answer) {
                CompletionResult::ProviderFailure(failure) => assert_eq!(failure.class, class, "{answer}"),
                other => panic!("{answer}: {other:?}"),
            }
        }
    }
}
