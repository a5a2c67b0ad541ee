//! One request and its response: failures classed by whether a retry may help, and quotas in headers.

use crate::chat_completions::{failure_of_status, is_refusal_body, malformed_failure};
use jiff::{SignedDuration, Timestamp};
use planforge_contract::{ProviderFailure, ProviderFailureClass, RateLimits, RateQuota};
use planforge_diagnostics::skip_byte_order_mark_bytes;
use reqwest::header::HeaderMap;
use std::cell::RefCell;
use std::time::SystemTime;

/// Most bytes that are read of an answer that is an error.
const MOST_OF_AN_ERROR: usize = 256 << 10;

/// A body of status 200 that is JSON, or of an error that refuses the content of the request; else why there is none.
pub type Received = Result<Vec<u8>, ProviderFailure>;

/// Sends a request once and reads the body within its limit, in bytes.
pub async fn receive(client: &reqwest::Client, request: reqwest::Request, max_body: usize) -> Received {
    read(client.execute(request).await.map_err(of_transport)?, max_body).await
}

/// Sends a request once and passes the body on in pieces, until `take` returns false.
///
/// # Errors
/// As of [`receive`]. A body that is cut off is an error; its first pieces were passed on.
pub async fn download(
    client: &reqwest::Client,
    request: reqwest::Request,
    max_bytes: u64,
    take: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), ProviderFailure> {
    let mut response = client.execute(request).await.map_err(of_transport)?;
    let status = response.status().as_u16();
    let malformed = |message: String| ProviderFailure {
        class: ProviderFailureClass::Malformed,
        status: Some(status),
        retry_after_ms: None,
        usage: None,
        message,
    };
    if !response.status().is_success() {
        let body = read(response, MOST_OF_AN_ERROR).await?;
        return Err(malformed(String::from_utf8_lossy(&body).into_owned()));
    }
    let mut bytes = 0;
    while let Some(piece) = response.chunk().await.map_err(of_transport)? {
        bytes += piece.len() as u64;
        if bytes > max_bytes {
            return Err(malformed(format!("the file is longer than {max_bytes} bytes")));
        }
        if !take(&piece) {
            return Ok(());
        }
    }
    Ok(())
}

