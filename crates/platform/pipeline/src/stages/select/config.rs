//! The table of a select stage.

use crate::stages::order::Order;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `do = "select"`: keeps candidates that the method's own verifiers accept first, then the best by a metric. Stages that measure do not
/// count, and what the environment says counts only with `feedback = "environment"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectStage {
    /// The stage's name, unique in the file; `select-POSITION` where none is given.
    #[serde(default)]
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The metric, as `LABEL.NAME` of an earlier verify stage, `LABEL.cost` or `LABEL.steps` of an earlier plan stage,
    /// `candidate.log_likelihood` (the sum over the tokens, test-time-scaling paper, Eq. 1) or `candidate.mean_log_likelihood` (the
    /// sum divided by the number of tokens). Candidates without a value come last; ties go to `ties`, then to the order of the sample
    /// paths.
    pub by: String,
    /// A second metric, for candidates with the same value of the first, in the same `order`. Candidates without a value come last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<String>,
    /// Metrics for groups in which a member has no value of `by`, for example because a server returns no
    /// probabilities: the first of them that every member has a value of, else the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_several")]
    #[schemars(with = "OneOrSeveral")]
    pub otherwise: Vec<String>,
    /// Number of candidates to keep in each group.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub keep: u32,
    /// The label of an earlier translate stage: candidates that share its sample are one group. Left out, the task is
    /// the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// The better end of the metric.
    #[serde(default)]
    pub order: Order,
}

/// The forms of `otherwise`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrSeveral {
    /// One metric.
    One(String),
    /// Metrics, the first choice first.
    Several(Vec<String>),
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrSeveral::deserialize(deserializer)? {
        OneOrSeveral::One(metric) => vec![metric],
        OneOrSeveral::Several(metrics) => metrics,
    })
}
