//! Failures of a request, classed by whether a retry may help.

use planforge_contract::{ProviderFailure, ProviderFailureClass};
use reqwest::header::HeaderMap;
use std::time::SystemTime;

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

/// The failure of a redirect. Redirects are never followed, because the key would be sent to the target.
pub(crate) fn of_redirect(status: u16, to: Option<&str>, from: &reqwest::Url) -> ProviderFailure {
    // The rest of the address may hold anything, and the message needs no more than this.
    let host = to.and_then(|to| from.join(to).ok()).map(|to| to.origin().ascii_serialization());
    let to = host.map_or_else(|| "without saying where to".to_owned(), |host| format!("to {host}"));
    ProviderFailure {
        class: ProviderFailureClass::NotFound,
        status: Some(status),
        retry_after_ms: None,
        message: format!(
            "the server redirects {to}; redirects are not followed, for the key would go there too"
        ),
    }
}

/// The failure of a body that ends before its JSON does.
pub(crate) fn cut_off(status: u16, error: &serde_json::Error, bytes: usize) -> ProviderFailure {
    ProviderFailure {
        class: ProviderFailureClass::Connection,
        status: Some(status),
        retry_after_ms: None,
        message: format!("the answer ends in the middle, after {bytes} bytes ({error})"),
    }
}

/// Milliseconds that a response asks to wait: `retry-after-ms`, which OpenAI and Azure send as well, or Retry-After.
pub(crate) fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let exact = text("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok());
    let exact = exact.filter(|ms| ms.is_finite() && *ms >= 0.0).map(|ms| ms.ceil() as u64);
    exact.or_else(|| read_retry_after(text("retry-after")?, now))
}

/// Milliseconds of a Retry-After header: seconds (a fraction is accepted), or an HTTP date.
fn read_retry_after(value: &str, now: SystemTime) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64);
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).map_or(0, |wait| wait.as_millis() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(read_retry_after("2", now), Some(2_000));
        assert_eq!(read_retry_after(" 0.5 ", now), Some(500));
        // RFC 9110's own example date is second 784111777.
        assert_eq!(read_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(10_000));
        assert_eq!(read_retry_after("Sun, 06 Nov 1994 08:49:27 GMT", now), Some(0));
        assert_eq!(read_retry_after("soon", now), None);
        assert_eq!(read_retry_after("-1", now), None);
        assert_eq!(read_retry_after("inf", now), None);
    }

    #[test]
    fn milliseconds_count_before_seconds() {
        let wait = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                let value = reqwest::header::HeaderValue::from_static(value);
                (reqwest::header::HeaderName::from_static(name), value)
            });
            retry_after_ms(&pairs.collect(), SystemTime::UNIX_EPOCH)
        };
        assert_eq!(wait(&[("retry-after", "2"), ("retry-after-ms", "1250")]), Some(1_250));
        assert_eq!(wait(&[("retry-after", "2"), ("retry-after-ms", "-1")]), Some(2_000));
        assert_eq!(wait(&[("retry-after-ms", "soon")]), None);
        assert_eq!(wait(&[]), None);
    }
}
