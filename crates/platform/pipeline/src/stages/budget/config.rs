//! The table of a budget stage. docs/reference/budget.md describes the search.

use crate::stages::order::Order;
use crate::stages::refine::Forget;
use crate::stages::{RoundStage, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `do = "budget"`: a budget instead of numbers of samples and rounds. Each pull samples a new candidate, or
/// refines one once, as the policy decides. The search ends when every judge accepts a candidate, or when the
/// budget does not pay for another pull, and returns the best candidate so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The metric that candidates are compared by: `LABEL.NAME` of a judge stage, or `candidate.log_likelihood`.
    pub by: String,
    /// The better end of the metric.
    #[serde(default, skip_serializing_if = "Order::is_highest")]
    pub order: Order,
    /// The lowest and the highest value of the metric that make a difference to the policy; `[0, 1]` where it is left out.
    /// Values beyond count as the nearer end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The policy that chooses the next pull.
    #[serde(default)]
    pub policy: BudgetPolicy,
    /// The arms among which the policy chooses.
    #[serde(default, skip_serializing_if = "BudgetArms::is_candidates")]
    pub arms: BudgetArms,
    /// Parts of the entered candidates to remove before anything is judged or refined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<Forget>,
    /// Number of concurrent pulls. They are chosen together, by the results of earlier pulls.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 64))]
    pub width: u32,
    /// Number of candidates to return, the best first.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub keep: u32,
    /// The budget for one task. At least one limit is required.
    pub budget: BudgetLimits,
    /// The stages that make a new candidate from one that entered: a translate stage, or a plan stage with
    /// `n` above 1. Without them, the entered candidates are the only ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RoundStage>")]
    pub sample: Vec<Stage>,
    /// The stages that refine a candidate once, as in a round of a refine stage: stages before the writer
    /// judge the unchanged candidate. Without them, nothing is refined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<RoundStage>")]
    pub round: Vec<Stage>,
    /// The judges of every candidate, sampled or refined: verify and plan stages.
    #[schemars(with = "Vec<RoundStage>", length(min = 1))]
    pub judge: Vec<Stage>,
}

/// The budget for one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetLimits {
    /// Requests to language models; one request may return several replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
    /// Tokens of requests and replies, as servers count them. What a server does not count is estimated: a token for every
    /// three bytes, and 16 for each turn of a request.
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

/// The policy that chooses between sampling and refining, and the candidate to refine.
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

/// The arms among which the policy of a budget stage chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetArms {
    /// Every candidate, new or refined.
    #[default]
    Candidates,
    /// Every entered or sampled candidate with all that is refined from it. A pull refines the branch's last candidate;
    /// the branch counts with its best value. Candidates whose domains and problems are equal, however they are written, are one.
    Branches,
}

impl BudgetArms {
    /// True for the default.
    pub const fn is_candidates(&self) -> bool {
        matches!(self, Self::Candidates)
    }
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
