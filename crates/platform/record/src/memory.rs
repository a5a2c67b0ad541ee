//! A journal without a disk: for tests, for `check`, and as the in-memory form of a cassette file.

use crate::index::Index;
use crate::{BlobId, Event};
use crate::{CompletionRecord, EffectRecord, Journal, Lookup, RecordError, Redactor, sha256_hex};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
