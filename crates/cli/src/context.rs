//! The context of every command: output, plugin search path, and the printing of failures.

use crate::exit::{Exit, of_failure};
use crate::inputs::read_text;
use crate::output::{Output, ProgressDisplay};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceMap;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Output and plugin search path of a command.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) output: Output,
    /// Folders searched for plugins, in order.
    pub(crate) search_path: Vec<PathBuf>,
    /// True if plugin libraries run in child processes.
    pub(crate) isolate_plugins: bool,
    /// Servers that may get keys, from `--allow-host`.
    pub(crate) allowed_hosts: Vec<String>,
    /// True if pipelines may start the programs that they name, from `--allow-commands`.
    pub(crate) allow_commands: bool,
}

impl Context {
    /// Returns the same context with another display of progress.
    pub(crate) fn with_progress(&self, progress: ProgressDisplay) -> Self {
        Self { output: self.output.with_progress(progress), ..self.clone() }
    }

    /// Prints a failure and returns its exit code.
    pub(crate) fn print_failure(&self, failure: &Failure) -> Exit {
        self.output.failure(failure);
        of_failure(failure)
    }

    /// Prints a mistake of the command line.
    pub(crate) fn usage_error(&self, message: impl Into<String>, help: Option<&str>) -> Exit {
        self.output.usage_error(message.into(), help);
        Exit::Usage
    }

    /// Reads a text file named on the command line; a problem with it is printed.
    pub(crate) fn read_text(&self, path: &Path) -> Result<String, Exit> {
        read_text(path).map_err(|diagnostic| {
            let name = path.display().to_string();
            self.output.diagnostics(&[*diagnostic], &SourceMap::single(name, ""));
            Exit::Input
        })
    }

    /// Reads a JSON document that an earlier command wrote; a problem with it is printed.
    pub(crate) fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<T, Exit> {
        self.parse_json(path, &self.read_text(path)?)
    }

    /// Parses the text of such a document.
    pub(crate) fn parse_json<T: DeserializeOwned>(&self, path: &Path, text: &str) -> Result<T, Exit> {
        serde_json::from_str(text).map_err(|e| {
            let message = format!("{}: {e}", path.display());
            self.print_failure(&Failure::new(FailureClass::System, "record.corrupt", message))
        })
    }
}
