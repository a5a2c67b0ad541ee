//! Quotas of requests and tokens that a server states in a response.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quotas of a response's headers. The host adapts the rate of its requests to them; nothing is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RateLimits {
    /// Quota of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RateQuota>,
    /// Quota of tokens, prompts and replies together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<RateQuota>,
}

/// One quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateQuota {
    /// The whole quota.
    pub limit: u64,
    /// The part that is left.
    pub remaining: u64,
    /// Milliseconds until the whole quota is available again.
    pub reset_ms: u64,
}
