//! The table of a refine stage.

use crate::stages::order::Order;
use crate::stages::{RoundStage, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `do = "refine"`: rounds of judging and writing, for each candidate on its own. Algorithm 1 of the exploration-walk paper (section
/// 4.4) writes first and judges the children; iVML (test-time-scaling paper, section 3.3) has a critic look at the candidate first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefineStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// Most rounds for one candidate (c_max, or T). With `stop` it may end earlier.
    #[schemars(range(min = 1, max = 1000))]
    pub rounds: u32,
    /// The metric by which the best of a round, and of all rounds, is chosen if none is accepted:
    /// `LABEL.NAME` of a verify or plan stage of the round, or one of the candidate's own. Children without a
    /// value come last; ties go to the earlier. It is optional with `keep = "last"`: accepted children are
    /// then not compared, and the first is taken.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The better end of the metric.
    #[serde(default, skip_serializing_if = "Order::is_highest")]
    pub order: Order,
    /// The candidate that the next round starts from.
    #[serde(default)]
    pub continue_from: ContinueFrom,
    /// The candidate that is returned.
    #[serde(default)]
    pub keep: KeepRound,
    /// The condition that ends the rounds early.
    #[serde(default, skip_serializing_if = "StopRounds::is_accepted")]
    pub stop: StopRounds,
    /// Parts of the candidate to remove before the first round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<Forget>,
    /// The stages of a round, in order. Exactly one of them writes: a translate stage or, without one, a plan
    /// stage with `feedback`. Verify and plan stages before it judge the candidate that enters the round,
    /// those behind it judge its children.
    #[schemars(with = "Vec<RoundStage>", length(min = 1))]
    pub round: Vec<Stage>,
}

/// The candidate that the next round of a refine stage starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinueFrom {
    /// The best child of the last round, even when an earlier one was better (the paper's Algorithm 1).
    #[default]
    RoundBest,
    /// The best child of all rounds so far.
    BestSoFar,
}

/// The candidate that a refine stage returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeepRound {
    /// The best of all rounds (the paper's Algorithm 1).
    #[default]
    Best,
    /// The best of the last round that had a child; the entered candidate if none had.
    Last,
}

/// The condition that ends the rounds of a refine stage early.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StopRounds {
    /// Every judge of the round accepts: those before the writer accept the candidate that enters the round,
    /// which is then returned unchanged, or those behind it accept a child. Measurements and select stages
    /// are not judges.
    #[default]
    Accepted,
    /// Never (iVML as the test-time-scaling paper runs it).
    Never,
}

impl StopRounds {
    /// True for the default.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }
}

/// Parts of a candidate that a refine stage can remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Forget {
    /// The domain, and with it all results about the candidate.
    Domain,
    /// The problem, and with it all results about the candidate.
    Problem,
    /// The conversation so far.
    Conversation,
}
