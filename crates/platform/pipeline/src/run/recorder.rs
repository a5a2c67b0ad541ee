//! Access of the runner to the journal: events that are already there are not written twice, and effects are
//! looked up first.

use super::services::{Progress, RunObserver};
use planforge_contract::Failure;
use planforge_llm::Mode;
use planforge_record::{EffectRecord, Event, Journal, Lookup, effect_key};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Writes what happens and finds what happened before.
pub(crate) struct Recorder {
    journal: Arc<dyn Journal>,
    sources: Vec<Arc<dyn Lookup>>,
    mode: Mode,
    observer: Option<RunObserver>,
    /// True if there was an earlier session.
    resumed: bool,
    /// Count of each line of earlier sessions that has not occurred in this one.
    earlier: Mutex<HashMap<String, u32>>,
}

impl Recorder {
    pub(crate) fn new(
        journal: Arc<dyn Journal>,
        sources: Vec<Arc<dyn Lookup>>,
        mode: Mode,
        observer: Option<RunObserver>,
    ) -> Self {
        let mut earlier = HashMap::new();
        let mut resumed = false;
        for event in journal.events() {
            resumed |= matches!(event, Event::SessionStarted { .. });
            *earlier.entry(line(&event)).or_insert(0) += 1;
        }
        Self { journal, sources, mode, observer, resumed, earlier: Mutex::new(earlier) }
    }

    /// True if the journal held a session before this one.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Writes an event, unless an earlier session of the run wrote it.
    pub(crate) fn event(&self, event: Event) -> Result<(), Failure> {
        let known = {
            let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
            // Most runs have no earlier session, and need no line.
            let count = if earlier.is_empty() { None } else { earlier.get_mut(&line(&event)) };
            match count {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    true
                }
                _ => false,
            }
        };
        if !known {
            self.journal.append(&event)?;
        }
        self.progress(&Progress::Event(&event));
        Ok(())
    }

    /// Writes an event that belongs to this session alone.
    pub(crate) fn session(&self, event: &Event) -> Result<(), Failure> {
        self.journal.append(event)?;
        self.progress(&Progress::Event(event));
        Ok(())
    }

    pub(crate) fn progress(&self, progress: &Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer(progress);
        }
    }

    /// Stores a document and returns its name.
    pub(crate) fn blob<T: Serialize>(&self, document: &T) -> Result<String, Failure> {
        let value = serde_json::to_value(document).map_err(|e| corrupt(&e))?;
        Ok(self.journal.put_json(&value)?)
    }

    /// Returns the outcome of a call, from the record if it is there.
    ///
    /// Outcomes that depended on time or memory are taken from the record in every mode. Others are taken in
    /// a resumed run, so that no search is repeated, and recomputed in a replay. A recomputation that a
    /// slower machine's limit cut off does not replace the record.
    pub(crate) fn effect<T: Serialize + DeserializeOwned>(
        &self,
        call: &str,
        path: &str,
        request: &impl Serialize,
        keep: impl Fn(&T) -> Keep,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let request = serde_json::to_value(request).map_err(|e| corrupt(&e))?;
        let key = effect_key(call, &request, path);
        let own = self.journal.effect(&key)?;
        let had = own.is_some();
        let mut found = own;
        if found.is_none() && self.mode != Mode::Live {
            for source in &self.sources {
                found = found.or(source.effect(&key)?);
            }
        }
        if let Some(record) = &found
            && (record.timed || self.mode != Mode::Replay)
        {
            return self.take_record(record, had);
        }
        let start = Instant::now();
        let value = make()?;
        let keep = keep(&value);
        if keep == Keep::Timed
            && let Some(record) = &found
        {
            return self.take_record(record, had);
        }
        if keep != Keep::No && !had {
            let timed = keep == Keep::Timed;
            let result = serde_json::to_value(&value).map_err(|e| corrupt(&e))?;
            let elapsed_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            let record =
                EffectRecord { key, path: path.to_owned(), call: call.to_owned(), result, timed, elapsed_ms };
            let event = self.journal.record_effect(&record)?;
            self.progress(&Progress::Event(&event));
        }
        Ok(value)
    }

    fn take_record<T: DeserializeOwned>(&self, record: &EffectRecord, had: bool) -> Result<T, Failure> {
        let value = serde_json::from_value(record.result.clone()).map_err(|e| corrupt(&e))?;
        if !had {
            let event = self.journal.record_effect(record)?;
            self.progress(&Progress::Event(&event));
        }
        Ok(value)
    }
}

/// The treatment of an outcome in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is cheap to make again and always the same.
    No,
    /// It is deterministic; a resumed run need not compute it again.
    Yes,
    /// It depended on time or memory, or on a program outside.
    Timed,
}

fn line(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

fn corrupt(error: &serde_json::Error) -> Failure {
    Failure::new(
        planforge_contract::FailureClass::System,
        "record.corrupt",
        format!("a document cannot be written to or read from the record: {error}"),
    )
}
