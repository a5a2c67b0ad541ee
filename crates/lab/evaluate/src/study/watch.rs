//! Progress and cancellation of a study.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Progress and cancellation of a study, shared with a progress bar.
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: Arc<AtomicBool>,
}

impl Watch {
    /// A watch that ends the study when somebody sets the flag.
    pub fn new(cancelled: Arc<AtomicBool>) -> Self {
        Self { cancelled, ..Self::default() }
    }

    /// The flag that ends the study, for work that asks it in its own way.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Units of work done and to do.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Ends the study as soon as possible; it gives no result then.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// True if [`Watch::cancel`] was called.
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Says how much there is to do.
    pub fn expect(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Says that so much of it is done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
}
