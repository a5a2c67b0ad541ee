//! Bodies of OpenAI-compatible chat completions: requests, responses and errors.
//!
//! Connections and batch files share this module, so a request means the same either way.

use crate::finish::{FinishMeaning, meaning_of_finish, outage};
use planforge_contract::{
    CompletionRequest, CompletionResult, Constraint, ProviderFailure, ProviderFailureClass, Replies, Reply,
    ReplySchema, TokenLogprob, Usage,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The request format of an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Dialect<'a> {
    /// The endpoint's name of the field for the most tokens of a reply.
    pub max_tokens_field: MaxTokensField,
    /// Fields that it refuses, and that are never sent.
    pub omit: &'a [Field],
    /// Value of `reasoning_effort`, where it is sent.
    pub reasoning: Option<&'a str>,
    /// The field for a grammar; `None` if the endpoint has none, and then a grammar is not sent.
    pub grammar: Option<GrammarField>,
}

/// Fields for the grammar of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarField {
    /// `grammar` with GBNF, of llama.cpp.
    Grammar,
    /// `structured_outputs` with GBNF, of vLLM.
    StructuredOutputs,
    /// `ebnf` with GBNF, of SGLang.
    Ebnf,
    /// `response_format` with a JSON schema.
    ResponseFormat,
}

impl GrammarField {
    /// The field and its value for a grammar; nothing for a JSON schema that there is not.
    fn entry(self, constraint: &Constraint) -> Option<(&'static str, Value)> {
        Some(match self {
            Self::Grammar => ("grammar", json!(constraint.gbnf)),
            Self::StructuredOutputs => ("structured_outputs", json!({"grammar": constraint.gbnf})),
            Self::Ebnf => ("ebnf", json!(constraint.gbnf)),
            Self::ResponseFormat => {
                let format = json!({"name": "answer", "schema": constraint.schema.as_ref()?, "strict": true});
                ("response_format", json!({"type": "json_schema", "json_schema": format}))
            }
        })
    }
}

/// Names of the field for the most tokens of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// Most servers.
    MaxTokens,
    /// OpenAI's reasoning models.
    MaxCompletionTokens,
}

impl MaxTokensField {
    /// The field's name in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Fields that some endpoints refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `temperature`.
    Temperature,
    /// `top_p`.
    TopP,
    /// The most tokens of a reply.
    MaxTokens,
    /// `stop`.
    Stop,
    /// `seed`.
    Seed,
    /// `n`. Each request then returns one reply.
    N,
    /// `logprobs`, and `top_logprobs` with it.
    Logprobs,
    /// `top_logprobs`, sent as 1 with `logprobs`, because some servers return no log-probabilities without
    /// it.
    TopLogprobs,
}

/// The body of a chat completion request. Extra fields win over everything but model, messages and `stream`.
pub fn request_body(request: &CompletionRequest, dialect: &Dialect<'_>) -> Value {
    let sampling = &request.sampling;
    let mut body = Map::new();
    let mut put = |field: Field, name: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| !dialect.omit.contains(&field)) {
            body.insert(name.to_owned(), value);
        }
    };
    put(Field::Temperature, "temperature", sampling.temperature.map(Value::from));
    put(Field::TopP, "top_p", sampling.top_p.map(Value::from));
    put(Field::MaxTokens, dialect.max_tokens_field.name(), sampling.max_tokens.map(Value::from));
    put(Field::Stop, "stop", (!sampling.stop.is_empty()).then(|| Value::from(sampling.stop.clone())));
    put(Field::Seed, "seed", sampling.seed.map(Value::from));
    put(Field::N, "n", sampling.n.map(Value::from));
    put(Field::Logprobs, "logprobs", sampling.logprobs.map(Value::from));
    // Without it some servers (llama-cpp-python) answer `logprobs: null`; with 0, others (llama.cpp) do.
    let scored = sampling.logprobs == Some(true) && !dialect.omit.contains(&Field::Logprobs);
    put(Field::TopLogprobs, "top_logprobs", scored.then(|| Value::from(1)));
    if let Some(effort) = dialect.reasoning {
        body.insert("reasoning_effort".to_owned(), Value::from(effort));
    }
    if let Some(ReplySchema { name, schema }) = &request.schema {
        let format = json!({"name": name, "schema": schema, "strict": true});
        body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": format}));
    }
    let grammar = dialect.grammar.zip(request.constraint.as_ref());
    if let Some((field, value)) = grammar.and_then(|(field, constraint)| field.entry(constraint)) {
        body.insert(field.to_owned(), value);
    }
    body.extend(request.extra.clone());
    body.insert("model".to_owned(), Value::from(request.model.clone()));
    body.insert("messages".to_owned(), json!(request.messages));
    body.insert("stream".to_owned(), Value::Bool(false));
    Value::Object(body)
}

