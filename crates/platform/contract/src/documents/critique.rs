//! A critic's reply in structured form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Severity of a finding.
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
    /// The fault.
    pub finding: String,
    /// The place, in the critic's words; empty if the critic named none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The candidate's action that is meant, if it can be identified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Severity.
    pub severity: FindingSeverity,
    /// The proposed change; empty if the critic proposed none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub change: String,
}

/// The evidence of a critique (test-time-scaling paper, Eq. 3), as JSON in `Assessment.evidence`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Critique {
    /// True if the critic approves: stated, or derived from its findings. Absent if neither is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approves: Option<bool>,
    /// In the order of the reply.
    pub findings: Vec<CritiqueFinding>,
    /// Form of the reply: `structured`, `prose`, or `mixed`.
    pub form: String,
    /// The unchanged reply.
    pub reply: String,
    /// Remarks about the reply: cut off, a repetition of the last one, findings about actions that do not
    /// exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}
