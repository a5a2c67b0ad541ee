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
    /// Most rounds for one candidate (c_max, or T). `stop` says when it ends earlier.
    #[schemars(range(min = 1, max = 1000))]
    pub rounds: u32,
    /// The metric by which the best of a round, and of all rounds, is chosen where none is accepted: `LABEL.NAME` of a verify
    /// or plan stage of the round, or one of the candidate's own. Children without a value come last; ties go to the earlier. It may be
    /// left out where `keep = "last"`: children that are accepted alike are then compared by nothing, and the first goes on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Which end of the metric is better.
    #[serde(default, skip_serializing_if = "Order::is_highest")]
    pub order: Order,
    /// What the next round goes on from.
    #[serde(default)]
    pub continue_from: ContinueFrom,
    /// What is returned in the end.
    #[serde(default)]
    pub keep: KeepRound,
    /// When the rounds end before all were made.
    #[serde(default, skip_serializing_if = "StopRounds::is_accepted")]
    pub stop: StopRounds,
    /// What is taken off the candidate before the first round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<Forget>,
    /// The stages of a round, in order. Exactly one of them writes: a translate stage or, where there is none, a plan stage with
    /// `feedback`. Verify and plan stages before it look at what came into the round, those behind it at its children.
    #[schemars(with = "Vec<RoundStage>", length(min = 1))]
    pub round: Vec<Stage>,
}

/// What a refine stage's next round goes on from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinueFrom {
    /// The best child of the last round, even when an earlier one was better (the paper's Algorithm 1).
    #[default]
    RoundBest,
    /// The best child of all rounds so far.
    BestSoFar,
}

/// What a refine stage returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeepRound {
    /// The best of all rounds (the paper's Algorithm 1).
    #[default]
    Best,
    /// The best of the last round that had a child; what came in where none had.
    Last,
}

/// When a refine stage ends before all rounds were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StopRounds {
    /// Where every judging stage of the round accepts: those before the writer what came in, which is then returned as it is, or
    /// those behind it a child. Measurements and select stages do not judge.
    #[default]
    Accepted,
    /// Never (iVML as the test-time-scaling paper runs it).
    Never,
}

impl StopRounds {
    /// Whether it is the usual one.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted)
    }
}

/// What a refine stage can take off a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Forget {
    /// The domain, and with it all that was said about the candidate.
    Domain,
    /// The problem, and with it all that was said about the candidate.
    Problem,
    /// The conversation so far.
    Conversation,
}