/// Reads the body of a response of status 200.
pub fn read_result(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    let failure = match read_response(&body, String::from_utf8_lossy(bytes).into_owned()) {
        Ok(replies) => return CompletionResult::Replies(replies),
        Err(Unread::Error(error)) => failure_of_error(status_of(error), error),
        Err(Unread::Outage(failure)) => failure,
        Err(Unread::Malformed(why)) => malformed_failure(200, &why, bytes),
    };
    // The tokens of an answer that cannot be used are billed too.
    CompletionResult::ProviderFailure(failure.with_usage(read_usage(&body)))
}

/// Parses the body of a response of status 200 as JSON.
///
/// # Errors
/// A malformed body.
pub fn parse_body(bytes: &[u8]) -> Result<Value, ProviderFailure> {
    serde_json::from_slice(bytes).map_err(|e| malformed_failure(200, &e.to_string(), bytes))
}

/// The failure that a body of status 200 states in place of an answer, as some proxies do; `None` if it states none.
pub fn read_error(body: &Value) -> Option<ProviderFailure> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    Some(failure_of_error(status_of(error), error))
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
    /// An outage that ended every choice.
    Outage(ProviderFailure),
    /// Anything else, with the reason.
    Malformed(String),
}

/// The reply that an error object makes whose code says that the content was refused.
pub fn read_refusal(error: &Value, raw: String) -> Option<Replies> {
    is_refusal(error).then(|| Replies {
        replies: vec![Reply::refused(error_text(error))],
        usage: Usage::default(),
        model: String::new(),
        raw,
    })
}

/// Reads a completion, tolerant of what servers leave out.
fn read_response(body: &Value, raw: String) -> Result<Replies, Unread<'_>> {
    if let Some(error) = body.get("error").filter(|e| !e.is_null()) {
        let refused = read_refusal(error, raw).ok_or(Unread::Error(error))?;
        return Ok(Replies { usage: read_usage(body), ..refused });
    }
    let Some(choices) = body.get("choices").and_then(Value::as_array) else {
        return Err(Unread::Malformed("it has no list `choices`".to_owned()));
    };
    if choices.is_empty() {
        return Err(Unread::Malformed("its list `choices` is empty".to_owned()));
    }
    let mut replies = Vec::with_capacity(choices.len());
    let mut failed = None;
    for (place, choice) in choices.iter().enumerate() {
        let index = choice.get("index").and_then(Value::as_u64).unwrap_or(place as u64);
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        let meaning = meaning_of_finish(reason);
        if meaning == FinishMeaning::Outage {
            failed.get_or_insert_with(|| outage_of_choice(choice, reason.unwrap_or_default()));
            continue;
        }
        match read_choice(choice, meaning) {
            Some(reply) => replies.push((index, reply)),
            None => return Err(Unread::Malformed(format!("choice {place} has no message"))),
        }
    }
    // The host asks again for the choices that an outage ended.
    if let Some(failure) = failed.filter(|_| replies.is_empty()) {
        return Err(Unread::Outage(failure));
    }
    replies.sort_by_key(|(index, _)| *index);
    Ok(Replies {
        replies: replies.into_iter().map(|(_, reply)| reply).collect(),
        usage: read_usage(body),
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw,
    })
}

fn read_usage(body: &Value) -> Usage {
    let tokens = |path: &str| body.pointer(&format!("/usage/{path}")).and_then(Value::as_u64);
    Usage {
        prompt_tokens: tokens("prompt_tokens"),
        completion_tokens: tokens("completion_tokens"),
        cached_tokens: tokens("prompt_tokens_details/cached_tokens"),
        cache_write_tokens: tokens("prompt_tokens_details/cache_write_tokens"),
        reasoning_tokens: tokens("completion_tokens_details/reasoning_tokens"),
        ..Usage::default()
    }
}

/// The failure of a choice that an outage ended: that of the error object inside, where there is one.
fn outage_of_choice(choice: &Value, reason: &str) -> ProviderFailure {
    match choice.get("error").filter(|error| !error.is_null()) {
        Some(error) => failure_of_error(status_of(error).or(Some(503)), error),
        None => outage(reason),
    }
}

fn read_choice(choice: &Value, meaning: FinishMeaning) -> Option<Reply> {
    let message = choice.get("message")?.as_object()?;
    let finish = meaning.finish();
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
    Some(meaning.note(Reply { logprobs, thought, ..reply }))
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

/// Longest part of a body that is quoted, in characters.
const QUOTED_CHARACTERS: usize = 600;

/// Phrases of servers for a conversation that is too long, in lower case.
const OVERFLOW_PHRASES: [&str; 10] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "exceed context window",
    "exceeds the context window",
    "exceeds the available context size",
    "context window exceeded",
    "exceeds the maximum number of tokens",
    "prompt is too long",
    "input is too long",
];

