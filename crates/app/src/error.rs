//! The error of every use case: what is wrong, all of it at once, and the status that it ends with.

use crate::status::{Status, of_failure};
use planforge_contract::{Failure, FailureClass, ReportedDiagnostic};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_record::RecordError;
use serde::{Serialize, Serializer};
use serde_json::json;
use std::fmt;

/// The reason why a use case has no result.
#[derive(Debug, Clone)]
pub struct Error {
    /// The status that the use case ends with.
    pub status: Status,
    /// Everything that is wrong, in order. Empty only if findings that were sent as events are the reason.
    pub problems: Vec<Problem>,
    /// Commands to continue with.
    pub hints: Vec<String>,
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub enum Problem {
    /// Something broke, or was refused.
    Failure(Failure),
    /// The request is wrong: its options contradict each other, or name what does not exist. Code `cli.usage`.
    Usage(Failure),
    /// Findings in texts that were read.
    Findings {
        /// The findings. Warnings stand beside errors.
        diagnostics: Vec<Diagnostic>,
        /// The texts.
        sources: SourceMap,
    },
}

impl Error {
    /// An error of a status without a problem of its own: events have reported the reason.
    pub fn of_status(status: Status) -> Self {
        Self { status, problems: Vec::new(), hints: Vec::new() }
    }

    /// A wrong request.
    pub fn usage(message: impl Into<String>, help: Option<&str>) -> Self {
        let failure = Failure::new(FailureClass::Request, "cli.usage", message);
        let failure = match help {
            Some(help) => failure.help(help),
            None => failure,
        };
        Self { problems: vec![Problem::Usage(failure)], ..Self::of_status(Status::Usage) }
    }

    /// Findings that end the use case.
    pub fn findings(status: Status, diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Self {
        Self { problems: vec![Problem::Findings { diagnostics, sources }], ..Self::of_status(status) }
    }

    /// Several failures. The status is that of the gravest; `otherwise` if there is none.
    pub(crate) fn failures(failures: Vec<Failure>, otherwise: Status) -> Self {
        let status = failures.iter().map(of_failure).max().unwrap_or(otherwise);
        Self { problems: failures.into_iter().map(Problem::Failure).collect(), ..Self::of_status(status) }
    }

    /// The same error with another status.
    #[must_use]
    pub(crate) fn with_status(self, status: Status) -> Self {
        Self { status, ..self }
    }

    /// The same error with a command to continue with.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The errors of several parts as one; its status is that of the first.
    pub(crate) fn join(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut all = errors.next()?;
        for error in errors {
            all.problems.extend(error.problems);
            all.hints.extend(error.hints);
        }
        Some(all)
    }

    /// The code of the first failure or error, `area.name`.
    pub fn code(&self) -> &str {
        let code = self.problems.iter().find_map(|problem| match problem {
            Problem::Failure(failure) | Problem::Usage(failure) => Some(failure.code.as_str()),
            Problem::Findings { diagnostics, .. } => {
                diagnostics.iter().find(|d| d.is_error()).map(|d| d.code.as_ref())
            }
        });
        code.unwrap_or("cli.usage")
    }

    /// The first suggested action.
    pub fn help(&self) -> Option<&str> {
        self.problems.iter().find_map(|problem| match problem {
            Problem::Failure(failure) | Problem::Usage(failure) => failure.help.as_deref(),
            Problem::Findings { diagnostics, .. } => {
                diagnostics.iter().find_map(|d| d.help.first().map(String::as_str))
            }
        })
    }

    /// The failures among the problems.
    pub fn failures_found(&self) -> impl Iterator<Item = &Failure> {
        self.problems.iter().filter_map(|problem| match problem {
            Problem::Failure(failure) | Problem::Usage(failure) => Some(failure),
            Problem::Findings { .. } => None,
        })
    }

    /// The findings among the problems, with their places.
    pub fn diagnostics(&self) -> Vec<ReportedDiagnostic> {
        let findings = self.problems.iter().filter_map(|problem| match problem {
            Problem::Findings { diagnostics, sources } => Some((diagnostics, sources)),
            Problem::Failure(_) | Problem::Usage(_) => None,
        });
        findings
            .flat_map(|(diagnostics, sources)| diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)))
            .collect()
    }

    /// One failure with everything in its message, for a front that has room for one.
    pub fn to_failure(&self) -> Failure {
        if let [Problem::Failure(failure) | Problem::Usage(failure)] = &self.problems[..] {
            return failure.clone();
        }
        let first = self.failures_found().next();
        let class = first.map_or(FailureClass::Request, |failure| failure.class);
        let failure = Failure::new(class, self.code(), self.to_string());
        match first.and_then(|first| first.help.clone()) {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let status = of_failure(&failure);
        Self { problems: vec![Problem::Failure(failure)], ..Self::of_status(status) }
    }
}

impl From<RecordError> for Error {
    fn from(error: RecordError) -> Self {
        Failure::from(error).into()
    }
}

impl fmt::Display for Error {
    /// One line a problem.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures = self.failures_found().map(ToString::to_string);
        let found = self.diagnostics();
        let found =
            found.iter().map(|d| format!("{}: {} ({}:{}:{})", d.code, d.message, d.file, d.line, d.column));
        let lines: Vec<String> = failures.chain(found).collect();
        match lines.is_empty() {
            true => write!(f, "it ended with exit code {}", self.status as u8),
            false => f.write_str(&lines.join("\n")),
        }
    }
}

impl std::error::Error for Error {}

impl Serialize for Error {
    /// `{"exit": 31, "failures": [...], "diagnostics": [...]}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let failures: Vec<&Failure> = self.failures_found().collect();
        json!({ "exit": self.status as u8, "failures": failures, "diagnostics": self.diagnostics() })
            .serialize(serializer)
    }
}
