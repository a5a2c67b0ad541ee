//! Diagnostics of texts: PDDL, plans, pipeline files.
//!
//! A [`Diagnostic`] has a stable code, a severity, a message, labelled byte spans, help lines and, if a fix
//! is safe, a machine-applicable [`Fix`]. This crate renders diagnostics for people ([`render`]) and for
//! programs ([`json`]); it never prints.

mod apply;
mod codes;
pub mod json;
pub mod render;
mod source;

pub use apply::{Applied, FixError, apply_fixes};
pub use codes::{CodeInfo, count_codes, find_code, read_codes};
pub use source::{LineColumn, SourceFile, SourceMap, skip_byte_order_mark, skip_byte_order_mark_bytes};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A half-open range of byte offsets into one source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    pub start: u32,
    /// One past the last byte; never below `start`.
    pub end: u32,
}

impl Span {
    /// A span over `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }
    /// The empty span at `at`.
    pub const fn empty(at: u32) -> Self {
        Self { start: at, end: at }
    }
    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
    /// The same span as a `usize` range, to slice the source with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Index of a source in a [`SourceMap`]. `SourceId(0)` is the only source of a single-text check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct SourceId(pub u32);

/// Severity of a diagnostic. Only [`Severity::Error`] makes a check fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Advice,
    /// Read and understood, but probably not what was meant.
    Warning,
    /// The text cannot be used unchanged.
    Error,
}

/// A place in a source with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The source the span points into.
    pub source: SourceId,
    pub span: Span,
    /// Text next to the place; may be empty for the primary label.
    pub message: String,
    /// The first primary label gives the diagnostic its line and column.
    pub primary: bool,
}

/// One replacement of a fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The source to change.
    pub source: SourceId,
    /// The bytes replaced; empty to insert.
    pub span: Span,
    pub replacement: String,
}

/// A change that a program may apply without asking, because it cannot change the meaning of what could be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Description in the imperative: "add 2 closing parentheses".
    pub title: String,
    /// The replacements, not overlapping.
    pub edits: Vec<Edit>,
}

/// A finding about a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable code, `area.name`, for example `pddl.undefined-predicate`.
    pub code: Cow<'static, str>,
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// Ways out, one sentence each.
    pub help: Vec<String>,
    /// A safe repair, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic without a place yet.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code),
            severity,
            message: message.into(),
            labels: vec![],
            help: vec![],
            fix: None,
        }
    }
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }
    pub fn advice(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Advice, code, message)
    }
    /// Adds the primary place.
    #[must_use]
    pub fn at(mut self, source: SourceId, span: Span, message: impl Into<String>) -> Self {
        self.labels.insert(0, Label { source, span, message: message.into(), primary: true });
        self
    }
    /// Adds a secondary place.
    #[must_use]
    pub fn also(mut self, source: SourceId, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { source, span, message: message.into(), primary: false });
        self
    }
    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
    /// Attaches a safe repair.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }
    /// The first primary label, or the first of all.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.iter().find(|l| l.primary).or_else(|| self.labels.first())
    }
    /// True if the diagnostic makes a check fail.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
