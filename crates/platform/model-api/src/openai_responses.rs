//! Request and response bodies of OpenAI's interface Responses, after its reference as the Python client of 2026-08-21 has it
//! (openai-python, commit e43b422).
//!
//! Connections and batch files share this module, so a request means the same either way.

use crate::chat_completions::{
    Field, called_argument_text, failure_of_error, malformed_failure, parse_body, read_logprobs, read_refusal,
};
use crate::finish::{FinishMeaning, meaning_of_finish, outage};
use crate::http::{ReasoningLevel, unsupported};
use planforge_contract::{
    CompletionRequest, CompletionResult, Constraint, Failure, FinishReason, Message, ProviderFailure,
    Replies, Reply, Speaker, TokenLogprob, Usage,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Name of the tool or schema of a constrained reply.
const ANSWER: &str = "answer";

/// Options of a request that are not part of its sampling.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResponsesDialect<'a> {
    /// Fields that are never sent.
    pub omit: &'a [Field],
    /// The amount of reasoning; the service's default if there is none.
    pub reasoning: Option<ReasoningLevel>,
    /// The form in which the service enforces the grammar of a reply.
    pub grammar: Option<GrammarForm>,
}

/// Forms of the grammar of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarForm {
    /// A custom tool that has to be called.
    CustomTool,
    /// A JSON schema of the reply.
    JsonSchema,
}

/// The body of a request. Extra fields win over everything but model, input and `stream`; those of `reasoning` and `text` are
/// merged. The interface has no seed, so the request's is not sent, and no number of replies, so the host asks again.
///
/// # Errors
/// `provider.unsupported` for `stop`.
pub fn request_body(request: &CompletionRequest, dialect: &ResponsesDialect<'_>) -> Result<Value, Failure> {
    let (sampling, omit) = (&request.sampling, dialect.omit);
    if !sampling.stop.is_empty() && !omit.contains(&Field::Stop) {
        return Err(unsupported(
            "OpenAI's interface Responses has no `stop`",
            "remove `stop` from the `[llm.NAME]` table, or set `interface = \"chat\"`",
        ));
    }
    let scored = sampling.logprobs == Some(true) && !omit.contains(&Field::Logprobs);
    // The service keeps responses for 30 days unless it is told not to.
    let mut body = Map::from_iter([("store".to_owned(), Value::Bool(false))]);
    if scored {
        body.insert("include".to_owned(), json!(["message.output_text.logprobs"]));
    }
    if let Some(tokens) = sampling.max_tokens.filter(|_| !omit.contains(&Field::MaxTokens)) {
        body.insert("max_output_tokens".to_owned(), Value::from(tokens));
    }
    if let Some(level) = dialect.reasoning {
        body.insert("reasoning".to_owned(), json!({"effort": level.name()}));
    }
    if let Some(schema) = &request.schema {
        body.insert("text".to_owned(), schema_field(&schema.name, &schema.schema));
    }
    for (field, name, value) in
        [(Field::Temperature, "temperature", sampling.temperature), (Field::TopP, "top_p", sampling.top_p)]
    {
        if let Some(value) = value.filter(|_| !omit.contains(&field)) {
            body.insert(name.to_owned(), Value::from(value));
        }
    }
    if let Some(constraint) = &request.constraint {
        body.extend(constraint_fields(constraint, dialect.grammar));
    }
    for (name, value) in request.extra.clone() {
        match (body.get_mut(&name), value) {
            (Some(Value::Object(own)), Value::Object(extra)) if ["reasoning", "text"].contains(&&*name) => {
                own.extend(extra);
            }
            (_, value) => drop(body.insert(name, value)),
        }
    }
    body.insert("model".to_owned(), Value::from(request.model.as_str()));
    body.insert("input".to_owned(), request.messages.iter().map(item).collect());
    body.insert("stream".to_owned(), Value::Bool(false));
    Ok(Value::Object(body))
}

/// The value of `text` that asks for a reply of a schema.
fn schema_field(name: &str, schema: &impl Serialize) -> Value {
    json!({"format": {"type": "json_schema", "name": name, "schema": schema, "strict": true}})
}

