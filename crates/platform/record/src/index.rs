//! Recorded effects by key, over events and blobs: the index, the journal without a disk (for tests, for `check`, and as the in-memory form of a
//! cassette file), and hints for a replay that misses a record.

use crate::{
    BlobId, CompletionEvent, CompletionRecord, EffectRecord, Event, Journal, Lookup, RecordError, Redactor,
    canonical_json, sha256_hex,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use similar::TextDiff;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Events in order, and where each key was recorded last.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) events: Vec<Event>,
    /// True to keep only effects: most events cannot be looked up, and a long run has many.
    effects_alone: bool,
    completions: HashMap<String, usize>,
    effects: HashMap<String, usize>,
}

impl Index {
    /// `effects_alone`: keeps only events that can be looked up.
    pub(crate) fn new(effects_alone: bool) -> Self {
        Self { effects_alone, ..Self::default() }
    }

    pub(crate) fn push(&mut self, event: Cow<'_, Event>) {
        match event.as_ref() {
            Event::Completion(CompletionEvent { key, .. }) => {
                self.completions.insert(key.clone(), self.events.len());
            }
            Event::Effect { key, .. } => {
                self.effects.insert(key.clone(), self.events.len());
            }
            _ if self.effects_alone => return,
            _ => {}
        }
        self.events.push(event.into_owned());
    }

    pub(crate) fn completion(
        &self,
        key: &str,
        blob: impl Fn(&str) -> Result<Vec<u8>, RecordError>,
    ) -> Result<Option<CompletionRecord>, RecordError> {
        let Some(event) = self.completions.get(key).and_then(|at| self.events.get(*at)) else {
            return Ok(None);
        };
        let Event::Completion(event) = event else { return Ok(None) };
        let CompletionEvent { key, path, role, llm, request, result, failure, usage, attempts, elapsed_ms } =
            event.clone();
        let request = read(&request, &blob)?;
        let result = result.as_deref().map(|id| read(id, &blob)).transpose()?;
        let record =
            CompletionRecord { key, path, role, llm, request, result, failure, usage, attempts, elapsed_ms };
        Ok(Some(record))
    }

    pub(crate) fn effect(
        &self,
        key: &str,
        blob: impl Fn(&str) -> Result<Vec<u8>, RecordError>,
    ) -> Result<Option<EffectRecord>, RecordError> {
        let Some(event) = self.effects.get(key).and_then(|at| self.events.get(*at)) else { return Ok(None) };
        let Event::Effect { key, path, call, result, timed, elapsed_ms } = event else { return Ok(None) };
        Ok(Some(EffectRecord {
            key: key.clone(),
            path: path.clone(),
            call: call.clone(),
            result: read(result, &blob)?,
            timed: *timed,
            elapsed_ms: *elapsed_ms,
        }))
    }

    pub(crate) fn completion_keys(&self) -> Vec<String> {
        by_path(self.completions.keys())
    }

    pub(crate) fn effect_keys(&self) -> Vec<String> {
        by_path(self.effects.keys())
    }
}

fn by_path<'a>(keys: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut keys: Vec<String> = keys.cloned().collect();
    keys.sort_by(|a, b| split_key(a).1.cmp(split_key(b).1).then_with(|| a.cmp(b)));
    keys
}

/// Hash and sample path of a key.
pub(crate) fn split_key(key: &str) -> (&str, &str) {
    key.split_once(':').unwrap_or((key, ""))
}

fn read<T: DeserializeOwned>(
    id: &str,
    blob: &impl Fn(&str) -> Result<Vec<u8>, RecordError>,
) -> Result<T, RecordError> {
    planforge_contract::read_json(&blob(id)?).map_err(|e| {
        RecordError::new("record.corrupt", format!("blob {id} is not the document it should be: {e}"))
    })
}

/// The text of a request as blobs hold it.
pub(crate) fn request_text(record: &CompletionRecord) -> String {
    canonical_json(&record.request)
}

/// A journal that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    redactor: Arc<Redactor>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    index: Index,
    blobs: HashMap<BlobId, Vec<u8>>,
}

impl MemoryJournal {
    /// An empty journal that keeps no secret of the redactor's.
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Nothing in here panics half-way through a change, so a poisoned lock guards whole data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn get(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        self.blobs.get(id).cloned().ok_or_else(|| {
            RecordError::new("record.blob-missing", format!("the record names blob {id}, which is not there"))
        })
    }
}

impl Lookup for MemoryJournal {
    fn completion(&self, key: &str) -> Result<Option<CompletionRecord>, RecordError> {
        let state = self.state();
        state.index.completion(key, |id| state.get(id))
    }
    fn effect(&self, key: &str) -> Result<Option<EffectRecord>, RecordError> {
        let state = self.state();
        state.index.effect(key, |id| state.get(id))
    }
    fn completion_keys(&self) -> Vec<String> {
        self.state().index.completion_keys()
    }
    fn effect_keys(&self) -> Vec<String> {
        self.state().index.effect_keys()
    }
}

impl Journal for MemoryJournal {
    fn put(&self, bytes: &[u8]) -> Result<BlobId, RecordError> {
        let bytes = self.redactor.bytes(bytes).into_owned();
        let id = sha256_hex(&bytes);
        self.state().blobs.insert(id.clone(), bytes);
        Ok(id)
    }
    fn get(&self, id: &str) -> Result<Vec<u8>, RecordError> {
        self.state().get(id)
    }
    fn append(&self, event: &Event) -> Result<(), RecordError> {
        let (_, event) = crate::event_files::line_of(event, &self.redactor)?;
        self.state().index.push(event);
        Ok(())
    }
    fn events(&self) -> Vec<Event> {
        self.state().index.events.clone()
    }
}

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
