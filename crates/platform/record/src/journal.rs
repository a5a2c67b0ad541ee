//! The journal of a run: events, blobs, and effects by key.

use crate::{BlobId, CompletionEvent, Event, RecordError, SamplePath, canonical_json, sha256_hex};
use planforge_contract::{CompletionResult, ProviderFailure, Usage};
use serde_json::Value;

/// One recorded question to a language model and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionRecord {
    /// SHA-256 of the canonical request, a colon, and the sample path.
    pub key: String,
    pub path: SamplePath,
    /// The model table of the request.
    pub role: String,
    /// The `[llm.NAME]` table that answered; empty if not recorded.
    pub llm: String,
    pub request: Value,
    /// The answer; absent where the call ended in `failure`.
    pub result: Option<CompletionResult>,
    /// The failure that was left after all attempts.
    pub failure: Option<ProviderFailure>,
    pub usage: Usage,
    /// Number of requests.
    pub attempts: u32,
    /// Wall time of all attempts, in milliseconds.
    pub elapsed_ms: u64,
}

/// One recorded outcome of a call that may depend on time or memory.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRecord {
    /// Key by [`effect_key`].
    pub key: String,
    pub path: SamplePath,
    /// The called method with its plugin's id.
    pub call: String,
    /// The result as a document.
    pub result: Value,
    /// True if the outcome depended on time or memory; others are recomputed in replay.
    pub timed: bool,
    /// Wall time, in milliseconds.
    pub elapsed_ms: u64,
}

/// The key of an effect: SHA-256 of the canonical request and what is called, a colon, and the sample path.
pub fn effect_key(call: &str, request: &Value, path: &str) -> String {
    let text = canonical_json(&serde_json::json!({"call": call, "request": request}));
    format!("{}:{path}", sha256_hex(text.as_bytes()))
}

/// Recorded effects that can be looked up. If a key was recorded more than once, the last record counts.
pub trait Lookup: Send + Sync {
    /// The completion of that key.
    ///
    /// # Errors
    /// The record is there and cannot be read; never read this as "not there".
    fn completion(&self, key: &str) -> Result<Option<CompletionRecord>, RecordError>;
    /// The effect of that key.
    ///
    /// # Errors
    /// As [`Lookup::completion`].
    fn effect(&self, key: &str) -> Result<Option<EffectRecord>, RecordError>;
    /// The keys of all completions, sorted by sample path. The part after the first colon is the path.
    fn completion_keys(&self) -> Vec<String>;
    /// The keys of all effects, sorted by sample path.
    fn effect_keys(&self) -> Vec<String>;
}

/// The journal that a run writes.
pub trait Journal: Lookup {
    /// Stores bytes under their SHA-256; durable once a durable event was appended after it.
    ///
    /// # Errors
    /// The medium refused.
    fn put(&self, bytes: &[u8]) -> Result<BlobId, RecordError>;
    /// The bytes of that name, verified.
    ///
    /// # Errors
    /// Missing or changed.
    fn get(&self, id: &str) -> Result<Vec<u8>, RecordError>;
    /// Appends an event. An effect is durable on return, and found by [`Lookup`] from then on.
    ///
    /// # Errors
    /// The medium refused; the event then does not count as written.
    fn append(&self, event: &Event) -> Result<(), RecordError>;
    /// Checks that the journal can still be written, before paying for a result that would be lost.
    ///
    /// # Errors
    /// The error of an earlier write.
    fn is_writable(&self) -> Result<(), RecordError> {
        Ok(())
    }
    /// All events so far, in order.
    fn events(&self) -> Vec<Event>;

    /// Stores a JSON document as canonical text.
    ///
    /// # Errors
    /// As [`Journal::put`].
    fn put_json(&self, value: &Value) -> Result<BlobId, RecordError> {
        self.put(canonical_json(value).as_bytes())
    }
    /// Writes a completion: its blobs first, then the event that makes it count. Returns the event.
    ///
    /// # Errors
    /// As [`Journal::append`].
    fn record_completion(&self, record: &CompletionRecord) -> Result<Event, RecordError> {
        let result = match &record.result {
            Some(result) => Some(self.put_json(&to_value(result)?)?),
            None => None,
        };
        let event = Event::Completion(CompletionEvent {
            key: record.key.clone(),
            path: record.path.clone(),
            role: record.role.clone(),
            llm: record.llm.clone(),
            request: self.put_json(&record.request)?,
            result,
            failure: record.failure.clone(),
            usage: record.usage,
            attempts: record.attempts,
            elapsed_ms: record.elapsed_ms,
        });
        self.append(&event)?;
        Ok(event)
    }
    /// Writes an effect: its blob first, then the event that makes it count. Returns the event.
    ///
    /// # Errors
    /// As [`Journal::append`].
    fn record_effect(&self, record: &EffectRecord) -> Result<Event, RecordError> {
        let event = Event::Effect {
            key: record.key.clone(),
            path: record.path.clone(),
            call: record.call.clone(),
            result: self.put_json(&record.result)?,
            timed: record.timed,
            elapsed_ms: record.elapsed_ms,
        };
        self.append(&event)?;
        Ok(event)
    }
}

pub(crate) fn to_value<T: serde::Serialize>(document: &T) -> Result<Value, RecordError> {
    serde_json::to_value(document)
        .map_err(|e| RecordError::new("record.corrupt", format!("a document cannot be written as JSON: {e}")))
}

/// The events as sorted lines with every time set to nothing. Two runs that differ in nothing but speed and order of
/// completion give the same text.
pub fn comparable_events(events: &[Event]) -> String {
    let mut lines: Vec<String> = events
        .iter()
        .filter_map(|event| {
            let mut event = event.clone();
            match &mut event {
                Event::SessionStarted { at, .. } | Event::SessionFinished { at, .. } => at.clear(),
                Event::Completion(CompletionEvent { elapsed_ms, .. }) | Event::Effect { elapsed_ms, .. } => {
                    *elapsed_ms = 0;
                }
                _ => {}
            }
            serde_json::to_string(&event).ok()
        })
        .collect();
    lines.sort();
    lines.join("\n")
}
