//! Counts and cost of requests. Unknown stays unknown.

use planforge_contract::{Price, Usage};
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
    /// Requests whose tokens the server did not report. If above 0, the sums are lower bounds.
    pub unmetered: u64,
    /// US dollars in total, recorded replies included; absent if a price or a token count is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// US dollars for the known tokens; absent if a price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_known_usd: Option<f64>,
}

impl ModelUsage {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.prompt_tokens += usage.prompt_tokens.unwrap_or(0);
        self.completion_tokens += usage.completion_tokens.unwrap_or(0);
        if usage.prompt_tokens.is_none() || usage.completion_tokens.is_none() {
            self.unmetered += 1;
        }
    }

    pub(crate) fn with_cost(mut self, price: &Price) -> Self {
        self.cost_known_usd = cost(price, self.prompt_tokens, self.completion_tokens);
        self.cost_usd = if self.unmetered == 0 { self.cost_known_usd } else { None };
        self
    }
}

/// US dollars for so many tokens, where both prices are known.
pub fn cost(price: &Price, prompt_tokens: u64, completion_tokens: u64) -> Option<f64> {
    let million = 1_000_000.0;
    Some(
        price.prompt? * prompt_tokens as f64 / million
            + price.completion? * completion_tokens as f64 / million,
    )
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
}
