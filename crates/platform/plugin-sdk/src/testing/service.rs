//! The published interfaces of model services: bodies of their answers and errors, and checks of requests to them.
//!
//! Shapes and field names are those of the services' own clients: chat completions and Responses from openai-python of 2026-08-21
//! (commit e43b422), Messages from anthropic-sdk-python of 2026-08-07 (commit 009b035), generateContent from python-genai of 2026-08-21
//! (commit 6680718). Nothing here was tried against a live service.

use crate::testing::scripted::{Scripted, ScriptedRequest};
use planforge_contract::Usage;
use serde_json::{Map, Value, json};

/// The interface of a model service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceInterface {
    /// Chat completions of OpenAI and of compatible servers.
    ChatCompletions,
    /// Responses of OpenAI.
    Responses,
    /// Messages of Anthropic.
    Messages,
    /// generateContent of Gemini.
    GenerateContent,
}

/// One part of an answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPart {
    /// A part of the text.
    Text(String),
    /// A part of the reasoning, as far as the service shows it.
    Thought(String),
    /// The call of a function with these arguments.
    Call(Value),
    /// A part of a kind that did not exist when the interface was published.
    Unknown,
}

/// Reason for the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerEnd {
    /// The model was done.
    Done,
    /// The token limit cut it off.
    MaxTokens,
    /// The service's filter ended it.
    Filtered,
}

/// The classes of errors that a service answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceError {
    /// The request is invalid.
    Invalid,
    /// The conversation is longer than the model's context.
    TooLong,
    /// The key is wrong.
    Key,
    /// There is no such model.
    NoModel,
    /// Too many requests; the answer says to wait for two seconds.
    RateLimit,
    /// The service is broken.
    Broken,
    /// The service is overloaded.
    Overloaded,
}

/// Tokens of the prompt that every scripted answer counts.
const PROMPT: u64 = 30;
/// The part of [`PROMPT`] that was read from a cache.
const CACHED: u64 = 20;
/// The part of [`PROMPT`] that was written to a cache.
const WRITTEN: u64 = 4;
/// Tokens of the reply.
const COMPLETION: u64 = 12;
/// The part of [`COMPLETION`] that is reasoning.
const REASONING: u64 = 8;

/// The model that every scripted answer names.
pub const ANSWER_MODEL: &str = "scripted-model-2026-08-01";

impl ServiceInterface {
    /// Every interface.
    pub const ALL: [Self; 4] =
        [Self::ChatCompletions, Self::Responses, Self::Messages, Self::GenerateContent];

    /// The tokens that every scripted answer counts. generateContent does not count those that were written to a cache.
    pub fn answer_usage(self) -> Usage {
        Usage {
            prompt_tokens: Some(PROMPT),
            completion_tokens: Some(COMPLETION),
            cached_tokens: Some(CACHED),
            cache_write_tokens: (self != Self::GenerateContent).then_some(WRITTEN),
            reasoning_tokens: Some(REASONING),
            ..Usage::default()
        }
    }

    /// An answer of status 200.
    pub fn answer(self, parts: &[AnswerPart], end: AnswerEnd) -> Scripted {
        Scripted::raw(200, self.answer_body(parts, end).to_string())
    }

    /// An answer with a text.
    pub fn text(self, text: &str) -> Scripted {
        self.answer(&[AnswerPart::Text(text.to_owned())], AnswerEnd::Done)
    }

    /// The body of an answer.
    pub fn answer_body(self, parts: &[AnswerPart], end: AnswerEnd) -> Value {
        match self {
            Self::ChatCompletions => chat_completion(parts, end),
            Self::Responses => response(parts, end),
            Self::Messages => message(parts, end),
            Self::GenerateContent => generated_content(parts, end),
        }
    }

    /// An answer in which the model or the service refuses the request for this reason.
    pub fn refusal(self, reason: &str) -> Scripted {
        Scripted::raw(200, refusal(self, reason).to_string())
    }

    /// An answer with an error of the service.
    pub fn error(self, error: ServiceError, message: &str) -> Scripted {
        error_answer(self, error, message)
    }

    /// Everything in a request that the published interface does not have.
    pub fn request_violations(self, request: &ScriptedRequest) -> Vec<String> {
        violations(self, request)
    }

    /// The text of the last turn of a request; empty if there is none.
    pub fn question(self, request: &ScriptedRequest) -> String {
        let body = request.json();
        let turns = match self {
            Self::ChatCompletions | Self::Messages => &body["messages"],
            Self::Responses => &body["input"],
            Self::GenerateContent => &body["contents"],
        };
        let last = turns.as_array().and_then(|turns| turns.last()).cloned().unwrap_or_default();
        match self {
            Self::GenerateContent => last.pointer("/parts/0/text").cloned().unwrap_or_default(),
            _ => last["content"].clone(),
        }
        .as_str()
        .unwrap_or_default()
        .to_owned()
    }

