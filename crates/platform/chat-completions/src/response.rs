//! Reading of a response body of status 200.

use crate::error_text::error_text;
use crate::failure;
use planforge_contract::{
    CompletionResult, FinishReason, ProviderFailure, Replies, Reply, TokenLogprob, Usage,
};
use serde_json::{Map, Value};

/// Reads the body of a response of status 200.
pub fn read_result(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    match read_response(&body, String::from_utf8_lossy(bytes).into_owned()) {
        Ok(replies) => CompletionResult::Replies(replies),
        Err(Unread::Error(error)) => {
            let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            CompletionResult::ProviderFailure(failure::failure_of_error(status, error))
        }
        Err(Unread::Malformed(why)) => {
            CompletionResult::ProviderFailure(failure::malformed_failure(200, &why, bytes))
        }
    }
}

/// Parses the body of a response of status 200 as JSON.
///
/// # Errors
/// A malformed body.
pub fn parse_body(bytes: &[u8]) -> Result<Value, ProviderFailure> {
    serde_json::from_slice(bytes).map_err(|e| failure::malformed_failure(200, &e.to_string(), bytes))
}

/// A body without a completion.
#[derive(Debug, Clone, PartialEq)]
enum Unread<'a> {
    /// An error object where a completion should be, as some proxies send it.
    Error(&'a Value),
    /// Anything else, with the reason.
    Malformed(String),
}

/// The reply that an error object makes whose code says that the content was refused.
pub fn read_refusal(error: &Value, raw: String) -> Option<Replies> {
    failure::is_refusal(error).then(|| Replies {
        replies: vec![Reply::new(error_text(error), FinishReason::ContentFilter)],
        usage: Usage::default(),
        model: String::new(),
        raw,
    })
}

/// Reads a completion, tolerant of what servers leave out.
fn read_response(body: &Value, raw: String) -> Result<Replies, Unread<'_>> {
    if let Some(error) = body.get("error").filter(|e| !e.is_null()) {
        return read_refusal(error, raw).ok_or(Unread::Error(error));
    }
    let Some(choices) = body.get("choices").and_then(Value::as_array) else {
        return Err(Unread::Malformed("it has no list `choices`".to_owned()));
    };
    if choices.is_empty() {
        return Err(Unread::Malformed("its list `choices` is empty".to_owned()));
    }
    let mut replies = Vec::with_capacity(choices.len());
    for (place, choice) in choices.iter().enumerate() {
        let index = choice.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
        match read_choice(choice) {
            Some(reply) => replies.push((index, reply)),
            None => return Err(Unread::Malformed(format!("choice {place} has no message"))),
        }
    }
    replies.sort_by_key(|(index, _)| *index);
    let tokens = |name: &str| body.get("usage").and_then(|u| u.get(name)).and_then(Value::as_u64);
    Ok(Replies {
        replies: replies.into_iter().map(|(_, reply)| reply).collect(),
        usage: Usage {
            prompt_tokens: tokens("prompt_tokens"),
            completion_tokens: tokens("completion_tokens"),
            ..Usage::default()
        },
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw,
    })
}

fn read_choice(choice: &Value) -> Option<Reply> {
    let message = choice.get("message")?.as_object()?;
    let mut finish = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("stop" | "eos" | "tool_calls" | "function_call") => FinishReason::Stop,
        Some("length" | "max_tokens") => FinishReason::Length,
        Some("content_filter") => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    };
    let content = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        // Some servers send a list of parts.
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|p| p.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    };
    let content = match message.get("refusal").and_then(Value::as_str) {
        Some(refusal) if content.is_empty() => {
            finish = FinishReason::ContentFilter;
            refusal.to_owned()
        }
        _ if content.is_empty() => called_text(message),
        _ => content,
    };
    let logprobs = choice.get("logprobs").and_then(read_logprobs);
    Some(Reply { logprobs, ..Reply::new(content, finish) })
}

/// The text in the calls of tools; empty if there are none.
fn called_text(message: &Map<String, Value>) -> String {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let written = calls.filter_map(|call| {
        let of_function = call.get("function").and_then(|function| function.get("arguments"));
        let of_custom = call.get("custom").and_then(|custom| custom.get("input"));
        of_function.or(of_custom).map(called_argument_text)
    });
    written.collect::<Vec<_>>().join("\n")
}

/// The text that a model wrote as the arguments of a tool, which may be JSON in a string.
pub fn called_argument_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(parsed) => argument_text(&parsed),
            Err(_) => text.clone(),
        },
        _ => argument_text(arguments),
    }
}

/// The text that a model wrote as the arguments of a tool: the only argument if it is a text, else the arguments as JSON.
pub fn argument_text(arguments: &Value) -> String {
    let only = arguments.as_object().filter(|all| all.len() == 1).and_then(|all| all.values().next());
    match only.unwrap_or(arguments) {
        Value::String(text) => text.clone(),
        _ => arguments.to_string(),
    }
}

/// `{content: [{token, logprob}]}`, or the older `{tokens: [...], token_logprobs: [...]}`.
pub fn read_logprobs(logprobs: &Value) -> Option<Vec<TokenLogprob>> {
    if let Some(content) = logprobs.get("content").and_then(Value::as_array) {
        return content
            .iter()
            .map(|t| {
                let token = t.get("token")?.as_str()?.to_owned();
                Some(TokenLogprob { token, logprob: t.get("logprob")?.as_f64()? })
            })
            .collect();
    }
    let tokens = logprobs.get("tokens")?.as_array()?;
    let values = logprobs.get("token_logprobs")?.as_array()?;
    if tokens.len() != values.len() {
        return None;
    }
    tokens
        .iter()
        .zip(values)
        .map(|(t, v)| Some(TokenLogprob { token: t.as_str()?.to_owned(), logprob: v.as_f64()? }))
        .collect()
}
