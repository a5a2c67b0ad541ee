//! Classification of failures, in the terms that decide about retries.

use crate::chat_completions::error_text::error_text;
use planforge_contract::{ProviderFailure, ProviderFailureClass};
use serde_json::Value;

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
pub(crate) fn is_refusal(error: &Value) -> bool {
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
    ProviderFailure { class, status, retry_after_ms: None, message }
}

/// A body that is not a completion, quoted as far as it helps.
pub fn malformed_failure(status: u16, why: &str, body: &[u8]) -> ProviderFailure {
    let text = String::from_utf8_lossy(body);
    ProviderFailure {
        class: ProviderFailureClass::Malformed,
        status: Some(status),
        retry_after_ms: None,
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

#[cfg(test)]
mod tests {
    use super::*;

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
