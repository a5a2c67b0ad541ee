//! Runs that other processes write: one reader for all tabs that watch the same one.

use crate::error::{Refusal, error_event};
use crate::log::{EventLog, short};
use crate::threads::spawn;
use planforge_app::Context;
use planforge_app::runs::RunWatch;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// The interval at which a journal is read: an event is to be on the page within 200 ms.
const POLL: Duration = Duration::from_millis(120);

/// The runs that are watched.
#[derive(Default)]
pub(crate) struct Watches {
    logs: Mutex<BTreeMap<PathBuf, Weak<EventLog>>>,
}

impl Watches {
    /// The events of a run from its first one on. The reader ends with the run, or with the last stream.
    ///
    /// # Errors
    /// The folder is not a run.
    pub(crate) fn open(&self, context: &Context, run: &Path) -> Result<Arc<EventLog>, Refusal> {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        logs.retain(|_, log| log.strong_count() > 0);
        if let Some(log) = logs.get(run).and_then(Weak::upgrade).filter(|log| !log.is_closed()) {
            return Ok(log);
        }
        let mut watch = RunWatch::open(context, run)?;
        let log = EventLog::new();
        logs.insert(run.to_owned(), Arc::downgrade(&log));
        let reader = Arc::downgrade(&log);
        spawn(move || {
            while let Some(log) = reader.upgrade() {
                if !read(&mut watch, &log) {
                    log.close();
                    return;
                }
                drop(log);
                std::thread::sleep(POLL);
            }
        })?;
        Ok(log)
    }
}

/// Reads what is new. False at the end of the run.
fn read(watch: &mut RunWatch, log: &EventLog) -> bool {
    match watch.next_events() {
        Ok(Some(events)) => {
            for event in events {
                log.push_timed(short(json!({ "kind": "recorded", "run": 0, "record": event })));
            }
            true
        }
        Ok(None) => {
            log.push(&json!({ "kind": "state", "state": "ended" }));
            false
        }
        Err(error) => {
            log.push(&error_event(&error));
            false
        }
    }
}
