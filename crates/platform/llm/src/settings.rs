//! The part of an `[llm.NAME]` table that the host understands. Everything else in it belongs to the provider plugin.

use planforge_contract::{JsonObject, Price};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys of [`ModelSettings`], in the order of its fields.
pub const HOST_KEYS: &[&str] = &[
    "use",
    "model",
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "seed",
    "n_per_request",
    "logprobs",
    "extra_body",
    "max_concurrency",
    "requests_per_minute",
    "max_attempts",
    "backoff_ms",
    "max_backoff_ms",
    "rest_after",
    "rest_s",
    "max_calls",
    "max_total_tokens",
    "max_cost_usd",
    "price",
];

/// The keys whose values can be changed while a run lasts.
pub const LIMIT_KEYS: &[&str] =
    &["max_concurrency", "requests_per_minute", "max_calls", "max_total_tokens", "max_cost_usd"];

/// The host's keys of an `[llm.NAME]` table. A request's own fields win over the sampling defaults here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Id of the provider plugin.
    #[serde(rename = "use")]
    pub provider: String,
    /// The model, as the endpoint names it.
    pub model: String,
    /// 0 is greedy; most servers accept 0 to 2. If absent, the server decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus, in (0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Most tokens of a reply, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts that end a reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// A fixed seed for every request. If absent, each request has its own, derived from the run's seed and
    /// the sample path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Most replies of one request, at least 1; absent means no limit. If a server returns fewer than
    /// requested, further requests follow in any case; 1 saves the first, useless attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_per_request: Option<u32>,
    /// Requests token log-probabilities every time. Stages that need them request them anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<bool>,
    /// Further fields of the request body, passed through unchanged.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub extra_body: JsonObject,
    /// Most requests in flight at a time, at least 1.
    #[serde(default = "default_concurrency")]
    pub max_concurrency: u32,
    /// Most requests a minute, evenly spaced; absent means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<f64>,
    /// Most attempts of one request, at least 1. Only transient failures are retried.
    #[serde(default = "default_attempts")]
    pub max_attempts: u32,
    /// The wait before the second attempt, in milliseconds. It doubles with each further attempt; half of it
    /// is jitter.
    #[serde(default = "default_backoff")]
    pub backoff_ms: u64,
    /// Longest wait before an attempt, in milliseconds. A longer Retry-After of a server is cut to it.
    #[serde(default = "default_max_backoff")]
    pub max_backoff_ms: u64,
    /// Number of requests that fail in a row (server down, key refused, no quota left) before the table is
    /// paused, if the role has another one; 0 is never. The last table of a list is never paused.
    #[serde(default = "default_rest_after")]
    pub rest_after: u32,
    /// Length of the pause in seconds. After it one request tries again.
    #[serde(default = "default_rest")]
    pub rest_s: f64,
    /// Most requests of a run, attempts included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// Most tokens of a run, prompts and replies together. A request that may pass the cap is not sent. The
    /// estimate is one token for three bytes of the prompt, 16 for each turn, and `max_tokens` for each reply
    /// (0 if that is not set).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total_tokens: Option<u64>,
    /// Most US dollars of a run; needs `price`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// US dollars for a million tokens: `{ prompt = 2.5, completion = 10.0, cached = 0.25 }`. A missing price is unknown, not free.
    /// Left out: the listed price of the model, if the requests go to the provider's own service.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub price: Price,
}

fn default_concurrency() -> u32 {
    8
}
fn default_attempts() -> u32 {
    5
}
fn default_backoff() -> u64 {
    1_000
}
fn default_max_backoff() -> u64 {
    60_000
}
fn default_rest_after() -> u32 {
    3
}
fn default_rest() -> f64 {
    60.0
}
fn is_unknown(price: &Price) -> bool {
    *price == Price::default()
}

/// An invalid value of an `[llm.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The key, one of [`HOST_KEYS`].
    pub key: &'static str,
    /// The mistake, without a full stop.
    pub message: String,
}

