//! Limits of calls, and the clock that they are measured with; suggestions for misspelt names.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Limits of calls to plugins. The deadline of a call is the
/// [`Host::remaining_ms`](planforge_contract::api::Host::remaining_ms) that it is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLimits {
    /// Most bytes of one reply, and of one question to the host.
    pub reply_bytes: usize,
    /// Most bytes of one log line or progress text; the rest is cut off.
    pub log_bytes: usize,
    /// Milliseconds for describing, creating and ending an instance.
    pub create_ms: u64,
    /// Milliseconds a call may go on after the run was interrupted.
    pub cancel_grace_ms: u64,
    /// Milliseconds without progress after which a call without a deadline is given up; `u64::MAX` for any number. Progress is
    /// a report of progress, or an answer of the host; while the host works on an answer, the time stands still.
    pub idle_ms: u64,
    /// Milliseconds a call may go on after its deadline, to answer with what it has.
    pub deadline_grace_ms: u64,
    /// Most threads for all calls of a registry, those given up included.
    pub threads: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            reply_bytes: 64 << 20,
            log_bytes: 64 << 10,
            create_ms: 30_000,
            cancel_grace_ms: 5_000,
            idle_ms: 600_000,
            deadline_grace_ms: 1_000,
            threads: 512,
        }
    }
}

/// Interval at which a waiting call checks whether the run was interrupted.
pub(crate) const TICK: Duration = Duration::from_millis(20);

/// The clock that measures the time of a call without progress. A test may move it.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Instant + Send + Sync>);

impl Clock {
    /// A clock that reads the time from a function.
    pub fn new(now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub(crate) fn now(&self) -> Instant {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Instant::now)
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

/// The time since a call's last sign of progress.
pub(crate) struct IdleTime {
    most: Duration,
    since: Instant,
    was_waiting: bool,
}

impl IdleTime {
    pub(crate) fn new(most: Duration, clock: &Clock) -> Self {
        Self { most, since: clock.now(), was_waiting: false }
    }

    /// Returns true if the call made no progress for too long. `is_waiting` if it waits for the host now.
    pub(crate) fn is_over(&mut self, made_progress: bool, is_waiting: bool, clock: &Clock) -> bool {
        let now = clock.now();
        if made_progress || is_waiting || self.was_waiting {
            self.since = now;
        }
        self.was_waiting = is_waiting;
        now.saturating_duration_since(self.since) >= self.most
    }
}

/// The name that was probably meant: close in edits, relative to its length.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (name.chars().count() / 3).max(1);
    known
        .map(|k| (strsim::damerau_levenshtein(&name.to_lowercase(), &k.to_lowercase()), k))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, k)| k.to_owned())
}
