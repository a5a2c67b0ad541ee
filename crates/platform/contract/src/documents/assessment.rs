//! Assessments: accepted, rejected, undecided, not comparable. A failure is something else (see

use crate::{Message, ReportedDiagnostic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Reason why a verifier could not decide.
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
    /// Correct, as far as this verifier checks.
    Accepted,
    /// Wrong.
    Rejected,
    /// Neither could be shown.
    Undecided {
        /// Reason.
        reason: UndecidedReason,
        /// Message for a person.
        message: String,
    },
    /// The metric is not defined for this pair: its precondition does not hold.
    NotComparable {
        /// The precondition that does not hold, for a person.
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

/// A verifier's result for one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assessment {
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
    /// Metrics by the names declared in `PluginInfo.metrics`.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// Findings with their places.
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
    /// Turns to append to the stage's own conversation about the candidate, which the next round's request
    /// contains. Other stages do not see them.
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
