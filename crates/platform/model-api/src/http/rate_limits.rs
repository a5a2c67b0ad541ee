//! Quotas in the headers of a response, as OpenAI, Anthropic and servers after them send them.

use jiff::{SignedDuration, Timestamp};
use planforge_contract::{RateLimits, RateQuota};
use reqwest::header::HeaderMap;
use std::cell::RefCell;

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
pub(crate) fn keep(headers: &HeaderMap) {
    if let Some(limits) = read(headers, Timestamp::now()) {
        // Outside of `collect`, for instance in a test, nobody takes them.
        drop(STATED.try_with(|stated| stated.replace(Some(limits))));
    }
}

/// Reads the quotas of a response that arrived at `now`.
fn read(headers: &HeaderMap, now: Timestamp) -> Option<RateLimits> {
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

    fn limits(headers: &[(&'static str, &'static str)]) -> Option<RateLimits> {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        read(&pairs.collect(), "2026-11-23T10:00:00Z".parse().unwrap())
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
