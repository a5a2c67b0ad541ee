//! Requests to verifiers.
//! [`crate::Failure`]).

use crate::{Assessment, Candidate, Message, Outcome, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request to assess candidates of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRequest {
    /// The task as the plugin may see it.
    pub task: TaskView,
    /// At least one. Several are the children of one round, or of one candidate, for a verifier with the capability `together`.
    pub candidates: Vec<Candidate>,
    /// For sampling; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
    /// For each candidate, the feedback of the stages that the pipeline names, ready for a prompt. Empty if
    /// it names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<Vec<String>>,
    /// For each candidate, the stage's own conversation about it and what it was made from so far. Empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversations: Vec<Vec<Message>>,
}

/// One result a candidate, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResponse {
    /// As many as candidates.
    pub results: Vec<Outcome<Assessment>>,
}
