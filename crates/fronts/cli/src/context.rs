//! The context of every command: its output, and the context of the use cases that it calls.

use crate::exit::Exit;
use crate::output::{Output, ProgressDisplay};
use crate::progress::EventPrinter;
use planforge_app::{Error, Problem};
use std::sync::Arc;

/// Output of a command, and the context of the use cases.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) app: planforge_app::Context,
}

impl Context {
    /// A context whose events are printed.
    pub(crate) fn new(output: Output, app: planforge_app::Context) -> Self {
        let events = Arc::new(EventPrinter::new(output.clone()));
        Self { output, app: planforge_app::Context { events, ..app } }
    }

    /// Returns the same context with another display of progress.
    pub(crate) fn with_progress(&self, progress: ProgressDisplay) -> Self {
        Self::new(self.output.with_progress(progress), self.app.clone())
    }

    /// Prints everything that is wrong and returns the exit code.
    pub(crate) fn print_error(&self, error: &Error) -> Exit {
        for problem in &error.problems {
            match problem {
                Problem::Failure(failure) => self.output.failure(failure),
                Problem::Usage(failure) => {
                    self.output.usage_error(failure.message.clone(), failure.help.as_deref());
                }
                Problem::Findings { diagnostics, sources } => self.output.diagnostics(diagnostics, sources),
            }
        }
        error.hints.iter().for_each(|hint| self.output.note(hint));
        error.status
    }

    /// Prints the error of a use case, or shows its result.
    pub(crate) fn show<T>(&self, result: Result<T, Error>, show: impl FnOnce(T) -> Exit) -> Exit {
        match result {
            Ok(result) => show(result),
            Err(error) => self.print_error(&error),
        }
    }
}
