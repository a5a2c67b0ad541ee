//! Hints for a replay that misses a record.

use crate::index::split_key;
use crate::{CompletionRecord, Lookup, RecordError};
use serde_json::Value;
use similar::TextDiff;

/// Longest diff shown, in lines.
const MAX_LINES: usize = 60;

/// The recorded request that comes closest to one that was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nearest {
    /// The record is empty.
    Empty,
    /// The same request is recorded under another sample path.
    OtherPath { path: String },
    /// Another request is recorded at the same path, or else at the closest one.
    OtherRequest {
        path: String,
        /// Unified diff from the recorded request to the one that is missing.
        diff: String,
    },
}

impl std::fmt::Display for Nearest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "the record has no requests"),
            Self::OtherPath { path } => write!(f, "the same request was recorded at `{path}`"),
            Self::OtherRequest { path, diff } => {
                write!(f, "the nearest recorded request is the one at `{path}`; it differs:\n{diff}")
            }
        }
    }
}

/// Finds the recorded request nearest to `request` (canonical) with that key: the same path with another text, else the
/// same text at another path, else the path that shares most leading parts.
///
/// # Errors
/// The nearest record cannot be read.
pub fn nearest(recorded: &[&dyn Lookup], key: &str, request: &Value) -> Result<Nearest, RecordError> {
    let (hash, path) = split_key(key);
    let mut best: Option<(usize, String, CompletionRecord)> = None;
    let mut same_text = None;
    for source in recorded {
        for candidate in source.completion_keys() {
            let (other_hash, other_path) = split_key(&candidate);
            if other_hash == hash && same_text.is_none() {
                same_text = Some(other_path.to_owned());
            }
            let shared = if other_path == path { usize::MAX } else { shared_parts(path, other_path) };
            if best.as_ref().is_none_or(|(most, ..)| shared > *most)
                && let Some(record) = source.completion(&candidate)?
            {
                best = Some((shared, other_path.to_owned(), record));
            }
        }
    }
    Ok(match (best, same_text) {
        (Some((usize::MAX, path, record)), _) => {
            Nearest::OtherRequest { path, diff: diff(&record.request, request) }
        }
        (_, Some(path)) => Nearest::OtherPath { path },
        (Some((_, path, record)), None) => {
            Nearest::OtherRequest { path, diff: diff(&record.request, request) }
        }
        (None, None) => Nearest::Empty,
    })
}

fn shared_parts(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(x, y)| x == y).count()
}

fn diff(recorded: &Value, wanted: &Value) -> String {
    let (old, new) = (readable(recorded), readable(wanted));
    let diff = TextDiff::from_lines(&old, &new);
    let text = diff.unified_diff().context_radius(2).header("recorded", "asked for").to_string();
    let lines = text.lines().count();
    if lines <= MAX_LINES {
        return text;
    }
    let shown: Vec<&str> = text.lines().take(MAX_LINES).collect();
    format!("{}\n... {} more lines\n", shown.join("\n"), lines - MAX_LINES)
}

/// A request as text, one line of a message a line, so that a diff shows the sentence that changed.
fn readable(request: &Value) -> String {
    let mut out = String::new();
    for (key, value) in request.as_object().into_iter().flatten() {
        if key != "messages" {
            out.push_str(&format!("{key}: {}\n", crate::canonical_json(value)));
        }
    }
    for message in request.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let part = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        out.push_str(&format!("[{}]\n{}\n", part("role"), part("content")));
    }
    out
}
