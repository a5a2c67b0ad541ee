//! The table of a budget stage. docs/how-to/set-a-budget.md describes the search.

use crate::stages::order::Order;
use crate::stages::{RoundStage, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `do = "budget"`: a budget instead of numbers of samples and rounds. Each pull samples a new candidate, or refines one
/// once; a policy says which. The search ends where every judging stage accepts a candidate, or where the budget does not
/// pay for another pull, and returns the best candidate so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The metric that candidates are compared by: `LABEL.NAME` of a judge stage, or `candidate.log_likelihood`.
    pub by: String,
    /// Which end of the metric is better.
    #[serde(default, skip_serializing_if = "Order::is_highest")]
    pub order: Order,
    /// The lowest and the highest value of the metric that make a difference to the policy; `[0, 1]` where it is left out.
    /// Values beyond count as the nearer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Who decides what is pulled.
    #[serde(default)]
    pub policy: BudgetPolicy,
    /// How many pulls are made side by side. They are decided together, by what earlier pulls brought.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 64))]
    pub width: u32,
    /// How many of the best candidates are returned.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub keep: u32,
    /// What may be spent on one task. At least one of them is stated.
    pub budget: BudgetLimits,
    /// How a new candidate is made from one that came in: a translate stage, or a plan stage with `n` above 1. Left out, the
    /// candidates that came in are all there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RoundStage>")]
    pub sample: Vec<Stage>,
    /// How a candidate is refined once, as in a round of a refine stage: stages before the writer look at the candidate as it
    /// is. Left out, nothing is refined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RoundStage>")]
    pub round: Vec<Stage>,
    /// What judges every candidate, sampled or refined: verify and plan stages.
    #[schemars(with = "Vec<RoundStage>", length(min = 1))]
    pub judge: Vec<Stage>,
}

/// What may be spent on one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Questions to language models; one question may ask for several replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
    /// Tokens of questions and replies, as servers count them. What a server does not count is estimated: a token for every
    /// three bytes, and 16 for each turn of a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Seconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub seconds: Option<f64>,
    /// US dollars; every model that is asked needs its `price`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub money: Option<f64>,
}

/// Who decides whether a pull samples or refines, and what it refines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetPolicy {
    /// Thompson sampling: each arm's chance is drawn from a Beta distribution that starts at the candidate's value, and
    /// divided by what its kind of pull costs.
    #[default]
    Thompson,
    /// UCB1 over the candidates; the k-th new one is sampled once there were (k - 1)^2 pulls (UCB-AIR).
    Ucb,
    /// Each arm in turn; the yardstick for the others.
    Uniform,
}

impl BudgetPolicy {
    /// The word used in pipeline files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thompson => "thompson",
            Self::Ucb => "ucb",
            Self::Uniform => "uniform",
        }
    }
}
