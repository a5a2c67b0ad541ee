//! Progress of each request, for display alone: nothing of it is recorded, and nothing depends on it.

use crate::gate::Gate;
use std::sync::Arc;
use std::time::Duration;

/// A request to a model, and the phase that it enters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallStep<'a> {
    /// The model table.
    pub llm: &'a str,
    /// The request's sample path, unique in the run.
    pub path: &'a str,
    pub phase: CallPhase,
    /// Requests a second that are sent to the table now; `None` without a limit.
    pub rate: Option<f64>,
}

/// The phase of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPhase {
    /// Waits for its turn: `max_concurrency` requests are in flight, or those in flight may exhaust a cap.
    Queued,
    /// Waits this long because of `requests_per_minute`, because the server refused requests, or because it asked to
    /// wait.
    Held(Duration),
    /// The request was sent; the first attempt is 1.
    Sent(u32),
    /// This attempt failed. The request waits this long before the next.
    BackingOff(u32, Duration),
    /// The request ended.
    Ended,
}

/// Callback for each step of each request that no record answers. Called from many threads.
pub type CallWatch = Arc<dyn Fn(&CallStep<'_>) + Send + Sync>;

/// Reports the phases of one request, and its end in every case.
pub(crate) struct CallProgress<'a> {
    watch: Option<&'a CallWatch>,
    llm: &'a str,
    path: &'a str,
    gate: &'a Gate,
}

impl<'a> CallProgress<'a> {
    pub(crate) fn new(watch: Option<&'a CallWatch>, llm: &'a str, path: &'a str, gate: &'a Gate) -> Self {
        Self { watch, llm, path, gate }
    }

    pub(crate) fn enter(&self, phase: CallPhase) {
        if let Some(watch) = self.watch {
            watch(&CallStep { llm: self.llm, path: self.path, phase, rate: self.gate.rate() });
        }
    }
}

impl Drop for CallProgress<'_> {
    fn drop(&mut self) {
        self.enter(CallPhase::Ended);
    }
}
