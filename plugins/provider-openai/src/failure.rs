//! What went wrong, in the terms that decide about retrying.

use crate::body::error_text;
use planforge_contract::{ProviderFailure, ProviderFailureClass};
use serde_json::Value;
use std::time::SystemTime;

/// Longest part of a body that is quoted, in characters.
const QUOTED: usize = 600;

/// Words by which servers say that the conversation is too long; in lower case.
const OVERFLOW: [&str; 9] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "exceed context window",
    "exceeds the context window",
    "exceeds the available context size",
    "context window exceeded",
    "prompt is too long",
    "input is too long",
];

/// The failure that a status other than success means.
pub(crate) fn of_status(status: u16, retry_after: Option<&str>, body: &[u8]) -> ProviderFailure {
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
    let mut failure = of_words(Some(status), &message);
    failure.retry_after_ms = retry_after.and_then(|value| retry_after_ms(value, SystemTime::now()));
    failure
}

/// The failure that a status and a server's words mean.
pub(crate) fn of_words(status: Option<u16>, message: &str) -> ProviderFailure {
    use ProviderFailureClass as C;
    let lower = message.to_lowercase();
    let overflow = OVERFLOW.iter().any(|words| lower.contains(words));
    let class = match status {
        Some(400 | 413 | 422 | 500) if overflow => C::ContextOverflow,
        Some(429) => C::RateLimited,
        Some(408 | 500..=599) => C::Server,
        Some(401 | 403) => C::Authentication,
        Some(404) => C::NotFound,
        Some(_) => C::BadRequest,
        None if overflow => C::ContextOverflow,
        None => C::Malformed,
    };
    let message =
        if message.trim().is_empty() { "the server gave no reason".to_owned() } else { quoted(message) };
    ProviderFailure { class, status, retry_after_ms: None, message }
}

/// The failure behind an error of the HTTP client, before or while the answer came.
pub(crate) fn of_transport(error: reqwest::Error) -> ProviderFailure {
    // The URL is the user's own setting and may name an internal host; the message does not need it.
    let error = error.without_url();
    let class = if error.is_timeout() && !error.is_connect() {
        ProviderFailureClass::Timeout
    } else {
        ProviderFailureClass::Connection
    };
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        message.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    ProviderFailure { class, status: None, retry_after_ms: None, message }
}

pub(crate) fn malformed(status: u16, why: &str, body: &[u8]) -> ProviderFailure {
    let text = String::from_utf8_lossy(body);
    ProviderFailure {
        class: ProviderFailureClass::Malformed,
        status: Some(status),
        retry_after_ms: None,
        message: format!("the body is not a chat completion: {why}: {}", quoted(&text)),
    }
}

/// Milliseconds that a Retry-After header asks for: seconds (a fraction is accepted), or an HTTP date.
pub(crate) fn retry_after_ms(value: &str, now: SystemTime) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64);
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).map_or(0, |wait| wait.as_millis() as u64))
}

fn quoted(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after_ms("2", now), Some(2_000));
        assert_eq!(retry_after_ms(" 0.5 ", now), Some(500));
        // RFC 9110's own example date is second 784111777.
        assert_eq!(retry_after_ms("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(10_000));
        assert_eq!(retry_after_ms("Sun, 06 Nov 1994 08:49:27 GMT", now), Some(0));
        assert_eq!(retry_after_ms("soon", now), None);
        assert_eq!(retry_after_ms("-1", now), None);
        assert_eq!(retry_after_ms("inf", now), None);
    }

    #[test]
    fn a_conversation_that_is_too_long_is_known_by_the_words_of_several_servers() {
        use ProviderFailureClass as C;
        for (status, words) in [
            (400, "This model's maximum context length is 8192 tokens (context_length_exceeded)"),
            (400, "Requested tokens (5000) exceed context window of 4096"),
            (500, "the request exceeds the available context size"),
        ] {
            assert_eq!(of_words(Some(status), words).class, C::ContextOverflow, "{words}");
        }
        assert_eq!(of_words(Some(429), "maximum context length of your tier").class, C::RateLimited);
        assert_eq!(of_words(Some(400), "unknown field").class, C::BadRequest);
    }
}
