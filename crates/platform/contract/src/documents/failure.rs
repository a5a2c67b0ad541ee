//! The tool broke. A failure is never a verdict: no table counts it as "invalid" or "unsolvable".

use crate::ReportedDiagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failure of a tool. The caller decides between a retry, going on and stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// The plugin panicked, returned nonsense or broke a rule; its instance is not used again.
    Plugin,
    /// The plugin was asked for something that it does not do, or with options that make no sense together.
    Request,
    /// A language model or its server failed after all retries.
    Provider,
    /// A reply held nothing usable: no PDDL, no plan, or text cut off.
    Reply,
    /// The conversation no longer fits the model's context.
    ContextOverflow,
    /// A cap on calls, tokens or cost was reached.
    Budget,
    /// Time, memory or output limit of a call.
    Limit,
    /// A reply of a model is deferred: it arrives in a later session of the run.
    Deferred,
    /// The run was interrupted.
    Cancelled,
    /// Replay: the journal does not hold what was asked.
    ReplayMiss,
    /// Files, processes, the operating system.
    System,
}

/// A failure of the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Class of the failure.
    pub class: FailureClass,
    /// Stable code, `area.name`, for `planforge explain`.
    pub code: String,
    /// One or more sentences for a person. Never holds a secret.
    pub message: String,
    /// Place in the source code, for a panic: `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// One suggested action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The findings that it sums up, where a text could not be used: each with its place in that text.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub diagnostics: Box<[ReportedDiagnostic]>,
}

impl Failure {
    /// A failure with code and message.
    pub fn new(class: FailureClass, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
            place: None,
            help: None,
            diagnostics: Box::default(),
        }
    }
    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
    /// Adds the place in the source code.
    #[must_use]
    pub fn place(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }
    /// Adds the findings that it sums up.
    #[must_use]
    pub fn diagnostics(mut self, diagnostics: Vec<ReportedDiagnostic>) -> Self {
        self.diagnostics = diagnostics.into();
        self
    }
    /// `llm.pending`: a reply of a model arrives in a later session of the run. A plugin returns this failure
    /// unchanged for each sample or candidate that depends on the reply.
    pub fn deferred(reason: impl Into<String>) -> Self {
        Self::new(FailureClass::Deferred, "llm.pending", reason)
    }
    /// True if the result depends on a deferred reply.
    pub fn is_deferred(&self) -> bool {
        self.class == FailureClass::Deferred
    }
    /// `host.forbidden`: plugins of this kind may not call that service.
    pub fn forbidden(what: &str) -> Self {
        Self::new(
            FailureClass::Request,
            "host.forbidden",
            format!("this kind of plugin may not call `{what}`"),
        )
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// One result of several in a batch: `{"ok": ...}` or `{"failure": ...}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome<T> {
    /// Success.
    Ok(T),
    /// Failure.
    Failure(Failure),
}

impl<T> From<Result<T, Failure>> for Outcome<T> {
    fn from(result: Result<T, Failure>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(failure) => Self::Failure(failure),
        }
    }
}

impl<T> Outcome<T> {
    /// True for a failure that depends on a deferred reply.
    pub fn is_deferred(&self) -> bool {
        matches!(self, Self::Failure(failure) if failure.is_deferred())
    }

    /// As a standard result.
    ///
    /// # Errors
    /// The failure, where it broke.
    pub fn into_result(self) -> Result<T, Failure> {
        match self {
            Self::Ok(value) => Ok(value),
            Self::Failure(failure) => Err(failure),
        }
    }
}
