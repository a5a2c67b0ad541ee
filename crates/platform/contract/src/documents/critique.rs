//! What a critic says about a candidate, taken apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// The candidate is wrong because of it.
    #[default]
    Error,
    /// It may be meant.
    Warning,
}

/// One thing that a critic holds against a candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CritiqueFinding {
    /// What is wrong.
    pub finding: String,
    /// Where, in the critic's words; empty where it did not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The action of the candidate that is meant, where one can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// How much it matters.
    pub severity: FindingSeverity,
    /// What to do about it; empty where it did not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub change: String,
}

/// The evidence of a critique (test-time-scaling paper, Eq. 3), as JSON in `Assessment.evidence`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Critique {
    /// Whether the critic approves, where it said so or where it follows from its findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approves: Option<bool>,
    /// In the order of the reply.
    pub findings: Vec<CritiqueFinding>,
    /// How the reply was read: `structured`, `prose`, or `mixed`.
    pub form: String,
    /// The reply as it came.
    pub reply: String,
    /// What is remarkable about the reply: cut off, a repetition of the last one, findings about actions that do not exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}
