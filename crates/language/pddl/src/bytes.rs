//! From bytes of a file to text, and texts that are refused before anything is read.

use planforge_diagnostics::{Diagnostic, SourceId, Span, skip_byte_order_mark, skip_byte_order_mark_bytes};

/// Largest text that is read, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// A decoded PDDL file.
#[derive(Debug, Clone, PartialEq)]
pub struct PddlText {
    /// The text without a byte-order mark. A byte of a comment that is not UTF-8 is read as the Latin-1 character of its value.
    pub text: String,
    /// `pddl.invalid-utf8` if a comment has such bytes; its span is that of the first one, in source 0.
    pub warning: Option<Diagnostic>,
}

/// Decodes the bytes of a PDDL file. Comments may hold bytes that are not UTF-8. A byte-order mark is skipped.
///
/// `name` is the file's name in messages; spans are in source 0, which is the decoded text.
///
/// # Errors
/// One diagnostic if the file is empty, larger than [`MAX_TEXT_BYTES`], binary or not UTF-8 outside of comments. For the
/// last two it contains the offset of the first offending byte.
#[expect(clippy::result_large_err, reason = "it ends the reading of a file; nothing is gained by a box")]
pub fn read_pddl_bytes(name: &str, bytes: &[u8]) -> Result<PddlText, Diagnostic> {
    check_bytes(name, bytes)?;
    let (text, warning) = match std::str::from_utf8(bytes) {
        Ok(text) => (skip_byte_order_mark(text).to_owned(), None),
        Err(_) => {
            let (text, warning) = decode_comments(name, bytes)?;
            (text, Some(warning))
        }
    };
    match refuse_text(&text, SourceId(0)) {
        Some(refusal) => Err(refusal),
        None => Ok(PddlText { text, warning }),
    }
}

/// Decodes the bytes of a text that is not PDDL: a pipeline file, a JSON document. A byte-order mark is skipped.
///
/// # Errors
/// As [`read_pddl_bytes`], and for every byte that is not UTF-8.
#[expect(clippy::result_large_err, reason = "it ends the reading of a file; nothing is gained by a box")]
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<String, Diagnostic> {
    check_bytes(name, bytes)?;
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid_byte(name, bytes, error.valid_up_to()).help("save the file as UTF-8"))?;
    match refuse_text(text, SourceId(0)) {
        Some(refusal) => Err(refusal),
        None => Ok(skip_byte_order_mark(text).to_owned()),
    }
}

/// Reads invalid bytes of comments as Latin-1. A comment goes from `;` to the end of its line.
#[expect(clippy::result_large_err, reason = "it ends the reading of a file; nothing is gained by a box")]
fn decode_comments(name: &str, bytes: &[u8]) -> Result<(String, Diagnostic), Diagnostic> {
    let mut text = String::with_capacity(bytes.len() + 64);
    let mut at = 0;
    let mut first = None;
    let mut invalid = 0_usize;
    let mut in_comment = false;
    for chunk in bytes.utf8_chunks() {
        let line = match chunk.valid().rsplit_once('\n') {
            Some((_, last_line)) => {
                in_comment = false;
                last_line
            }
            None => chunk.valid(),
        };
        in_comment |= line.contains(';');
        text.push_str(chunk.valid());
        at += chunk.valid().len();
        if chunk.invalid().is_empty() {
            continue;
        }
        if !in_comment {
            let error = invalid_byte(name, bytes, at);
            return Err(error.help("save the file as UTF-8; only comments may hold other bytes"));
        }
        first.get_or_insert(at);
        invalid += chunk.invalid().len();
        text.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
        at += chunk.invalid().len();
    }
    let first = first.unwrap_or_default();
    let more = if invalid > 1 { format!(", and {} more bytes", invalid - 1) } else { String::new() };
    let message = format!("{}, in a comment{more}", invalid_byte(name, bytes, first).message);
    let mark = bytes.len() - skip_byte_order_mark_bytes(bytes).len();
    text.drain(..mark);
    let start = (first - mark) as u32;
    let span = Span::new(start, start + 2);
    let warning = Diagnostic::warning("pddl.invalid-utf8", message).at(SourceId(0), span, "read as Latin-1");
    Ok((text, warning.help("save the file as UTF-8")))
}

fn invalid_byte(name: &str, bytes: &[u8], at: usize) -> Diagnostic {
    let line = line_of(bytes, at);
    let byte = bytes.get(at).copied().unwrap_or_default();
    let message = format!("{} is not UTF-8: byte {at} (line {line}) is 0x{byte:02x}", printable(name));
    Diagnostic::error("pddl.invalid-utf8", message).at(SourceId(0), Span::empty(at as u32), "")
}

/// Refuses what is too large or binary.
#[expect(clippy::result_large_err, reason = "it ends the reading of a file; nothing is gained by a box")]
fn check_bytes(name: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
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
    Ok(())
}

/// Returns why a text is rejected before it is read.
pub(crate) fn refuse_text(text: &str, source: SourceId) -> Option<Diagnostic> {
    if text.len() > MAX_TEXT_BYTES {
        return Some(too_large(text.len(), source));
    }
    if skip_byte_order_mark(text).trim().is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_diagnostics::SourceMap;

    #[test]
    fn a_byte_order_mark_is_skipped_and_moves_no_place() {
        let json = "\u{feff}{\"a\": 1}";
        assert_eq!(read_bytes("a.json", json.as_bytes()).unwrap(), "{\"a\": 1}");
        assert_eq!(read_bytes("a.json", "\u{feff} \n".as_bytes()).unwrap_err().code, "pddl.empty");
        let text = "(define (domain d) (:predicate (p))\n  (:predicate (p)))";
        let marked = format!("\u{feff}{text}");
        let read = read_pddl_bytes("d.pddl", marked.as_bytes()).unwrap();
        assert_eq!((read.text.as_str(), read.warning), (text, None));
        // Without a reader of files the mark is part of the text. Spans count it, columns do not.
        let places = |text: &str| -> Vec<(u32, u32)> {
            let sources = SourceMap::single("d.pddl", text);
            let found = crate::parse_domain(text, SourceId(0)).diagnostics;
            let unknown = found.iter().filter(|d| d.code == "pddl.unknown-section");
            let file = sources.get(SourceId(0)).unwrap();
            let place = |d: &Diagnostic| file.line_column(d.primary().unwrap().span.start);
            unknown.map(place).map(|place| (place.line, place.column)).collect()
        };
        assert_eq!(places(text), [(1, 21), (2, 4)]);
        assert_eq!(places(&marked), [(1, 21), (2, 4)]);
    }

    #[test]
    fn the_place_of_a_byte_in_a_comment_is_one_of_the_text_without_its_byte_order_mark() {
        let read = read_pddl_bytes("d.pddl", b"\xef\xbb\xbf; f\xfcr\n(define (domain d))").unwrap();
        assert!(read.text.starts_with("; f\u{fc}r\n"), "{}", read.text);
        let warning = read.warning.unwrap();
        assert_eq!(&read.text[warning.primary().unwrap().span.range()], "\u{fc}");
        assert!(warning.message.contains("byte 6 (line 1)"), "{}", warning.message);
    }
}
