//! A host that grants nothing and records log lines.

use planforge_contract::api::{Host, LogLevel};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Refuses every request of a plugin, collects its log lines, and reports an interruption after
/// [`Self::cancel`].
#[derive(Debug, Default)]
pub struct SilentHost {
    lines: Mutex<Vec<String>>,
    cancelled: AtomicBool,
}

impl SilentHost {
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }
    /// The log lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Host for SilentHost {
    fn log(&self, _: LogLevel, message: &str) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_owned());
    }
    fn progress(&self, _: u64, _: u64, _: &str) {}
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}
