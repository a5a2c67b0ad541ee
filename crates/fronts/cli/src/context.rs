//! The context of every command: its output, and the context of the use cases that it calls.

use crate::exit::Exit;
use crate::output::{Output, ProgressDisplay};
use crate::progress::EventPrinter;
use planforge_app::{Cancellation, Error, Problem, WorkerCommand};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The form in which the command is installed.
#[derive(Debug, Clone, Default)]
pub struct Installation {
    /// The program that serves as worker process.
    pub worker: Option<WorkerCommand>,
    /// The folder for plugins that belong to the installation. It need not exist.
    pub plugins: Option<PathBuf>,
}

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

/// Cancels the use case at the first signal: a run stops, completes its record and prints how to resume. A second signal, or the first one
/// before a use case checks the token, ends the process; an output that owes a JSON object prints it then.
pub(crate) fn cancel_at_interrupt(cancellation: &Cancellation, output: &Output) {
    let (cancellation, output) = (cancellation.clone(), output.clone());
    let handler = move || {
        if cancellation.cancel() || !cancellation.is_watched() {
            output.complete_json(Exit::Interrupted);
            #[allow(clippy::exit, reason = "the journal is complete at any moment")]
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
    };
    // Fails only if a handler is already set, which then stays in charge.
    drop(ctrlc::set_handler(handler));
}

/// The variables whose names and values are text.
#[allow(clippy::disallowed_methods, reason = "the one place that may")]
pub(crate) fn variables() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Folders searched for plugin libraries, in order: the option, the variable, the installation. Never
/// the working directory, so that entering a folder cannot load code from it.
#[allow(clippy::disallowed_methods, reason = "the one place that may")]
pub(crate) fn plugin_search_path(flags: &[PathBuf], installation: &Installation) -> Vec<PathBuf> {
    let mut path = flags.to_vec();
    if let Some(list) = std::env::var_os("PLANFORGE_PLUGINS") {
        // An empty entry would mean the working directory.
        path.extend(std::env::split_paths(&list).filter(|p| !p.as_os_str().is_empty()));
    }
    path.extend(installation.plugins.clone().filter(|folder| folder.is_dir()));
    path
}
