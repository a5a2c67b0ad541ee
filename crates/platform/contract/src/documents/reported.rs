//! Diagnostics as documents: the form that JSON output, assessments and records hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