impl ModelSettings {
    /// A configuration with nothing set but plugin and model.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            temperature: None,
            top_p: None,
            max_tokens: None,
            stop: Vec::new(),
            seed: None,
            n_per_request: None,
            logprobs: None,
            extra_body: JsonObject::new(),
            max_concurrency: default_concurrency(),
            requests_per_minute: None,
            max_attempts: default_attempts(),
            backoff_ms: default_backoff(),
            max_backoff_ms: default_max_backoff(),
            rest_after: default_rest_after(),
            rest_s: default_rest(),
            max_calls: None,
            max_total_tokens: None,
            max_cost_usd: None,
            price: Price::default(),
        }
    }

    /// Every value of the right type that is invalid.
    pub fn problems(&self) -> Vec<SettingsProblem> {
        let mut found = Vec::new();
        let mut check = |ok: bool, key: &'static str, message: &str| {
            if !ok {
                found.push(SettingsProblem { key, message: message.to_owned() });
            }
        };
        let positive = |value: Option<f64>| value.is_none_or(|v| v.is_finite() && v > 0.0);
        let price_ok = |value: Option<f64>| value.is_none_or(|v| v.is_finite() && v >= 0.0);
        check(!self.provider.is_empty(), "use", "the provider's id is empty");
        check(!self.model.is_empty(), "model", "the model's name is empty");
        check(
            self.temperature.is_none_or(|t| t.is_finite() && t >= 0.0),
            "temperature",
            "a temperature is 0 or above",
        );
        check(self.top_p.is_none_or(|p| p > 0.0 && p <= 1.0), "top_p", "`top_p` is above 0 and at most 1");
        check(self.max_tokens != Some(0), "max_tokens", "`max_tokens` is at least 1");
        check(self.n_per_request != Some(0), "n_per_request", "`n_per_request` is at least 1");
        check(self.max_concurrency > 0, "max_concurrency", "`max_concurrency` is at least 1");
        check(positive(self.requests_per_minute), "requests_per_minute", "`requests_per_minute` is above 0");
        check(self.max_attempts > 0, "max_attempts", "`max_attempts` is at least 1");
        check(self.rest_s.is_finite() && self.rest_s >= 0.0, "rest_s", "`rest_s` is 0 or above");
        check(price_ok(self.max_cost_usd), "max_cost_usd", "`max_cost_usd` is 0 or above");
        check(self.price.is_valid(), "price", "a price is 0 or above, in US dollars for a million tokens");
        check(
            self.max_cost_usd.is_none() || (self.price.prompt.is_some() && self.price.completion.is_some()),
            "max_cost_usd",
            "a cap on cost needs the prices of prompts and completions; state them in the table, \
             `price = { prompt = ..., completion = ... }`, or list the model in ~/.config/planforge/prices.toml",
        );
        found
    }
}

/// Splits an `[llm.NAME]` table into the host's keys and the provider plugin's options. Keys that the host does not know go to
/// the plugin, whose schema then judges them.
pub fn split_table(table: &JsonObject) -> (JsonObject, JsonObject) {
    table.clone().into_iter().partition(|(key, _)| HOST_KEYS.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn host_keys_are_the_schema_s_properties() {
        let schema = serde_json::to_value(schemars::schema_for!(ModelSettings)).unwrap();
        let mut properties: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        let mut keys: Vec<_> = HOST_KEYS.iter().map(|k| (*k).to_owned()).collect();
        properties.sort();
        keys.sort();
        assert_eq!(properties, keys);
    }

    #[test]
    fn a_table_is_split_into_host_keys_and_plugin_options() {
        let table = json!({"use": "provider-openai", "model": "m", "temperature": 0.5, "base_url": "http://x", "timeout_s": 3});
        let (host, plugin) = split_table(table.as_object().unwrap());
        let config: ModelSettings = serde_json::from_value(host.into()).unwrap();
        assert_eq!((config.temperature, config.max_attempts), (Some(0.5), 5));
        assert_eq!(serde_json::Value::from(plugin), json!({"base_url": "http://x", "timeout_s": 3}));
        assert!(config.problems().is_empty());
    }

    #[test]
    fn all_invalid_values_are_reported_at_once() {
        let config: ModelSettings = serde_json::from_value(json!({
            "use": "p", "model": "", "top_p": 0.0, "max_concurrency": 0, "max_cost_usd": 1.0, "price": {"prompt": 1.0}
        }))
        .unwrap();
        let keys: Vec<_> = config.problems().into_iter().map(|p| p.key).collect();
        assert_eq!(keys, ["model", "top_p", "max_concurrency", "max_cost_usd"]);
    }
}