/// The fields that enforce a grammar: a custom tool that has to be called, whose input is the reply, or a JSON schema.
fn constraint_fields(constraint: &Constraint, grammar: Option<GrammarForm>) -> Map<String, Value> {
    let fields = match (grammar, &constraint.schema) {
        (Some(GrammarForm::CustomTool), _) => json!({
            "tools": [{
                "type": "custom",
                "name": ANSWER,
                "description": "Takes the whole answer.",
                "format": {"type": "grammar", "syntax": "lark", "definition": constraint.lark},
            }],
            "tool_choice": {"type": "custom", "name": ANSWER},
            "parallel_tool_calls": false,
        }),
        (Some(GrammarForm::JsonSchema), Some(schema)) => json!({"text": schema_field(ANSWER, schema)}),
        _ => Value::Null,
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A turn. System turns stay where they are in the conversation.
fn item(message: &Message) -> Value {
    let role = match message.role {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    json!({"type": "message", "role": role, "content": message.content})
}

/// Reads a response.
pub fn read_response(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    // The tokens of an answer that cannot be used are billed too.
    let failed =
        |failure: ProviderFailure| CompletionResult::ProviderFailure(failure.with_usage(read_usage(&body)));
    let raw = || String::from_utf8_lossy(bytes).into_owned();
    if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
        return match read_refusal(error, raw()) {
            Some(refused) => CompletionResult::Replies(Replies {
                model: model_of(&body),
                usage: read_usage(&body),
                ..refused
            }),
            None => failed(failure_of_error(meant_status(error), error)),
        };
    }
    let malformed = |why: &str| failed(malformed_failure(200, why, bytes));
    let Some(items) = body.get("output").and_then(Value::as_array) else {
        return malformed("it has no list `output`");
    };
    let reason = match text_of(&body, "status") {
        Some("incomplete") => body.pointer("/incomplete_details/reason").and_then(Value::as_str),
        Some(status @ ("failed" | "cancelled" | "queued" | "in_progress")) => {
            return malformed(&format!("its status is `{status}`"));
        }
        status => status,
    };
    let meaning = meaning_of_finish(reason);
    if meaning == FinishMeaning::Outage {
        return failed(outage(reason.unwrap_or_default()));
    }
    let reply = read_items(items, meaning.finish());
    CompletionResult::Replies(Replies {
        replies: vec![meaning.note(reply)],
        usage: read_usage(&body),
        model: model_of(&body),
        raw: raw(),
    })
}

/// The HTTP status that an error object means: its own, or that of its code.
fn meant_status(error: &Value) -> Option<u16> {
    match error.get("code")? {
        Value::String(code) => Some(match code.as_str() {
            "rate_limit_exceeded" => 429,
            "server_error" | "vector_store_timeout" => 500,
            _ => 400,
        }),
        code => u16::try_from(code.as_u64()?).ok(),
    }
}

/// The reply in the items of a response: the text of its messages, else its refusal, else the arguments of called tools.
fn read_items(items: &[Value], finish: FinishReason) -> Reply {
    let of_type = |kind: &'static str| items.iter().filter(move |item| text_of(item, "type") == Some(kind));
    // Commentary precedes the answer, as a thought does.
    let parts: Vec<&Value> = of_type("message")
        .filter(|message| text_of(message, "phase") != Some("commentary"))
        .filter_map(|message| message.get("content")?.as_array())
        .flatten()
        .collect();
    let texts = |kind: &str, field: &str| -> String {
        let of_kind = parts.iter().filter(|part| text_of(part, "type") == Some(kind));
        of_kind.filter_map(|part| text_of(part, field)).collect()
    };
    let (text, refusal) = (texts("output_text", "text"), texts("refusal", "refusal"));
    let reply = match (text.is_empty(), refusal.is_empty()) {
        (false, _) => Reply::new(text, finish),
        (true, false) => Reply::refused(refusal),
        (true, true) => Reply::new(called_text(items), finish),
    };
    Reply { logprobs: token_logprobs(&parts), thought: read_thought(items), ..reply }
}

/// The summaries of the reasoning items, or their texts where a server gives these; absent if there are none.
fn read_thought(items: &[Value]) -> Option<String> {
    let of_item = |item: &Value| -> Vec<String> {
        let texts = |list: &str| -> Vec<String> {
            let parts = item.get(list).and_then(Value::as_array).into_iter().flatten();
            parts.filter_map(|part| text_of(part, "text").map(str::to_owned)).collect()
        };
        let summary = texts("summary");
        if summary.is_empty() { texts("content") } else { summary }
    };
    let reasoning = items.iter().filter(|item| text_of(item, "type") == Some("reasoning"));
    let thought = reasoning.flat_map(of_item).collect::<Vec<_>>().join("\n\n");
    (!thought.is_empty()).then_some(thought)
}

/// The text in the calls of functions and custom tools; empty if there are none.
fn called_text(items: &[Value]) -> String {
    let written = items.iter().filter_map(|item| match text_of(item, "type") {
        Some("function_call") => item.get("arguments").map(called_argument_text),
        Some("custom_tool_call") => text_of(item, "input").map(str::to_owned),
        _ => None,
    });
    written.collect::<Vec<_>>().join("\n")
}

/// The log-probabilities of all parts; absent if one with text has none.
fn token_logprobs(parts: &[&Value]) -> Option<Vec<TokenLogprob>> {
    let of_text = parts.iter().filter(|part| text_of(part, "text").is_some_and(|text| !text.is_empty()));
    let each = of_text.map(|part| read_logprobs(&json!({"content": part.get("logprobs")?})));
    let all: Vec<TokenLogprob> = each.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    (!all.is_empty()).then_some(all)
}

fn read_usage(body: &Value) -> Usage {
    let tokens = |path: &str| body.get("usage")?.pointer(path)?.as_u64();
    Usage {
        prompt_tokens: tokens("/input_tokens"),
        completion_tokens: tokens("/output_tokens"),
        cached_tokens: tokens("/input_tokens_details/cached_tokens"),
        cache_write_tokens: tokens("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: tokens("/output_tokens_details/reasoning_tokens"),
        ..Usage::default()
    }
}

fn model_of(body: &Value) -> String {
    text_of(body, "model").unwrap_or_default().to_owned()
}

fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}