/// OpenAI's code for an account without credit. Gemini sends the same message for a rate, without this code.
const NO_CREDIT: &str = "(insufficient_quota)";

/// The failure for a status other than success.
pub fn failure_of_status(status: u16, body: &[u8]) -> ProviderFailure {
    let text = String::from_utf8_lossy(body);
    let message = match serde_json::from_slice::<Value>(body) {
        Ok(json) => match json.get("error") {
            Some(error) => error_text(error),
            None => json
                .get("detail")
                .or_else(|| json.get("message"))
                .map_or_else(|| text.to_string(), error_text),
        },
        Err(_) => text.to_string(),
    };
    failure_of_message(Some(status), &message)
}

/// Codes of errors that refuse the content of a request: OpenAI's, and `content_filter` of Azure.
const REFUSAL_CODES: [&str; 4] =
    ["content_filter", "content_policy_violation", "invalid_prompt", "bio_policy"];

/// True for an error object that refuses the content of a request, which is a refusal of the model and not a failure.
fn is_refusal(error: &Value) -> bool {
    error.get("code").and_then(Value::as_str).is_some_and(|code| REFUSAL_CODES.contains(&code))
}

/// True for a body of this status that refuses the content of a request. Readers of bodies make a reply of it.
pub fn is_refusal_body(status: u16, body: &[u8]) -> bool {
    let error = || serde_json::from_slice::<Value>(body).ok()?.get("error").cloned();
    status == 400 && error().is_some_and(|error| is_refusal(&error))
}

/// The failure for an error object in a body of status 200. `status` is the one that the error means, where it has one.
pub fn failure_of_error(status: Option<u16>, error: &Value) -> ProviderFailure {
    let ProviderFailure { class, message, .. } = failure_of_message(status, &error_text(error));
    ProviderFailure {
        class,
        status: Some(200),
        retry_after_ms: None,
        usage: None,
        message: format!("the server answered 200 with an error: {message}"),
    }
}

/// The failure for a status and a server's message.
fn failure_of_message(status: Option<u16>, message: &str) -> ProviderFailure {
    use ProviderFailureClass as C;
    let lower = message.to_lowercase();
    let overflow = OVERFLOW_PHRASES.iter().any(|words| lower.contains(words));
    let class = match status {
        Some(400 | 413 | 422 | 500) if overflow => C::ContextOverflow,
        // No wait helps an account without credit.
        Some(429) if lower.contains(NO_CREDIT) => C::Authentication,
        Some(429) => C::RateLimited,
        Some(408 | 500..=599) => C::Server,
        Some(401 | 403) => C::Authentication,
        Some(404) => C::NotFound,
        Some(_) => C::BadRequest,
        None if overflow => C::ContextOverflow,
        None => C::Malformed,
    };
    let message =
        if message.trim().is_empty() { "the server gave no reason".to_owned() } else { quote(message) };
    ProviderFailure { class, status, retry_after_ms: None, usage: None, message }
}

/// A body that is not a completion, quoted as far as it helps.
pub fn malformed_failure(status: u16, why: &str, body: &[u8]) -> ProviderFailure {
    let text = String::from_utf8_lossy(body);
    ProviderFailure {
        class: ProviderFailureClass::Malformed,
        status: Some(status),
        retry_after_ms: None,
        usage: None,
        message: format!("the body is not an answer of a model: {why}: {}", quote(&text)),
    }
}

fn quote(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The message and code of an error object; any other value is printed whole.
pub fn error_text(error: &Value) -> String {
    let message = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
    let code =
        error.get("code").and_then(Value::as_str).or_else(|| error.get("type").and_then(Value::as_str));
    match (message, code) {
        (Some(message), Some(code)) => format!("{message} ({code})"),
        (Some(message), None) => message.to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn phrases_of_several_servers_mean_a_context_overflow() {
        use ProviderFailureClass as C;
        for (status, words) in [
            (400, "This model's maximum context length is 8192 tokens (context_length_exceeded)"),
            (400, "Requested tokens (5000) exceed context window of 4096"),
            (500, "the request exceeds the available context size"),
        ] {
            assert_eq!(failure_of_message(Some(status), words).class, C::ContextOverflow, "{words}");
        }
        assert_eq!(
            failure_of_message(Some(429), "maximum context length of your tier").class,
            C::RateLimited
        );
        assert_eq!(failure_of_message(Some(400), "unknown field").class, C::BadRequest);
    }

    #[test]
    fn an_account_without_credit_is_not_asked_again() {
        let body = |code: &str| {
            format!(r#"{{"error": {{"message": "You exceeded your current quota", "code": "{code}"}}}}"#)
        };
        let class = |code| failure_of_status(429, body(code).as_bytes()).class;
        assert_eq!(class("insufficient_quota"), ProviderFailureClass::Authentication);
        assert_eq!(class("rate_limit_exceeded"), ProviderFailureClass::RateLimited);
    }
}
