//! Reading of a response body of status 200.

use crate::chat_completions::{argument_text, malformed_failure, parse_body, read_error};
use planforge_contract::{CompletionResult, FinishReason, Replies, Reply, Usage};
use serde_json::Value;

/// Reads a message. Its reasoning is the thought of the reply.
pub fn read_message(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    if let Some(failure) = read_error(&body) {
        return CompletionResult::ProviderFailure(failure);
    }
    let Some(blocks) = body.get("content").and_then(Value::as_array) else {
        let why = "it has no list `content`";
        return CompletionResult::ProviderFailure(malformed_failure(200, why, bytes));
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
    let finish = match body.get("stop_reason").and_then(Value::as_str) {
        Some("end_turn" | "stop_sequence" | "tool_use") => FinishReason::Stop,
        Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
        Some("refusal") => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    };
    let tokens = |name: &str| body.get("usage").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    // Tokens that were written to the cache or read from it are not among the input tokens.
    let (written, cached) = (tokens("cache_creation_input_tokens"), tokens("cache_read_input_tokens"));
    let usage = Usage {
        prompt_tokens: tokens("input_tokens").map(|fresh| fresh + written.unwrap_or(0) + cached.unwrap_or(0)),
        completion_tokens: tokens("output_tokens"),
        cached_tokens: cached,
        cache_write_tokens: written,
        reasoning_tokens: body
            .pointer("/usage/output_tokens_details/thinking_tokens")
            .and_then(Value::as_u64),
        ..Usage::default()
    };
    let thoughts: Vec<&str> = texts("thinking", "thinking").into_iter().filter_map(Value::as_str).collect();
    let thought = Some(thoughts.join("\n\n")).filter(|text| !text.is_empty());
    let reason = || {
        let details = body.get("stop_details")?;
        ["explanation", "category"].iter().find_map(|field| details.get(field)?.as_str())
    };
    let reply = match reason() {
        Some(reason) if content.is_empty() && finish == FinishReason::ContentFilter => Reply::refused(reason),
        _ => Reply::new(content, finish),
    };
    CompletionResult::Replies(Replies {
        replies: vec![Reply { thought, ..reply }],
        usage,
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw: String::from_utf8_lossy(bytes).into_owned(),
    })
}