    /// The key that a request carries in the interface's header; empty if it carries none.
    pub fn key(self, request: &ScriptedRequest) -> String {
        let header = match self {
            Self::ChatCompletions | Self::Responses => "authorization",
            Self::Messages => "x-api-key",
            Self::GenerateContent => "x-goog-api-key",
        };
        let value = request.header(header).unwrap_or_default();
        value.strip_prefix("Bearer ").unwrap_or(value).to_owned()
    }
}

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
fn chat_completion(parts: &[AnswerPart], end: AnswerEnd) -> Value {
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
fn response(parts: &[AnswerPart], end: AnswerEnd) -> Value {
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
fn message(parts: &[AnswerPart], end: AnswerEnd) -> Value {
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
fn generated_content(parts: &[AnswerPart], end: AnswerEnd) -> Value {
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
fn refusal(interface: ServiceInterface, reason: &str) -> Value {
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
fn error_answer(interface: ServiceInterface, error: ServiceError, message: &str) -> Scripted {
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

/// The type of a field's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldType {
    Text,
    Number,
    /// A whole number, at least 0.
    Count,
    Flag,
    /// A list whose items are not checked.
    List,
    /// A list of objects with these fields.
    ListOf(&'static [Field]),
    /// An object whose fields are not checked.
    Free,
    /// An object with these fields.
    Object(&'static [Field]),
    Any,
}

use FieldType::{Any, Count, Flag, Free, List, ListOf, Number, Object, Text};

/// A field of a request: its name and its type. A name that ends with `!` is required.
type Field = (&'static str, FieldType);

const SCHEMA_FORMAT: &[Field] =
    &[("type!", Text), ("name", Text), ("schema", Free), ("strict", Flag), ("description", Text)];

const CHAT_COMPLETIONS: &[Field] = &[
    ("model!", Text),
    (
        "messages!",
        ListOf(&[
            ("role!", Text),
            ("content", Any),
            ("name", Text),
            ("refusal", Text),
            ("tool_calls", List),
            ("tool_call_id", Text),
            ("audio", Free),
        ]),
    ),
    ("audio", Free),
    ("frequency_penalty", Number),
    ("logit_bias", Free),
    ("logprobs", Flag),
    ("max_completion_tokens", Count),
    ("max_tokens", Count),
    ("metadata", Free),
    ("modalities", List),
    ("moderation", Free),
    ("n", Count),
    ("parallel_tool_calls", Flag),
    ("prediction", Free),
    ("presence_penalty", Number),
    ("prompt_cache_key", Text),
    ("prompt_cache_options", Free),
    ("prompt_cache_retention", Text),
    ("reasoning_effort", Text),
    (
        "response_format",
        Object(&[
            ("type!", Text),
            (
                "json_schema",
                Object(&[("name!", Text), ("schema", Free), ("strict", Flag), ("description", Text)]),
            ),
        ]),
    ),
    ("safety_identifier", Text),
    ("seed", Count),
    ("service_tier", Text),
    ("stop", Any),
    ("store", Flag),
    ("stream", Flag),
    ("stream_options", Free),
    ("temperature", Number),
    ("tool_choice", Any),
    ("tools", List),
    ("top_logprobs", Count),
    ("top_p", Number),
    ("user", Text),
    ("verbosity", Text),
    ("web_search_options", Free),
];

const RESPONSES: &[Field] = &[
    ("model!", Text),
    (
        "input!",
        ListOf(&[
            ("type", Text),
            ("role!", Text),
            ("content!", Any),
            ("phase", Text),
            ("id", Text),
            ("status", Text),
        ]),
    ),
    ("background", Flag),
    ("context_management", List),
    ("conversation", Any),
    ("include", List),
    ("instructions", Text),
    ("max_output_tokens", Count),
    ("max_tool_calls", Count),
    ("metadata", Free),
    ("moderation", Free),
    ("parallel_tool_calls", Flag),
    ("previous_response_id", Text),
    ("prompt", Free),
    ("prompt_cache_key", Text),
    ("prompt_cache_options", Free),
    ("prompt_cache_retention", Text),
    (
        "reasoning",
        Object(&[
            ("effort", Text),
            ("summary", Text),
            ("generate_summary", Text),
            ("mode", Text),
            ("context", Text),
        ]),
    ),
    ("safety_identifier", Text),
    ("service_tier", Text),
    ("store", Flag),
    ("stream", Flag),
    ("stream_options", Free),
    ("temperature", Number),
    ("text", Object(&[("format", Object(SCHEMA_FORMAT)), ("verbosity", Text)])),
    ("tool_choice", Any),
    ("tools", List),
    ("top_logprobs", Count),
    ("top_p", Number),
    ("truncation", Text),
    ("user", Text),
];

const MESSAGES: &[Field] = &[
    ("model!", Text),
    ("messages!", ListOf(&[("role!", Text), ("content!", Any)])),
    ("max_tokens!", Count),
    ("cache_control", Object(&[("type!", Text), ("ttl", Text)])),
    ("container", Any),
    ("inference_geo", Text),
    ("metadata", Object(&[("user_id", Text)])),
    ("output_config", Object(&[("effort", Text), ("format", Object(&[("type!", Text), ("schema!", Free)]))])),
    ("service_tier", Text),
    ("stop_sequences", List),
    ("stream", Flag),
    ("system", Any),
    ("temperature", Number),
    ("thinking", Object(&[("type!", Text), ("budget_tokens", Count), ("display", Text)])),
    ("tool_choice", Free),
    ("tools", List),
    ("top_k", Count),
    ("top_p", Number),
];

const GENERATE_CONTENT: &[Field] = &[
    ("contents!", ListOf(&[("role", Text), ("parts!", List)])),
    ("cachedContent", Text),
    (
        "generationConfig",
        Object(&[
            ("candidateCount", Count),
            ("enableEnhancedCivicAnswers", Flag),
            ("frequencyPenalty", Number),
            ("imageConfig", Free),
            ("logprobs", Count),
            ("maxOutputTokens", Count),
            ("mediaResolution", Text),
            ("presencePenalty", Number),
            ("responseFormat", List),
            ("responseJsonSchema", Free),
            ("responseLogprobs", Flag),
            ("responseMimeType", Text),
            ("responseModalities", List),
            ("responseSchema", Free),
            ("seed", Count),
            ("speechConfig", Free),
            ("stopSequences", List),
            ("temperature", Number),
            (
                "thinkingConfig",
                Object(&[("includeThoughts", Flag), ("thinkingBudget", Number), ("thinkingLevel", Text)]),
            ),
            ("topK", Number),
            ("topP", Number),
        ]),
    ),
    ("safetySettings", List),
    ("serviceTier", Text),
    ("store", Flag),
    ("systemInstruction", Object(&[("role", Text), ("parts!", List)])),
    ("toolConfig", Free),
    ("tools", List),
];

/// Everything in a request that the interface does not have.
fn violations(interface: ServiceInterface, request: &ScriptedRequest) -> Vec<String> {
    let mut found = Vec::new();
    let path = request.path.split('?').next().unwrap_or_default();
    let (fields, right_path) = match interface {
        ServiceInterface::ChatCompletions => (CHAT_COMPLETIONS, path.ends_with("/chat/completions")),
        ServiceInterface::Responses => (RESPONSES, path.ends_with("/responses")),
        ServiceInterface::Messages => (MESSAGES, path.ends_with("/messages")),
        ServiceInterface::GenerateContent => {
            (GENERATE_CONTENT, path.contains("/models/") && path.ends_with(":generateContent"))
        }
    };
    if request.method != "POST" || !right_path {
        found.push(format!("`{} {}` is not a path of the interface", request.method, request.path));
    }
    if interface == ServiceInterface::Messages && request.header("anthropic-version").is_none() {
        found.push("the header `anthropic-version` is missing".to_owned());
    }
    if !request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        found.push("the header `content-type` is not `application/json`".to_owned());
    }
    match request.json() {
        Value::Object(body) => check_object(&body, fields, "", &mut found),
        _ => found.push("the body is not a JSON object".to_owned()),
    }
    found
}

fn check_object(object: &Map<String, Value>, fields: &[Field], at: &str, found: &mut Vec<String>) {
    for (name, value) in object {
        match fields.iter().find(|(field, _)| field.trim_end_matches('!') == name) {
            Some((_, kind)) => check_value(value, *kind, &format!("{at}/{name}"), found),
            None => found.push(format!("the interface has no field `{at}/{name}`")),
        }
    }
    for (field, _) in fields {
        if let Some(required) = field.strip_suffix('!')
            && !object.contains_key(required)
        {
            found.push(format!("the field `{at}/{required}` is missing"));
        }
    }
}

fn check_value(value: &Value, kind: FieldType, at: &str, found: &mut Vec<String>) {
    let fits = match (kind, value) {
        (Any, _) | (_, Value::Null) => true,
        (Text, value) => value.is_string(),
        (Number, value) => value.is_number(),
        (Count, value) => value.is_u64(),
        (Flag, value) => value.is_boolean(),
        (List | ListOf(_), value) => value.is_array(),
        (Free | Object(_), value) => value.is_object(),
    };
    if !fits {
        found.push(format!("the field `{at}` has the wrong type: {value}"));
    }
    match (kind, value) {
        (Object(fields), Value::Object(object)) => check_object(object, fields, at, found),
        (ListOf(fields), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                match item.as_object() {
                    Some(object) => check_object(object, fields, &format!("{at}/{index}"), found),
                    None => found.push(format!("the field `{at}/{index}` is not an object")),
                }
            }
        }
        _ => {}
    }
}
