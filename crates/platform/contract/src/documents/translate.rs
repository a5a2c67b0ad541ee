//! Asking a translator for PDDL.

use crate::{Candidate, CandidatePatch, Outcome, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether machine-applicable fixes are applied to what a model wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FixPolicy {
    /// Leave the text as it came.
    #[default]
    None,
    /// Apply every safe fix and record each.
    Safe,
}

/// Asks for `n` continuations of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateRequest {
    /// What the plugin may know of the task.
    pub task: TaskView,
    /// Where to go on from.
    pub candidate: Candidate,
    /// What the verifiers had to say, ready for a prompt; empty in the first round.
    #[serde(default)]
    pub feedback: Vec<String>,
    /// How many samples; at least 1.
    pub n: u32,
    /// Whether to fix what was written.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// For choices of the plugin's own; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
}

/// One result a sample, in sample order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateResponse {
    /// Exactly `n` results.
    pub samples: Vec<Outcome<CandidatePatch>>,
}
