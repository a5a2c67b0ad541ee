//! Recorded effects by key, over events and blobs.

use crate::journal::{CompletionRecord, EffectRecord};
use crate::{Event, RecordError, canonical_json};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::HashMap;

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
            Event::Completion { key, .. } => {
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
        let Event::Completion { key, path, role, llm, request, result, failure, usage, attempts, elapsed_ms } =
            event
        else {
            return Ok(None);
        };
        Ok(Some(CompletionRecord {
            key: key.clone(),
            path: path.clone(),
            role: role.clone(),
            llm: llm.clone(),
            request: read(request, &blob)?,
            result: result.as_deref().map(|id| read(id, &blob)).transpose()?,
            failure: failure.clone(),
            usage: *usage,
            attempts: *attempts,
            elapsed_ms: *elapsed_ms,
        }))
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
    serde_json::from_slice(&blob(id)?).map_err(|e| {
        RecordError::new("record.corrupt", format!("blob {id} is not the document it should be: {e}"))
    })
}

/// The text of a request as blobs hold it.
pub(crate) fn request_text(record: &CompletionRecord) -> String {
    canonical_json(&record.request)
}
