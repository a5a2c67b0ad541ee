//! From bytes of a file to text, and texts that are refused before anything is read.

use planforge_diagnostics::{Diagnostic, SourceId, Span};

/// Largest text that is read, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// Decodes the bytes of a PDDL file.
///
/// `name` is the file's name in messages; spans are in source 0.
///
/// # Errors
/// One diagnostic if the file is empty, larger than [`MAX_TEXT_BYTES`], binary or not UTF-8. For the last two
/// it contains the offset of the first offending byte.
#[expect(clippy::result_large_err, reason = "it ends the reading of a file; nothing is gained by a box")]
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<String, Diagnostic> {
    let source = SourceId(0);
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(too_large(bytes.len(), source));
    }
    if let Some(at) = bytes.iter().position(|b| *b == 0) {
        let line = line_of(bytes, at);
        return Err(Diagnostic::error(
            "pddl.binary",
            format!("{} is not a text: byte {at} (line {line}) is zero", printable(name)),
        )
        .at(source, Span::empty(at as u32), "")
        .help("is this the right file?"));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let (line, byte) = (line_of(bytes, at), bytes[at]);
            return Err(Diagnostic::error(
                "pddl.invalid-utf8",
                format!("{} is not UTF-8: byte {at} (line {line}) is 0x{byte:02x}", printable(name)),
            )
            .at(source, Span::empty(at as u32), "")
            .help("save the file as UTF-8"));
        }
    };
    match refuse_text(text, source) {
        Some(refusal) => Err(refusal),
        None => Ok(text.to_owned()),
    }
}

/// Returns why a text is rejected before it is read.
pub(crate) fn refuse_text(text: &str, source: SourceId) -> Option<Diagnostic> {
    if text.len() > MAX_TEXT_BYTES {
        return Some(too_large(text.len(), source));
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Some(
            Diagnostic::error("pddl.empty", "the text is empty")
                .at(source, Span::empty(0), "")
                .help("a definition begins with `(define`"),
        );
    }
    None
}

fn too_large(bytes: usize, source: SourceId) -> Diagnostic {
    let limit = MAX_TEXT_BYTES >> 20;
    Diagnostic::error("pddl.too-large", format!("the text has {bytes} bytes; at most {limit} MiB are read"))
        .at(source, Span::empty(0), "")
        .help("is this the right file?")
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|b| **b == b'\n').count() + 1
}

fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
