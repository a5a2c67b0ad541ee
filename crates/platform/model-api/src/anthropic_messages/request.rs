//! The body of a request.

use crate::http::{Reasoning, ReasoningLevel, unsupported};
use planforge_contract::{CompletionRequest, Failure, Message, Speaker};
use serde_json::{Map, Value, json};

/// Options of a request that are not part of its sampling.
#[derive(Debug, Clone, Copy, Default)]
pub struct MessagesDialect {
    /// True marks the prompt for the service's cache.
    pub cache: bool,
    /// The amount of reasoning; the service's default if there is none.
    pub reasoning: Option<Reasoning>,
}

/// The body of a request. Extra fields win over everything but model, messages and `stream`. The interface has no seed, so the
/// request's is not sent.
///
/// # Errors
/// `provider.unsupported` for a missing `max_tokens`, for log-probabilities, and for a temperature beside reasoning.
pub fn request_body(request: &CompletionRequest, dialect: &MessagesDialect) -> Result<Value, Failure> {
    let sampling = &request.sampling;
    let Some(max_tokens) = sampling.max_tokens else {
        return Err(unsupported(
            "Anthropic's interface needs the most tokens of a reply",
            "set `max_tokens` in the `[llm.NAME]` table",
        ));
    };
    if sampling.logprobs == Some(true) {
        return Err(unsupported(
            "Anthropic's interface returns no log-probabilities",
            "remove `logprobs`, or select without the log-likelihood",
        ));
    }
    let reasons =
        dialect.reasoning.is_some_and(|reasoning| reasoning != Reasoning::Level(ReasoningLevel::None));
    if reasons && sampling.temperature.is_some_and(|temperature| temperature != 1.0) {
        return Err(unsupported(
            "Anthropic's interface takes no `temperature` other than 1 beside `reasoning`",
            "set `temperature = 1`, or `reasoning = \"none\"`",
        ));
    }
    let mut body = Map::from_iter([("max_tokens".to_owned(), Value::from(max_tokens))]);
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    put("temperature", sampling.temperature.map(Value::from));
    put("top_p", sampling.top_p.map(Value::from));
    put("stop_sequences", (!sampling.stop.is_empty()).then(|| json!(sampling.stop)));
    let of_system = |message: &&Message| message.role == Speaker::System;
    let (system, turns): (Vec<&Message>, Vec<&Message>) = request.messages.iter().partition(of_system);
    let system: Vec<&str> = system.into_iter().map(|message| message.content.as_str()).collect();
    put("system", (!system.is_empty()).then(|| Value::from(system.join("\n\n"))));
    put("cache_control", dialect.cache.then(|| json!({"type": "ephemeral"})));
    let mut output_config = Map::new();
    match dialect.reasoning {
        None => {}
        Some(Reasoning::Level(ReasoningLevel::None)) => put("thinking", Some(json!({"type": "disabled"}))),
        Some(Reasoning::Level(level)) => {
            put("thinking", Some(json!({"type": "adaptive"})));
            output_config.insert("effort".to_owned(), Value::from(level.name()));
        }
        Some(Reasoning::Tokens(tokens)) => {
            put("thinking", Some(json!({"type": "enabled", "budget_tokens": tokens})));
        }
    }
    if let Some(schema) = &request.schema {
        let format = json!({"type": "json_schema", "schema": schema.schema});
        output_config.insert("format".to_owned(), format);
    }
    put("output_config", (!output_config.is_empty()).then_some(Value::Object(output_config)));
    body.extend(request.extra.clone());
    body.insert("model".to_owned(), Value::from(request.model.clone()));
    body.insert("messages".to_owned(), json!(turns));
    body.insert("stream".to_owned(), Value::Bool(false));
    Ok(Value::Object(body))
}
