//! Reading of a response body of status 200.

use crate::chat_completions::error_text::error_text;
use crate::chat_completions::failure;
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
            CompletionResult::ProviderFailure(failure::failure_of_error(status_of(error), error))
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

/// The failure that a body of status 200 states in place of an answer, as some proxies do; `None` if it states none.
pub fn read_error(body: &Value) -> Option<ProviderFailure> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    Some(failure::failure_of_error(status_of(error), error))
}

/// The status in an error object.
fn status_of(error: &Value) -> Option<u16> {
    error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok())
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
        replies: vec![Reply::refused(error_text(error))],
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
    let tokens = |path: &str| body.pointer(&format!("/usage/{path}")).and_then(Value::as_u64);
    Ok(Replies {
        replies: replies.into_iter().map(|(_, reply)| reply).collect(),
        usage: Usage {
            prompt_tokens: tokens("prompt_tokens"),
            completion_tokens: tokens("completion_tokens"),
            cached_tokens: tokens("prompt_tokens_details/cached_tokens"),
            cache_write_tokens: tokens("prompt_tokens_details/cache_write_tokens"),
            reasoning_tokens: tokens("completion_tokens_details/reasoning_tokens"),
            ..Usage::default()
        },
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw,
    })
}

fn read_choice(choice: &Value) -> Option<Reply> {
    let message = choice.get("message")?.as_object()?;
    let finish = match choice.get("finish_reason").and_then(Value::as_str) {
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
    let logprobs = choice.get("logprobs").and_then(read_logprobs);
    let field = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let thought = field("reasoning_content").or_else(|| field("reasoning")).map(str::to_owned);
    let (thought, content) = match (thought, split_thought(&content)) {
        (None, Some((thought, rest))) => (Some(thought), rest),
        (thought, _) => (thought, content),
    };
    let reply = match message.get("refusal").and_then(Value::as_str) {
        Some(refusal) if content.is_empty() => Reply::refused(refusal),
        _ if content.is_empty() => Reply::new(called_text(message), finish),
        _ => Reply::new(content, finish),
    };
    Some(Reply { logprobs, thought, ..reply })
}

/// Splits `<think>thought</think>` from the beginning of a text. A server's template may open the thought, so that the
/// text begins inside of it. A text that is not closed, or has nothing behind it, is left whole: it may hold the answer.
fn split_thought(content: &str) -> Option<(String, String)> {
    let (before, rest) = content.split_once("</think>")?;
    let thought = match before.split_once("<think>") {
        Some((opening, thought)) if opening.trim().is_empty() => thought,
        Some(_) => return None,
        None => before,
    };
    let rest = rest.trim_start();
    (!rest.is_empty()).then(|| (thought.trim().to_owned(), rest.to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn replies(message: Value, usage: Value) -> Replies {
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
        match read_result(body.to_string().as_bytes()) {
            CompletionResult::Replies(replies) => replies,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_thought_of_a_reply_is_apart_from_its_content() {
        for (message, thought, content) in [
            (json!({"content": "(and)"}), None, "(and)"),
            (json!({"content": "(and)", "reasoning_content": "hm"}), Some("hm"), "(and)"),
            (json!({"content": "(and)", "reasoning": "hm", "reasoning_content": null}), Some("hm"), "(and)"),
            (json!({"content": "\n<think>\nhm\n</think>\n\n(and)"}), Some("hm"), "(and)"),
            (json!({"content": "hm\n</think>\n(and)"}), Some("hm"), "(and)"),
            // Nothing is left out that may hold the answer.
            (json!({"content": "<think>(and)"}), None, "<think>(and)"),
            (json!({"content": "<think>(and)</think>"}), None, "<think>(and)</think>"),
            (json!({"content": "(and) <think>hm</think> (or)"}), None, "(and) <think>hm</think> (or)"),
        ] {
            let replies = replies(message.clone(), json!({}));
            assert_eq!(replies.replies[0].thought.as_deref(), thought, "{message}");
            assert_eq!(replies.replies[0].content, content, "{message}");
        }
    }

    #[test]
    fn cached_and_reasoning_tokens_are_counted_where_the_server_names_them() {
        let usage = json!({
            "prompt_tokens": 2000, "completion_tokens": 300, "total_tokens": 2300,
            "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 500, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 256}
        });
        let expected = Usage {
            prompt_tokens: Some(2000),
            completion_tokens: Some(300),
            cached_tokens: Some(1024),
            cache_write_tokens: Some(500),
            reasoning_tokens: Some(256),
            ..Usage::default()
        };
        assert_eq!(replies(json!({"content": "a"}), usage).usage, expected);
        let plain =
            replies(json!({"content": "a"}), json!({"prompt_tokens": 3, "prompt_tokens_details": null}));
        assert_eq!(plain.usage, Usage { prompt_tokens: Some(3), ..Usage::default() });
    }
}
