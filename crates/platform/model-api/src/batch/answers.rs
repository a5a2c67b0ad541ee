//! Files of answers, read whole and checked before anything is made of them.

use crate::batch::line::{AnswerLine, MAX_LINE_BYTES, read_answer};
use crate::batch::redact::redact_line;
use crate::batch::requests::custom_id;
use planforge_contract::Failure;
use planforge_diagnostics::Diagnostic;
use planforge_llm::{ArrivedResult, DeferredReplies};
use planforge_record::{Redactor, sha256_hex};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The most mistakes to report one by one; the rest is counted.
const TOLD: usize = 100;

/// Place of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinePlace {
    file: String,
    line: u64,
}

impl std::fmt::Display for LinePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// All lines about one request.
#[derive(Debug)]
struct Entry {
    arrived: ArrivedResult,
    place: LinePlace,
    /// Temporary errors by the digest of their line: a repeated line counts once.
    passing: BTreeSet<String>,
}

/// The answers in the folder, by the `custom_id` of the request.
#[derive(Debug, Default)]
pub struct BatchReplies {
    entries: BTreeMap<String, Entry>,
    /// Answers that this session used.
    used: Mutex<BTreeSet<String>>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl BatchReplies {
    /// Adds the answers of a file, with secrets redacted.
    pub(crate) fn read(&mut self, path: &Path, redactor: &Redactor) {
        let shown = path.display().to_string();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) => {
                self.errors.push(Diagnostic::error("batch.io", format!("{shown} cannot be read: {e}")));
                return;
            }
        };
        let mut reader = BufReader::new(file);
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let place = LinePlace { file: shown.clone(), line: number };
            match next_line(&mut reader, &mut bytes) {
                Ok(Next::End) => break,
                Ok(Next::Line { whole }) => {
                    if number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
                        bytes.drain(..3);
                    }
                    let Ok(text) = std::str::from_utf8(&bytes) else {
                        let what = format!("{place}: this is not UTF-8");
                        self.errors
                            .push(Diagnostic::error("batch.line", what).help("save the file as UTF-8 text"));
                        return;
                    };
                    if !text.trim().is_empty() {
                        self.line(&redact_line(redactor, text.trim()), place, whole);
                    }
                }
                Ok(Next::TooLong) => {
                    let most = MAX_LINE_BYTES / 1_000_000;
                    let what = format!("{place}: this line is longer than {most} MB");
                    self.errors.push(Diagnostic::error("batch.line", what));
                }
                Err(e) => {
                    let what = format!("{shown} cannot be read to its end: {e}");
                    self.errors.push(Diagnostic::error("batch.io", what));
                    return;
                }
            }
        }
    }

    fn line(&mut self, text: &str, place: LinePlace, whole: bool) {
        match read_answer(text) {
            Ok(line) => self.add_line(line, text, place),
            // A file that is still being written, or was cut off on its way.
            Err(_) if !whole && serde_json::from_str::<Value>(text).is_err() => {
                let what = format!("{place}: the last line is cut off and was not read");
                let help = "bring the whole file once it is complete; it takes the place of this one";
                self.warnings.push(Diagnostic::warning("batch.torn", what).help(help));
            }
            Err(why) => self.errors.push(Diagnostic::error("batch.line", format!("{place}: {why}"))),
        }
    }

    /// Adds a line. A reply replaces an error, and a permanent error replaces a temporary one, since a
    /// repeated request got another answer.
    fn add_line(&mut self, line: AnswerLine, text: &str, place: LinePlace) {
        let digest = passes(&line.arrived).then(|| sha256_hex(text.as_bytes()));
        let Some(known) = self.entries.get_mut(&line.id) else {
            let passing = digest.into_iter().collect();
            self.entries.insert(line.id, Entry { arrived: line.arrived, place, passing });
            return;
        };
        known.passing.extend(digest);
        match (&known.arrived, &line.arrived) {
            (ArrivedResult::Body(a), ArrivedResult::Body(b)) if a != b => {
                let what = format!("`{}` has two different answers: {} and {place}", line.id, known.place);
                let help = "keep one of them: which one counts must not depend on the order of files";
                self.errors.push(Diagnostic::error("batch.twice", what).help(help));
            }
            (old, new) if rank(new) >= rank(old) => {
                known.arrived = line.arrived;
                known.place = place;
            }
            _ => {}
        }
    }

    /// Everything that keeps the files from being used; more than a hundred are counted.
    pub(crate) fn take_errors(&mut self) -> Vec<Diagnostic> {
        let mut errors = std::mem::take(&mut self.errors);
        let more = errors.len().saturating_sub(TOLD);
        if more > 0 {
            errors.truncate(TOLD);
            errors.push(Diagnostic::error("batch.line", format!("and {more} more malformed lines")));
        }
        errors
    }

    /// Findings about the files that do not prevent their use.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Number of requests with an answer or an error.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// True if the n-th time that a request was written is answered: by a reply, a permanent error, or `n` temporary errors.
    pub(crate) fn is_answered(&self, id: &str, n: usize) -> bool {
        self.entries.get(id).is_some_and(|entry| !passes(&entry.arrived) || entry.passing.len() >= n)
    }

    /// Number of temporary errors of the request.
    pub(crate) fn temporary_errors(&self, id: &str) -> usize {
        self.entries.get(id).map_or(0, |entry| entry.passing.len())
    }

    /// Answers to unknown requests, with their places: neither used in this session nor, by `asked`, in a
    /// request file.
    pub(crate) fn unknown(&self, asked: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = |(id, _): &(&String, &Entry)| !used.contains(*id) && !asked(id);
        let told = |(id, entry): (&String, &Entry)| (id.clone(), entry.place.to_string());
        self.entries.iter().filter(unknown).map(told).collect()
    }
}

impl DeferredReplies for BatchReplies {
    fn find(&self, key: &str, body: &Value) -> Result<Option<ArrivedResult>, Failure> {
        let id = custom_id(key, body);
        let Some(entry) = self.entries.get(&id) else { return Ok(None) };
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        Ok(Some(entry.arrived.clone()))
    }
}

fn passes(arrived: &ArrivedResult) -> bool {
    matches!(arrived, ArrivedResult::Failure(failure) if failure.class.is_transient())
}

fn rank(arrived: &ArrivedResult) -> u8 {
    match arrived {
        ArrivedResult::Body(_) => 2,
        ArrivedResult::Failure(_) if !passes(arrived) => 1,
        ArrivedResult::Failure(_) => 0,
    }
}

/// The next line of a file.
enum Next {
    End,
    /// A line; `whole` where a line feed ends it.
    Line {
        whole: bool,
    },
    TooLong,
}

fn next_line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> std::io::Result<Next> {
    let most = MAX_LINE_BYTES as u64 + 1;
    if reader.by_ref().take(most).read_until(b'\n', bytes)? == 0 {
        return Ok(Next::End);
    }
    let whole = bytes.last() == Some(&b'\n');
    if whole {
        bytes.pop();
    }
    if bytes.len() <= MAX_LINE_BYTES {
        return Ok(Next::Line { whole });
    }
    bytes.clear();
    while !whole && reader.by_ref().take(most).read_until(b'\n', bytes)? > 0 && bytes.last() != Some(&b'\n') {
        bytes.clear();
    }
    Ok(Next::TooLong)
}
