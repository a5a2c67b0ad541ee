//! Request and response bodies of Anthropic's Messages interface.
//!
//! Connections and batch files share this module, so a request means the same either way.

use crate::chat_completions::{argument_text, malformed_failure, parse_body, read_error};
use crate::finish::{FinishMeaning, meaning_of_finish, outage};
use crate::http::{Reasoning, ReasoningLevel, unsupported};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FinishReason, Message, ProviderFailure, Replies, Reply,
    Speaker, Usage,
};
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

/// Reads a message. Its reasoning is the thought of the reply.
pub fn read_message(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    // The tokens of an answer that cannot be used are billed too.
    let failed =
        |failure: ProviderFailure| CompletionResult::ProviderFailure(failure.with_usage(read_usage(&body)));
    if let Some(failure) = read_error(&body) {
        return failed(failure);
    }
    let reason = body.get("stop_reason").and_then(Value::as_str);
    let meaning = meaning_of_finish(reason);
    if meaning == FinishMeaning::Outage {
        return failed(outage(reason.unwrap_or_default()));
    }
    let Some(blocks) = body.get("content").and_then(Value::as_array) else {
        let why = "it has no list `content`";
        return failed(malformed_failure(200, why, bytes));
    };
    let texts = |kind: &str, field: &str| -> Vec<&Value> {
        let of_kind = blocks.iter().filter(|block| block.get("type").and_then(Value::as_str) == Some(kind));
        of_kind.filter_map(|block| block.get(field)).collect()
    };
    let text: String = texts("text", "text").into_iter().filter_map(Value::as_str).collect();
    let content = match text.is_empty() {
        false => text,
        true => texts("tool_use", "input").into_iter().map(argument_text).collect::<Vec<_>>().join("\n"),
    };
    let finish = meaning.finish();
    let thoughts: Vec<&str> = texts("thinking", "thinking").into_iter().filter_map(Value::as_str).collect();
    let thought = Some(thoughts.join("\n\n")).filter(|text| !text.is_empty());
    let stated = || {
        let details = body.get("stop_details")?;
        ["explanation", "category"].iter().find_map(|field| details.get(field)?.as_str())
    };
    let reply = match stated() {
        Some(reason) if content.is_empty() && finish == FinishReason::ContentFilter => Reply::refused(reason),
        _ => Reply::new(content, finish),
    };
    CompletionResult::Replies(Replies {
        replies: vec![meaning.note(Reply { thought, ..reply })],
        usage: read_usage(&body),
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw: String::from_utf8_lossy(bytes).into_owned(),
    })
}

fn read_usage(body: &Value) -> Usage {
    let tokens = |name: &str| body.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    // Tokens that were written to the cache or read from it are not among the input tokens.
    let (written, cached) = (tokens("cache_creation_input_tokens"), tokens("cache_read_input_tokens"));
    Usage {
        prompt_tokens: tokens("input_tokens").map(|fresh| fresh + written.unwrap_or(0) + cached.unwrap_or(0)),
        completion_tokens: tokens("output_tokens"),
        cached_tokens: cached,
        cache_write_tokens: written,
        reasoning_tokens: body
            .pointer("/usage/output_tokens_details/thinking_tokens")
            .and_then(Value::as_u64),
        ..Usage::default()
    }
}