async fn read(mut response: reqwest::Response, max_body: usize) -> Received {
    let status = response.status().as_u16();
    keep(response.headers());
    if response.status().is_redirection() {
        let to = response.headers().get(reqwest::header::LOCATION).and_then(|to| to.to_str().ok());
        return Err(of_redirect(status, to, response.url()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(of_transport)? {
        if !response.status().is_success() && body.len() + chunk.len() > MOST_OF_AN_ERROR {
            // Its reason comes first, if it has one.
            body.extend_from_slice(chunk.get(..MOST_OF_AN_ERROR - body.len()).unwrap_or_default());
            break;
        }
        if body.len() + chunk.len() > max_body {
            return Err(ProviderFailure {
                class: ProviderFailureClass::Malformed,
                status: Some(status),
                retry_after_ms: None,
                usage: None,
                message: format!("the answer is longer than {max_body} bytes (option `max_body_mb`)"),
            });
        }
        body.extend_from_slice(&chunk);
    }
    let mark = body.len() - skip_byte_order_mark_bytes(&body).len();
    body.drain(..mark);
    if is_refusal_body(status, &body) {
        return Ok(body);
    }
    if !response.status().is_success() {
        let retry_after_ms = retry_after_ms(response.headers(), SystemTime::now());
        return Err(ProviderFailure { retry_after_ms, ..failure_of_status(status, &body) });
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
        Ok(_) => Ok(body),
        // An incomplete body was cut off in transit; a retry may succeed.
        Err(e) if e.is_eof() => Err(cut_off(status, &e, body.len())),
        Err(e) => Err(malformed_failure(status, &format!("not JSON ({e})"), &body)),
    }
}

/// The failure behind an error of the HTTP client, before or while the answer came.
fn of_transport(error: reqwest::Error) -> ProviderFailure {
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
    ProviderFailure { class, status: None, retry_after_ms: None, usage: None, message }
}

/// The failure of a redirect. Redirects are never followed, because the key would be sent to the target.
fn of_redirect(status: u16, to: Option<&str>, from: &reqwest::Url) -> ProviderFailure {
    // The rest of the address may hold anything, and the message needs no more than this.
    let host = to.and_then(|to| from.join(to).ok()).map(|to| to.origin().ascii_serialization());
    let to = host.map_or_else(|| "without saying where to".to_owned(), |host| format!("to {host}"));
    ProviderFailure {
        class: ProviderFailureClass::NotFound,
        status: Some(status),
        retry_after_ms: None,
        usage: None,
        message: format!(
            "the server redirects {to}; redirects are not followed, for the key would go there too"
        ),
    }
}

/// The failure of a body that ends before its JSON does.
fn cut_off(status: u16, error: &serde_json::Error, bytes: usize) -> ProviderFailure {
    ProviderFailure {
        class: ProviderFailureClass::Connection,
        status: Some(status),
        retry_after_ms: None,
        usage: None,
        message: format!("the answer ends in the middle, after {bytes} bytes ({error})"),
    }
}

/// Milliseconds that a response asks to wait: `retry-after-ms`, which OpenAI and Azure send as well, or Retry-After.
fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
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

tokio::task_local! {
    /// Quotas of the response that this task receives. The receiver of a response passes on only the body.
    static STATED: RefCell<Option<RateLimits>>;
}

/// Awaits a future, and returns the quotas of the last response within it that stated some.
pub(crate) async fn collect<T>(future: impl Future<Output = T>) -> (T, Option<RateLimits>) {
    STATED
        .scope(RefCell::new(None), async {
            let result = future.await;
            (result, STATED.with(RefCell::take))
        })
        .await
}

/// Keeps the quotas of a response for [`collect`].
fn keep(headers: &HeaderMap) {
    if let Some(limits) = read_rate_limits(headers, Timestamp::now()) {
        // Outside of `collect`, for instance in a test, nobody takes them.
        drop(STATED.try_with(|stated| stated.replace(Some(limits))));
    }
}

/// Reads the quotas of a response that arrived at `now`.
fn read_rate_limits(headers: &HeaderMap, now: Timestamp) -> Option<RateLimits> {
    let quota = |of: &str| {
        let names = [
            ["limit", "remaining", "reset"].map(|part| format!("x-ratelimit-{part}-{of}")),
            ["limit", "remaining", "reset"].map(|part| format!("anthropic-ratelimit-{of}-{part}")),
        ];
        names.into_iter().find_map(|[limit, remaining, reset]| {
            let text = |name: &str| headers.get(name)?.to_str().ok();
            Some(RateQuota {
                limit: text(&limit)?.trim().parse().ok()?,
                remaining: text(&remaining)?.trim().parse().ok()?,
                reset_ms: reset_ms(text(&reset)?, now)?,
            })
        })
    };
    let limits = RateLimits { requests: quota("requests"), tokens: quota("tokens") };
    (limits != RateLimits::default()).then_some(limits)
}

/// Milliseconds until a reset: seconds, a duration such as `6m0s` or `17ms`, or a time of RFC 3339.
fn reset_ms(value: &str, now: Timestamp) -> Option<u64> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64);
    }
    let wait = match value.parse::<Timestamp>() {
        Ok(time) => time.duration_since(now).max(SignedDuration::ZERO),
        Err(_) => value.parse::<SignedDuration>().ok()?,
    };
    u64::try_from(wait.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};
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

    fn limits(headers: &[(&'static str, &'static str)]) -> Option<RateLimits> {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        read_rate_limits(&pairs.collect(), "2026-11-23T10:00:00Z".parse().unwrap())
    }

    const fn quota(limit: u64, remaining: u64, reset_ms: u64) -> Option<RateQuota> {
        Some(RateQuota { limit, remaining, reset_ms })
    }

    #[test]
    fn quotas_of_both_services_are_read() {
        let openai = limits(&[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "6m0.5s"),
        ]);
        let expected =
            RateLimits { requests: quota(60, 59, 1_000), tokens: quota(150_000, 149_984, 360_500) };
        assert_eq!(openai, Some(expected));
        let anthropic = limits(&[
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "10"),
            ("anthropic-ratelimit-requests-reset", "2026-11-23T10:00:48Z"),
        ]);
        assert_eq!(anthropic, Some(RateLimits { requests: quota(50, 10, 48_000), tokens: None }));
    }

    #[test]
    fn times_until_a_reset_have_several_forms_and_unreadable_ones_are_left_out() {
        let now = "2026-11-23T10:00:00Z".parse().unwrap();
        for (text, ms) in [
            ("17ms", Some(17)),
            ("1s", Some(1_000)),
            ("1m30s", Some(90_000)),
            ("2.5", Some(2_500)),
            ("2026-11-23T09:59:00Z", Some(0)),
            ("soon", None),
            ("-1", None),
            ("-5s", None),
            ("inf", None),
            ("", None),
        ] {
            assert_eq!(reset_ms(text, now), ms, "{text}");
        }
        let incomplete =
            limits(&[("x-ratelimit-limit-requests", "60"), ("x-ratelimit-reset-requests", "1s")]);
        assert_eq!(incomplete, None);
        let wrong = limits(&[
            ("x-ratelimit-limit-requests", "many"),
            ("x-ratelimit-remaining-requests", "1"),
            ("x-ratelimit-reset-requests", "1s"),
        ]);
        assert_eq!(wrong, None);
    }
}
