//! Asking a translator for PDDL.

use crate::{Candidate, CandidatePatch, Outcome, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// True if machine-applicable fixes are applied to a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FixPolicy {
    /// Leave the text as it came.
    #[default]
    None,
    /// Apply every safe fix and record each.
    Safe,
}

/// A request for `n` continuations of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateRequest {
    /// The task as the plugin may see it.
    pub task: TaskView,
    /// The candidate to continue.
    pub candidate: Candidate,
    /// Feedback of the verifiers, ready for a prompt; empty in the first round.
    #[serde(default)]
    pub feedback: Vec<String>,
    /// Number of samples; at least 1.
    pub n: u32,
    /// Policy for fixes of the written text.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// For choices of the plugin's own; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
}

/// One result a sample, in sample order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranslateResponse {
    /// One result a sample: exactly `n`.
    pub samples: Vec<Outcome<CandidatePatch>>,
}
