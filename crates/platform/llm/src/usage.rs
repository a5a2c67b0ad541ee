//! Counts and cost of requests. Unknown stays unknown.

use planforge_contract::{Price, ProviderFailure, ProviderFailureClass, Usage};
use serde::{Deserialize, Serialize};

/// Use of one `[llm.NAME]` table in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// Requests sent to the provider by this process, failed attempts included.
    pub requests_sent: u64,
    /// Requests answered from the record instead.
    pub answered_by_record: u64,
    /// Requests answered by the provider in this process.
    pub answered_by_provider: u64,
    /// Deferred requests. They count towards the caps.
    #[serde(default)]
    pub pending: u64,
    /// Attempts that failed and were repeated.
    pub retries: u64,
    /// Prompt tokens as counted by servers, recorded replies included.
    pub prompt_tokens: u64,
    /// Reply tokens as counted by servers, recorded replies included.
    pub completion_tokens: u64,
    /// The part of `prompt_tokens` that was read from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// The part of `prompt_tokens` that was written to a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The part of `completion_tokens` that is reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Requests whose tokens the server did not report. If above 0, the sums are lower bounds.
    pub unmetered: u64,
    /// US dollars in total, recorded replies included; absent if a price or a token count is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// US dollars for the known tokens; absent if a price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_known_usd: Option<f64>,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ModelUsage {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.prompt_tokens += usage.prompt_tokens.unwrap_or(0);
        self.completion_tokens += usage.completion_tokens.unwrap_or(0);
        self.cached_tokens += usage.cached_tokens.unwrap_or(0);
        self.cache_write_tokens += usage.cache_write_tokens.unwrap_or(0);
        self.reasoning_tokens += usage.reasoning_tokens.unwrap_or(0);
        if !usage.is_metered() {
            self.unmetered += 1;
        }
    }

    pub(crate) fn with_cost(mut self, price: &Price) -> Self {
        let sums = Usage {
            prompt_tokens: Some(self.prompt_tokens),
            completion_tokens: Some(self.completion_tokens),
            cached_tokens: Some(self.cached_tokens),
            cache_write_tokens: Some(self.cache_write_tokens),
            reasoning_tokens: Some(self.reasoning_tokens),
            ..Usage::default()
        };
        self.cost_known_usd = price.known_cost(&sums);
        self.cost_usd = price.cost(&sums).filter(|_| self.unmetered == 0);
        self
    }
}

/// True if a request with such a failure may have used tokens.
pub(crate) const fn may_have_used(class: ProviderFailureClass) -> bool {
    use ProviderFailureClass as C;
    matches!(class, C::Connection | C::Timeout | C::Malformed)
}

/// Adds the tokens that a server counted for an attempt that failed, or counts the attempt if it may have used tokens that
/// nobody counted.
pub(crate) fn add_failed(retried: &mut Usage, failure: &ProviderFailure) {
    match &failure.usage {
        Some(usage) => *retried = with_retried(retried, usage),
        None if may_have_used(failure.class) => count_uncounted(retried),
        None => {}
    }
}

/// As [`add_failed`], for the last attempt. One without counts is charged by the class of the failure, unless earlier attempts have
/// counts.
pub(crate) fn add_final(retried: &mut Usage, failure: &ProviderFailure) {
    if failure.usage.is_some() || has_counts(retried) {
        add_failed(retried, failure);
    }
}

/// The use of an attempt together with that of failed ones before it. If only a part of one is counted, the sum is of what is, and
/// another request is uncounted.
pub(crate) fn with_retried(retried: &Usage, last: &Usage) -> Usage {
    let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b)).or(a).or(b);
    let mut usage = Usage {
        prompt_tokens: sum(retried.prompt_tokens, last.prompt_tokens),
        completion_tokens: sum(retried.completion_tokens, last.completion_tokens),
        cached_tokens: sum(retried.cached_tokens, last.cached_tokens),
        cache_write_tokens: sum(retried.cache_write_tokens, last.cache_write_tokens),
        reasoning_tokens: sum(retried.reasoning_tokens, last.reasoning_tokens),
        requests: last.requests.or(retried.requests),
        uncounted_requests: sum(retried.uncounted_requests, last.uncounted_requests),
    };
    let lacks = |part: &Usage| {
        usage.prompt_tokens.is_some() && part.prompt_tokens.is_none()
            || usage.completion_tokens.is_some() && part.completion_tokens.is_none()
    };
    let hidden = lacks(last) || has_counts(retried) && lacks(retried);
    if hidden {
        count_uncounted(&mut usage);
    }
    usage
}

const fn has_counts(usage: &Usage) -> bool {
    usage.prompt_tokens.is_some() || usage.completion_tokens.is_some()
}

fn count_uncounted(usage: &mut Usage) {
    usage.uncounted_requests = Some(usage.uncounted_requests.unwrap_or(0).saturating_add(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_or_count_never_reads_as_free() {
        let known =
            Usage { prompt_tokens: Some(1_000_000), completion_tokens: Some(500_000), ..Usage::default() };
        let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
        let mut usage = ModelUsage::default();
        usage.add(&known);
        assert_eq!(usage.clone().with_cost(&price).cost_usd, Some(6.0));
        assert_eq!(
            usage
                .clone()
                .with_cost(&Price { prompt: Some(2.0), completion: None, ..Price::default() })
                .cost_usd,
            None
        );
        usage.add(&Usage { prompt_tokens: Some(1), completion_tokens: None, ..Usage::default() });
        let with_cost = usage.with_cost(&price);
        assert_eq!((with_cost.cost_usd, with_cost.unmetered), (None, 1));
        assert!(with_cost.cost_known_usd.is_some_and(|c| c > 6.0));
    }

    #[test]
    fn cached_tokens_without_a_price_and_uncounted_retries_make_the_cost_unknown() {
        let counted =
            Usage { prompt_tokens: Some(1_000_000), completion_tokens: Some(0), ..Usage::default() };
        let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
        let total = |usage: Usage, price: &Price| {
            let mut sum = ModelUsage::default();
            sum.add(&usage);
            let sum = sum.with_cost(price);
            (sum.cost_usd, sum.cost_known_usd)
        };
        let cached = Usage { cached_tokens: Some(500_000), ..counted };
        assert_eq!(total(cached, &price), (None, Some(1.0)));
        assert_eq!(total(cached, &Price { cached: Some(1.0), ..price }), (Some(1.5), Some(1.5)));
        let retried = Usage { requests: Some(3), uncounted_requests: Some(1), ..counted };
        assert_eq!(total(retried, &price), (None, Some(2.0)));
    }
}
