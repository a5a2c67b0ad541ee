//! Bodies of answers and errors.

use super::{
    ANSWER_MODEL, AnswerEnd, AnswerPart, CACHED, COMPLETION, PROMPT, REASONING, ServiceError,
    ServiceInterface, WRITTEN,
};
use crate::testing::scripted::Scripted;
use serde_json::{Value, json};

/// Seconds of the time at which every scripted answer was made.
const CREATED: u64 = 1_780_000_000;

fn texts(parts: &[AnswerPart]) -> Option<String> {
    let text = |part: &AnswerPart| match part {
        AnswerPart::Text(text) => Some(text.clone()),
        _ => None,
    };
    let texts: Vec<String> = parts.iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

/// The body of a chat completion. The interface has one text a reply, so parts are joined. `reasoning_content` is the field of compatible
/// servers (vLLM, DeepSeek).
pub(super) fn chat_completion(parts: &[AnswerPart], end: AnswerEnd) -> Value {
    let mut message =
        json!({"role": "assistant", "content": texts(parts), "refusal": null, "annotations": []});
    let mut calls = Vec::new();
    for part in parts {
        match part {
            AnswerPart::Text(_) => {}
            AnswerPart::Thought(thought) => message["reasoning_content"] = json!(thought),
            AnswerPart::Call(arguments) => calls.push(json!({
                "id": "call_1", "type": "function",
                "function": {"name": "answer", "arguments": arguments.to_string()}
            })),
            AnswerPart::Unknown => message["of_next_year"] = json!({"type": "of_next_year"}),
        }
    }
    let reason = match end {
        AnswerEnd::Done if calls.is_empty() => "stop",
        AnswerEnd::Done => "tool_calls",
        AnswerEnd::MaxTokens => "length",
        AnswerEnd::Filtered => "content_filter",
    };
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    chat_body(&message, reason)
}

fn chat_body(message: &Value, reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": CREATED, "model": ANSWER_MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": PROMPT, "completion_tokens": COMPLETION, "total_tokens": PROMPT + COMPLETION,
            "prompt_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": WRITTEN, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": REASONING, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
        },
        "service_tier": "default", "system_fingerprint": null
    })
}

/// The body of a response: reasoning and calls are items of their own, texts are parts of one message.
pub(super) fn response(parts: &[AnswerPart], end: AnswerEnd) -> Value {
    let mut items = Vec::new();
    let mut content = Vec::new();
    for part in parts {
        match part {
            AnswerPart::Text(text) => {
                content.push(json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}));
            }
            AnswerPart::Thought(thought) => items.push(json!({
                "type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": thought}]
            })),
            AnswerPart::Call(arguments) => items.push(json!({
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "answer",
                "arguments": arguments.to_string(), "status": "completed"
            })),
            AnswerPart::Unknown => items.push(json!({"type": "of_next_year", "id": "x_1"})),
        }
    }
    if !content.is_empty() {
        items.push(response_message(&content));
    }
    let (status, details) = match end {
        AnswerEnd::Done => ("completed", Value::Null),
        AnswerEnd::MaxTokens => ("incomplete", json!({"reason": "max_output_tokens"})),
        AnswerEnd::Filtered => ("incomplete", json!({"reason": "content_filter"})),
    };
    response_body(status, &details, &items)
}

fn response_message(content: &[Value]) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content})
}

fn response_body(status: &str, details: &Value, items: &[Value]) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": CREATED, "status": status, "background": false,
        "error": null, "incomplete_details": details, "instructions": null, "max_output_tokens": null,
        "model": ANSWER_MODEL, "output": items, "parallel_tool_calls": true, "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null}, "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": PROMPT,
            "input_tokens_details": {"cached_tokens": CACHED, "cache_write_tokens": WRITTEN},
            "output_tokens": COMPLETION, "output_tokens_details": {"reasoning_tokens": REASONING},
            "total_tokens": PROMPT + COMPLETION
        },
        "metadata": {}
    })
}

/// The body of a message.
pub(super) fn message(parts: &[AnswerPart], end: AnswerEnd) -> Value {
    let block = |part: &AnswerPart| match part {
        AnswerPart::Text(text) => json!({"type": "text", "text": text, "citations": null}),
        AnswerPart::Thought(thought) => json!({"type": "thinking", "thinking": thought, "signature": "c2ln"}),
        AnswerPart::Call(arguments) => {
            json!({"type": "tool_use", "id": "toolu_1", "name": "answer", "input": arguments})
        }
        AnswerPart::Unknown => json!({"type": "of_next_year", "id": "x_1"}),
    };
    let calls = parts.iter().any(|part| matches!(part, AnswerPart::Call(_)));
    let reason = match end {
        AnswerEnd::Done if calls => "tool_use",
        AnswerEnd::Done => "end_turn",
        AnswerEnd::MaxTokens => "max_tokens",
        AnswerEnd::Filtered => "refusal",
    };
    message_body(&parts.iter().map(block).collect::<Vec<_>>(), reason, &Value::Null)
}

