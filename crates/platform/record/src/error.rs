//! Errors of run folders and cassettes.

use planforge_contract::{Failure, FailureClass};
use std::path::{Path, PathBuf};

/// A run folder or cassette could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{} [{code}]", place(path.as_deref(), *line))]
pub struct RecordError {
    /// Stable code, listed in [`crate::CODES`].
    pub code: &'static str,
    /// One sentence for a person.
    pub message: String,
    /// The file, where one is meant.
    pub path: Option<PathBuf>,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// One action to take.
    pub help: Option<String>,
}

fn place(path: Option<&Path>, line: Option<usize>) -> String {
    match (path, line) {
        (Some(path), Some(line)) => format!(" ({}:{line})", path.display()),
        (Some(path), None) => format!(" ({})", path.display()),
        (None, _) => String::new(),
    }
}

impl RecordError {
    /// An error with code and message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), path: None, line: None, help: None }
    }
    /// `record.io`: the operating system refused.
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new("record.io", format!("cannot {doing}: {error}")).at(path)
    }
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.path = Some(path.to_owned());
        self
    }
    /// Adds the line, from 1.
    #[must_use]
    pub fn line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        let message = format!("{}{}", error.message, place(error.path.as_deref(), error.line));
        let failure = Self::new(FailureClass::System, error.code, message);
        match error.help {
            Some(help) => failure.help(help),
            None => failure,
        }
    }
}
