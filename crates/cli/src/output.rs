//! Standard output holds the result and nothing else; everything for the person goes to standard error.

use crate::args::Colour;
use planforge_diagnostics::{Diagnostic, Severity, SourceMap};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// Where to write, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Colours on standard error.
    pub(crate) colour: bool,
    /// Standard error is a terminal: progress bars make sense.
    pub(crate) terminal: bool,
    /// How the progress of runs is shown.
    pub(crate) progress: Shows,
}

/// How the progress of runs is shown on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// As a bar, where that is a terminal.
    Bar,
    /// As a line every so often.
    Lines(Duration),
    /// Not at all.
    Nothing,
}

impl Output {
    /// Decides from the option, `NO_COLOR` and whether standard error is a terminal.
    pub(crate) fn new(colour: Colour) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let wanted = crate::environment::variable("NO_COLOR").is_none_or(|v| v.is_empty());
        let colour = match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => terminal && wanted,
        };
        Self { colour, terminal, progress: Shows::Bar }
    }

    /// The result. A closed pipe is the reader's choice (`planforge ... | head`), not an error.
    pub(crate) fn result(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // Nobody is left to tell when standard output is gone.
        drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// The result as pretty JSON with a line end.
    pub(crate) fn json<T: serde::Serialize>(&self, value: &T) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.result(&(text + "\n")),
            Err(error) => self.note(&format!("error: the result cannot be written as JSON: {error}")),
        }
    }

    /// A line for the person.
    pub(crate) fn note(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        drop(writeln!(err, "{text}"));
    }

    /// Diagnostics with source snippets, and one line that counts them.
    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        for diagnostic in diagnostics {
            self.note(planforge_diagnostics::render::text(diagnostic, sources, self.colour).trim_end());
            self.note("");
        }
        if let Some(line) = count_line(diagnostics) {
            self.note(&line);
        }
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