fn message_body(blocks: &[Value], reason: &str, details: &Value) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": ANSWER_MODEL, "content": blocks,
        "stop_reason": reason, "stop_sequence": null, "stop_details": details, "container": null,
        // The tokens of the cache are not among the input tokens.
        "usage": {
            "input_tokens": PROMPT - CACHED - WRITTEN, "cache_creation_input_tokens": WRITTEN,
            "cache_read_input_tokens": CACHED, "output_tokens": COMPLETION,
            "output_tokens_details": {"thinking_tokens": REASONING}, "service_tier": "standard"
        }
    })
}

/// The body of generated content.
pub(super) fn generated_content(parts: &[AnswerPart], end: AnswerEnd) -> Value {
    let part = |part: &AnswerPart| match part {
        AnswerPart::Text(text) => json!({"text": text}),
        AnswerPart::Thought(thought) => json!({"text": thought, "thought": true}),
        AnswerPart::Call(arguments) => json!({"functionCall": {"name": "answer", "args": arguments}}),
        AnswerPart::Unknown => json!({"ofNextYear": {"id": "x_1"}}),
    };
    let reason = match end {
        AnswerEnd::Done => "STOP",
        AnswerEnd::MaxTokens => "MAX_TOKENS",
        AnswerEnd::Filtered => "SAFETY",
    };
    let parts: Vec<Value> = parts.iter().map(part).collect();
    let candidate = json!({
        "content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0, "safetyRatings": []
    });
    content_body(&json!({"candidates": [candidate]}))
}

fn content_body(own: &Value) -> Value {
    let mut body = json!({
        "modelVersion": ANSWER_MODEL, "responseId": "r_1",
        // Reasoning is not among the candidates' tokens.
        "usageMetadata": {
            "promptTokenCount": PROMPT, "cachedContentTokenCount": CACHED,
            "candidatesTokenCount": COMPLETION - REASONING, "thoughtsTokenCount": REASONING,
            "totalTokenCount": PROMPT + COMPLETION
        }
    });
    if let (Some(body), Some(own)) = (body.as_object_mut(), own.as_object()) {
        body.extend(own.clone());
    }
    body
}

/// The body of an answer that refuses the request.
pub(super) fn refusal(interface: ServiceInterface, reason: &str) -> Value {
    match interface {
        ServiceInterface::ChatCompletions => chat_body(
            &json!({"role": "assistant", "content": null, "refusal": reason, "annotations": []}),
            "stop",
        ),
        ServiceInterface::Responses => {
            let content = [json!({"type": "refusal", "refusal": reason})];
            response_body("completed", &Value::Null, &[response_message(&content)])
        }
        ServiceInterface::Messages => {
            let details = json!({"type": "refusal", "category": "cyber", "explanation": reason});
            message_body(&[], "refusal", &details)
        }
        ServiceInterface::GenerateContent => {
            let feedback = json!({"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": reason, "safetyRatings": []});
            content_body(&json!({"promptFeedback": feedback}))
        }
    }
}

/// An answer with an error.
pub(super) fn error(interface: ServiceInterface, error: ServiceError, message: &str) -> Scripted {
    use ServiceError as E;
    let (status, openai, anthropic, gemini) = match error {
        E::Invalid => (400, ("invalid_request_error", None), "invalid_request_error", "INVALID_ARGUMENT"),
        E::TooLong => (
            400,
            ("invalid_request_error", Some("context_length_exceeded")),
            "invalid_request_error",
            "INVALID_ARGUMENT",
        ),
        E::Key => (
            401,
            ("invalid_request_error", Some("invalid_api_key")),
            "authentication_error",
            "UNAUTHENTICATED",
        ),
        E::NoModel => {
            (404, ("invalid_request_error", Some("model_not_found")), "not_found_error", "NOT_FOUND")
        }
        E::RateLimit => {
            (429, ("requests", Some("rate_limit_exceeded")), "rate_limit_error", "RESOURCE_EXHAUSTED")
        }
        E::Broken => (500, ("server_error", None), "api_error", "INTERNAL"),
        E::Overloaded => (503, ("server_error", None), "overloaded_error", "UNAVAILABLE"),
    };
    // Anthropic has a status of its own for overload.
    let is_anthropic = interface == ServiceInterface::Messages;
    let status = if is_anthropic && error == E::Overloaded { 529 } else { status };
    let body = match interface {
        ServiceInterface::ChatCompletions | ServiceInterface::Responses => {
            json!({"error": {"message": message, "type": openai.0, "param": null, "code": openai.1}})
        }
        ServiceInterface::Messages => {
            json!({"type": "error", "error": {"type": anthropic, "message": message}, "request_id": "req_1"})
        }
        ServiceInterface::GenerateContent => {
            json!({"error": {"code": status, "message": message, "status": gemini}})
        }
    };
    let answer = Scripted::raw(status, body.to_string());
    if error == E::RateLimit { answer.header("retry-after", "2") } else { answer }
}
