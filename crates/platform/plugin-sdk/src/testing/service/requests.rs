//! Checks of requests: the path, the headers, and every field with its type.

use super::ServiceInterface;
use crate::testing::scripted::ScriptedRequest;
use serde_json::{Map, Value};

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
pub(super) fn violations(interface: ServiceInterface, request: &ScriptedRequest) -> Vec<String> {
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
