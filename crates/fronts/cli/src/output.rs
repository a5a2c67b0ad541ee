//! Standard output holds the result and nothing else; everything for the person goes to standard error.

use crate::cause::{first_of_each, more_line};
use crate::exit::Exit;
use clap::ValueEnum;
use planforge_app::contract::{Failure, FailureClass, ReportedDiagnostic};
use planforge_app::diagnostics::{Diagnostic, Severity, SourceMap};
use serde_json::json;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The use of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Standard output and standard error of a command, with the settings of both.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// True for colours on standard error.
    pub(crate) colour: bool,
    /// True if standard error is a terminal, so that progress bars make sense.
    pub(crate) terminal: bool,
    pub(crate) progress: ProgressDisplay,
    /// True if errors of the same cause are all printed.
    pub(crate) all: bool,
    json: Arc<JsonState>,
    /// The first error of standard output.
    broken: Arc<OnceLock<String>>,
}

/// The progress of runs on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressDisplay {
    /// A bar if standard error is a terminal.
    Bar,
    /// A line at this interval.
    Lines(Duration),
    Nothing,
}

/// The one JSON object that `--json` promises. A command that ends without its own object prints its failures and diagnostics as one.
#[derive(Debug, Default)]
struct JsonState {
    /// True as long as an object is to be printed.
    owed: AtomicBool,
    problems: Mutex<Problems>,
}

#[derive(Debug, Default)]
struct Problems {
    failures: Vec<Failure>,
    diagnostics: Vec<ReportedDiagnostic>,
}

impl Output {
    /// An output without colours.
    pub(crate) fn new(json: bool) -> Self {
        let json = JsonState { owed: AtomicBool::new(json), ..JsonState::default() };
        let terminal = std::io::stderr().is_terminal();
        let progress = ProgressDisplay::Bar;
        Self { colour: false, terminal, progress, all: false, json: Arc::new(json), broken: Arc::default() }
    }

    /// Decides from the option, the variable `NO_COLOR` and the kind of standard error.
    pub(crate) fn with_colour(&self, colour: ColourChoice, no_color: Option<&String>) -> Self {
        let wanted = no_color.is_none_or(|value| value.is_empty());
        let colour = match colour {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => self.terminal && wanted,
        };
        Self { colour, ..self.clone() }
    }

    pub(crate) fn with_all_errors(&self, all: bool) -> Self {
        Self { all, ..self.clone() }
    }

    pub(crate) fn with_progress(&self, progress: ProgressDisplay) -> Self {
        Self { progress, ..self.clone() }
    }

    /// Prints an error and its help.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.note(&format!("error: {failure}"));
        if let Some(help) = &failure.help {
            self.note(&format!("help: {help}"));
        }
        self.record(|problems| problems.failures.push(failure.clone()));
    }

    /// Prints a mistake of the command line.
    pub(crate) fn usage_error(&self, message: String, help: Option<&str>) {
        self.note(&format!("error: {message}"));
        if let Some(help) = help {
            self.note(&format!("help: {help}"));
        }
        self.record_usage_error(message, help);
    }

    /// Keeps a mistake of the command line, already printed, for the JSON object.
    pub(crate) fn record_usage_error(&self, message: String, help: Option<&str>) {
        let failure = Failure::new(FailureClass::Request, "cli.usage", message);
        let failure = match help {
            Some(help) => failure.help(help),
            None => failure,
        };
        self.record(|problems| problems.failures.push(failure));
    }

    fn record(&self, add: impl FnOnce(&mut Problems)) {
        if self.owes_json() {
            add(&mut self.json.problems.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// True if `--json` was given and no object has been printed.
    pub(crate) fn owes_json(&self) -> bool {
        self.json.owed.load(Ordering::SeqCst)
    }

    /// Lifts the promise of an object, for help and version.
    pub(crate) fn owes_no_json(&self) {
        self.json.owed.store(false, Ordering::SeqCst);
    }

    /// Prints the object that is still owed: the exit code, failures and diagnostics.
    pub(crate) fn complete_json(&self, exit: Exit) {
        if self.owes_json() {
            let problems = self.json.problems.lock().unwrap_or_else(PoisonError::into_inner);
            let Problems { failures, diagnostics } = &*problems;
            self.json(&json!({ "exit": exit as u8, "failures": failures, "diagnostics": diagnostics }));
        }
    }

    /// Prints the result. A closed pipe is the reader's choice (`planforge ... | head`), not an error.
    pub(crate) fn result(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
            && error.kind() != ErrorKind::BrokenPipe
        {
            // Reported once, at the end: `standard_output_failure`.
            let _ = self.broken.set(error.to_string());
        }
    }

    /// The failure of standard output: the result of the command is lost, for instance because the disk is full.
    pub(crate) fn standard_output_failure(&self) -> Option<Failure> {
        self.broken.get().map(|error| {
            let message = format!("the result cannot be written to standard output: {error}");
            Failure::new(FailureClass::System, "cli.output", message)
                .help("the result is incomplete: make room where it is written, then repeat the command")
        })
    }

    /// Prints the result as pretty JSON with a line end.
    pub(crate) fn json<T: serde::Serialize>(&self, value: &T) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => {
                self.owes_no_json();
                self.result(&(text + "\n"));
            }
            Err(error) => self.note(&format!("error: the result cannot be written as JSON: {error}")),
        }
    }

    /// A line for the person.
    pub(crate) fn note(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        drop(writeln!(err, "{text}"));
    }

    /// Diagnostics with source snippets, one of each cause, and one line that counts all of them.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        let cause = |d: &&Diagnostic| (d.severity, d.code.clone(), d.message.clone());
        for (diagnostic, more) in first_of_each(diagnostics, self.all, cause) {
            self.note(planforge_app::diagnostics::render::text(diagnostic, sources, self.colour).trim_end());
            if let Some(line) = more_line(more) {
                self.note(&line);
            }
            self.note("");
        }
        if let Some(line) = count_line(diagnostics) {
            self.note(&line);
        }
        self.record(|problems| {
            problems.diagnostics.extend(diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)));
        });
    }
}

/// `2 errors, 1 warning`, or nothing where there is nothing to count.
pub(crate) fn count_line(diagnostics: &[Diagnostic]) -> Option<String> {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let parts: Vec<String> = [
        (count(Severity::Error), "error"),
        (count(Severity::Warning), "warning"),
        (count(Severity::Advice), "remark"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, word)| format!("{n} {word}{}", if n == 1 { "" } else { "s" }))
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
