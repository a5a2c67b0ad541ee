//! Retries: which failures, after which wait, and the failure after the last attempt.

use crate::hints::error_hint;
use crate::key::derive_u64;
use crate::settings::ModelSettings;
use planforge_contract::{Failure, FailureClass, ProviderFailure, ProviderFailureClass};
use std::time::Duration;

/// The wait before attempt `attempt + 1`: exponential with the upper half as jitter, or the server's Retry-After if that is
/// longer; at most `max_backoff_ms`. The jitter derives from the sample path, so a run repeats exactly.
pub fn wait(
    settings: &ModelSettings,
    run_seed: u64,
    path: &str,
    attempt: u32,
    failure: &ProviderFailure,
) -> Duration {
    let doubled = settings.backoff_ms.saturating_mul(1_u64.checked_shl(attempt - 1).unwrap_or(u64::MAX));
    let full = doubled.min(settings.max_backoff_ms);
    let random = derive_u64(run_seed, &format!("jitter {attempt}"), path);
    let jitter = if full < 2 { 0 } else { random % (full / 2 + 1) };
    let asked = failure.retry_after_ms.unwrap_or(0).min(settings.max_backoff_ms);
    Duration::from_millis((full - jitter).max(asked))
}

/// A provider's failure in the host's terms. `name` is the table's, after so many attempts.
pub fn to_failure(name: &str, settings: &ModelSettings, attempts: u32, failure: &ProviderFailure) -> Failure {
    use ProviderFailureClass as C;
    let (code, what, help) = match failure.class {
        C::Connection => {
            ("llm.connection", "the connection failed", "check that the server is up and `base_url` is right")
        }
        C::Timeout => {
            ("llm.timeout", "the server did not answer in time", "raise `timeout_s`, or ask for fewer tokens")
        }
        C::RateLimited => (
            "llm.rate-limited",
            "the server refuses so many requests",
            "lower `max_concurrency` or set `requests_per_minute`, then resume the run",
        ),
        C::Server => ("llm.server", "the server failed", "resume the run when the server has recovered"),
        C::Authentication => (
            "llm.authentication",
            "the server refuses the key or its account",
            "check the variable that `api_key_env` names",
        ),
        C::NotFound => {
            ("llm.not-found", "the server has no such model or path", "check `model` and `base_url`")
        }
        C::ContextOverflow => (
            "llm.context-overflow",
            "the conversation is longer than the model's context",
            "choose a model with a longer context, or a pipeline with shorter conversations",
        ),
        C::BadRequest => {
            ("llm.bad-request", "the server refuses the request", "check `extra_body` and the sampling keys")
        }
        C::Malformed => (
            "llm.malformed",
            "the server's answer is not a completion",
            "check that `base_url` is an OpenAI-compatible endpoint (it usually ends in /v1)",
        ),
    };
    let class = match failure.class {
        C::ContextOverflow => FailureClass::ContextOverflow,
        _ => FailureClass::Provider,
    };
    let status = failure.status.map(|s| format!(" (HTTP {s})")).unwrap_or_default();
    let times = if attempts > 1 { format!(", after {attempts} attempts") } else { String::new() };
    let model = &settings.model;
    let hint = error_hint(name, &settings.provider, model, failure);
    Failure::new(
        class,
        code,
        format!("`{name}`, model `{model}`: {what}{status}{times}: {}", failure.message),
    )
    .help(hint.map_or_else(|| help.to_owned(), |hint| hint.help))
}

/// True if a recorded failure is final in a resumed run. Other requests are sent again: the cause (a wrong
/// key, a server that was down, a login page instead of a reply) lay outside the request and may be gone.
pub(crate) const fn is_final_on_resume(class: ProviderFailureClass) -> bool {
    matches!(class, ProviderFailureClass::ContextOverflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(retry_after_ms: Option<u64>) -> ProviderFailure {
        ProviderFailure {
            class: ProviderFailureClass::RateLimited,
            status: Some(429),
            retry_after_ms,
            usage: None,
            message: "slow down".into(),
        }
    }

    #[test]
    fn waits_double_with_jitter_in_the_upper_half_and_are_capped() {
        let settings =
            ModelSettings { backoff_ms: 100, max_backoff_ms: 1_000, ..ModelSettings::new("p", "m") };
        let mut seen = std::collections::BTreeSet::new();
        for path in 0..50 {
            for (attempt, full) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1000), (40, 1000), (90, 1000)]
            {
                let ms = wait(&settings, 7, &path.to_string(), attempt, &failure(None)).as_millis() as u64;
                assert!(ms >= full / 2 && ms <= full, "attempt {attempt}: {ms}");
                seen.insert(ms);
            }
        }
        assert!(seen.len() > 100, "jitter spreads the waits");
        assert_eq!(wait(&settings, 7, "a", 2, &failure(None)), wait(&settings, 7, "a", 2, &failure(None)));
    }

    #[test]
    fn the_help_of_a_failure_names_the_key_that_a_known_error_is_about() {
        let settings = ModelSettings::new("provider-openai", "m");
        let help = |message: &str| {
            let failure = ProviderFailure {
                class: ProviderFailureClass::BadRequest,
                status: Some(400),
                retry_after_ms: None,
                usage: None,
                message: message.to_owned(),
            };
            to_failure("main", &settings, 1, &failure).help.unwrap_or_default()
        };
        assert!(help("Unrecognized request argument supplied: seed").contains("`omit` in `[llm.main]`"));
        assert_eq!(help("no reason"), "check `extra_body` and the sampling keys");
    }

    #[test]
    fn retry_after_is_honoured_and_capped() {
        let settings =
            ModelSettings { backoff_ms: 100, max_backoff_ms: 5_000, ..ModelSettings::new("p", "m") };
        assert_eq!(wait(&settings, 7, "a", 1, &failure(Some(3_000))), Duration::from_secs(3));
        assert_eq!(wait(&settings, 7, "a", 1, &failure(Some(3_600_000))), Duration::from_secs(5));
        assert!(wait(&settings, 7, "a", 1, &failure(Some(1))) >= Duration::from_millis(50));
    }
}
