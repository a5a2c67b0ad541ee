//! Verdicts: accepted, rejected, undecided, not comparable. A failure is something else (see [`crate::Failure`]).

use crate::{Candidate, Message, Outcome, ReportedDiagnostic, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Why a verifier could not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedReason {
    /// Time, memory or another limit.
    Limit,
    /// A construct that the verifier does not judge.
    Unsupported,
    /// There was nothing to judge, for example no plan.
    MissingInput,
}

/// A verifier's answer about one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Decision {
    /// Right, as far as this verifier looks.
    Accepted,
    /// Wrong.
    Rejected,
    /// Neither could be shown.
    Undecided {
        /// Why.
        reason: UndecidedReason,
        /// For a person.
        message: String,
    },
    /// The question makes no sense for this pair: a metric's precondition does not hold.
    NotComparable {
        /// Which precondition, for a person.
        message: String,
    },
}

impl Decision {
    /// The word used in tables: accepted, rejected, undecided, not-comparable.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Undecided { .. } => "undecided",
            Self::NotComparable { .. } => "not-comparable",
        }
    }
}

/// What a verifier has to say about one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// The verdict.
    #[serde(flatten)]
    pub decision: Decision,
    /// Metrics by the names declared in `PluginInfo.metrics`.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// What is wrong and where.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Texts for the model, ready for a prompt.
    #[serde(default)]
    pub feedback: Vec<String>,
    /// One or more lines for a person.
    #[serde(default)]
    pub summary: String,
    /// Further evidence, as the plugin's documentation describes it (a state trace, walks).
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub evidence: serde_json::Value,
    /// The turns to append to the stage's own conversation about the candidate, which the next round's request brings again. Nobody
    /// else sees them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

impl Assessment {
    /// An assessment without evidence.
    pub fn new(decision: Decision, summary: impl Into<String>) -> Self {
        Self {
            decision,
            metrics: BTreeMap::new(),
            diagnostics: Vec::new(),
            feedback: Vec::new(),
            summary: summary.into(),
            evidence: serde_json::Value::Null,
            messages: Vec::new(),
        }
    }
}

/// Asks a verifier about candidates of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyRequest {
    /// What the plugin may know of the task.
    pub task: TaskView,
    /// At least one. Several are the children of one round, or of one candidate, for a verifier with the capability `together`.
    pub candidates: Vec<Candidate>,
    /// For sampling; derived from the run's seed and the sample path.
    #[serde(default)]
    pub seed: u64,
    /// For each candidate, what the stages that the pipeline names had to say about it, ready for a prompt. Empty where it names
    /// none.
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
