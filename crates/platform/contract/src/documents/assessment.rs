//! Assessments (accepted, rejected, undecided, not comparable) and what they hold: diagnostics and critiques. A failure is something else (see
//! [`crate::Failure`]).

use crate::Message;
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

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportedSeverity {
    /// Information; nothing is wrong.
    Advice,
    /// Probably not what was meant.
    Warning,
    /// Unusable as it stands.
    Error,
}

/// A diagnostic with its place resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedDiagnostic {
    /// Stable code, `area.name`.
    pub code: String,
    /// Severity.
    pub severity: ReportedSeverity,
    /// One sentence.
    pub message: String,
    /// The file, or what stands for one (`domain`, `problem`, `plan`, `reply`).
    pub file: String,
    /// Line, from 1; 0 where the diagnostic has no place.
    pub line: u32,
    /// Column in characters, from 1; 0 where the diagnostic has no place.
    pub column: u32,
    /// First byte of the primary span.
    #[serde(default)]
    pub start: u32,
    /// One past its last byte.
    #[serde(default)]
    pub end: u32,
    /// Suggested actions.
    #[serde(default)]
    pub help: Vec<String>,
}

impl ReportedDiagnostic {
    /// Resolves the place of a diagnostic in its sources.
    pub fn of(
        diagnostic: &planforge_diagnostics::Diagnostic,
        sources: &planforge_diagnostics::SourceMap,
    ) -> Self {
        use planforge_diagnostics::Severity;
        let place = diagnostic.primary().and_then(|l| sources.get(l.source).map(|f| (f, l.span)));
        let at = place.map(|(file, span)| file.line_column(span.start));
        Self {
            code: diagnostic.code.to_string(),
            severity: match diagnostic.severity {
                Severity::Advice => ReportedSeverity::Advice,
                Severity::Warning => ReportedSeverity::Warning,
                Severity::Error => ReportedSeverity::Error,
            },
            message: diagnostic.message.clone(),
            file: place.map(|(file, _)| file.name.clone()).unwrap_or_default(),
            line: at.map_or(0, |a| a.line),
            column: at.map_or(0, |a| a.column),
            start: place.map_or(0, |(_, span)| span.start),
            end: place.map_or(0, |(_, span)| span.end),
            help: diagnostic.help.clone(),
        }
    }
}

/// A machine-applicable fix that was applied to a model's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedFix {
    /// The diagnostic it answers.
    pub code: String,
    /// The change, for example "add 2 closing parentheses".
    pub title: String,
    /// Line of the text before the fix, from 1.
    pub line: u32,
    /// Column of the text before the fix, from 1.
    pub column: u32,
}
