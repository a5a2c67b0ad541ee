//! Cost of a search under a budget, and the reason for its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cost of a search. Unknown figures are absent, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BudgetCost {
    /// Requests to language models that succeeded or failed in the end; one request may return several replies.
    pub calls: u64,
    /// Tokens of requests and replies, as servers counted them and estimated where they did not.
    pub tokens: u64,
    /// Number of estimated tokens among them: one for every three bytes, and 16 for each turn of a request.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_tokens: u64,
    /// US dollars by the prices of the `[llm]` tables; absent where one of them has no price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Seconds of wall time; absent where time is not limited, for then it decides nothing and is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Reason for the end of a search under a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetEnd {
    /// Every judging stage accepted a candidate.
    Accepted,
    /// The rest of the budget does not pay for another pull.
    Spent,
    /// No new candidate can be sampled, and none is left that could be refined.
    NothingLeft,
    /// Several pulls in a row spent nothing of what is limited: it would never end.
    Stalled,
    /// A cap of an `[llm]` table was reached before the budget was spent.
    Capped,
}

impl BudgetEnd {
    /// The word used in JSON and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Spent => "spent",
            Self::NothingLeft => "nothing-left",
            Self::Stalled => "stalled",
            Self::Capped => "capped",
        }
    }
}
