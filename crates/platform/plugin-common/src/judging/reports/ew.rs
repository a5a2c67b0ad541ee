//! The output of `planforge pddl ew --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The exploration-walk metric of Definition 1 and Eq. 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EwReport {
    /// Harmonic mean of the two directions, 0 to 1; absent where a direction is not defined.
    #[serde(default)]
    pub score: Option<f64>,
    /// Share of the reference's walks that the candidate can execute; absent where the reference has no walk.
    #[serde(default)]
    pub reference_to_candidate: Option<f64>,
    /// Share of the candidate's walks that the reference can execute; absent where the candidate has no walk.
    #[serde(default)]
    pub candidate_to_reference: Option<f64>,
    /// Confidence interval of the score.
    #[serde(default)]
    pub interval: Option<EwInterval>,
    /// `exact` or `sampled`.
    pub mode: String,
    /// Details by direction: lengths, actions, walks, the shortest failing walk.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub details: serde_json::Value,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EwInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// At least this share of such intervals holds the true score; 1 where it was computed exactly.
    pub confidence: f64,
}
