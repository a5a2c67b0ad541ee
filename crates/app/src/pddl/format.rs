//! One layout for PDDL texts. Comments and order stay.

use crate::context::Context;
use crate::error::Error;
use crate::files::{refuse_part_of_run, rewrite};
use crate::inputs::Source;
use crate::status::Status;
use planforge_diagnostics::{Diagnostic, Severity, SourceId, SourceMap};
use planforge_format::{FormatError, format_pddl};
pub use planforge_pddl::MAX_TEXT_BYTES;
use planforge_pddl::PddlText;
use serde::Serialize;

/// A text to lay out.
#[derive(Debug, Clone)]
pub struct FormatRequest {
    /// The text. A file is changed in place.
    pub source: Source,
    /// True if nothing is written.
    pub check: bool,
}

/// A text in the layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FormatResult {
    /// The text in the layout.
    pub text: String,
    /// True if the text was not in the layout.
    pub changed: bool,
}

/// Lays out a text.
///
/// # Errors
/// A text that cannot be read or has errors, a file that cannot be written.
pub fn format(context: &Context, request: &FormatRequest) -> Result<FormatResult, Error> {
    let name = request.source.name();
    let refused =
        |found, text: &str, status| Error::findings(status, found, SourceMap::single(name.to_string(), text));
    let text = match request.source.read_pddl(context) {
        Ok(PddlText { text, warning: None }) => text,
        // The bytes that are not UTF-8 would be lost.
        Ok(PddlText { text, warning: Some(warning) }) => {
            let error = Diagnostic { severity: Severity::Error, ..warning };
            return Err(refused(vec![error], &text, Status::Input));
        }
        Err(diagnostic) => return Err(refused(vec![*diagnostic], "", Status::Input)),
    };
    let formatted = match format_pddl(&text, SourceId(0)) {
        Ok(formatted) => formatted,
        Err(FormatError::Unreadable(diagnostics)) => {
            return Err(refused(diagnostics, &text, Status::Negative));
        }
        Err(error @ FormatError::Changed) => {
            let help = "this is a bug in planforge; please report it with the file";
            let message = format!("{name}: {error}; nothing was written");
            return Err(Error::usage(message, Some(help)).with_status(Status::Panic));
        }
    };
    let changed = formatted != text;
    if let (Source::File(path), true, false) = (&request.source, changed, request.check) {
        let path = context.path(path);
        refuse_part_of_run(&path)?;
        rewrite(&path, formatted.as_bytes())?;
    }
    Ok(FormatResult { text: formatted, changed })
}
