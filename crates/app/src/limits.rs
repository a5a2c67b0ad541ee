//! The limits of work in this process: cancellation, a time, a count of bytes.

use crate::context::{Cancellation, Context};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limits of a request. What they cut is undecided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestLimits {
    /// Seconds.
    pub seconds: Option<f64>,
    /// Bytes of states and steps that are kept.
    pub memory_bytes: u64,
}

impl Default for RequestLimits {
    /// Four gibibytes, and no limit on time.
    fn default() -> Self {
        Self { seconds: None, memory_bytes: 4 << 30 }
    }
}

impl RequestLimits {
    /// So many seconds, and four gibibytes.
    pub fn seconds(seconds: Option<f64>) -> Self {
        Self { seconds, ..Self::default() }
    }

    /// Starts the time.
    pub(crate) fn start(&self, context: &Context) -> WorkLimits {
        let limits = WorkLimits::new(&context.cancellation, self.seconds);
        WorkLimits { most_bytes: self.memory_bytes, ..limits }
    }
}

/// Limits of one call: interruption, time, memory.
#[derive(Debug, Clone)]
pub(crate) struct WorkLimits {
    interrupted: Arc<AtomicBool>,
    until: Option<Instant>,
    bytes: u64,
    most_bytes: u64,
}

impl WorkLimits {
    /// Ends at a cancellation, after `seconds` where given, and at four gibibytes.
    pub(crate) fn new(cancellation: &Cancellation, seconds: Option<f64>) -> Self {
        let until = seconds.and_then(|s| Instant::now().checked_add(Duration::from_secs_f64(s)));
        Self { interrupted: cancellation.watch(), until, bytes: 0, most_bytes: 4 << 30 }
    }

    /// Ends when the flag is set, after `seconds`, and at `most_bytes`.
    pub(crate) fn cancelled_by(flag: Arc<AtomicBool>, seconds: f64, most_bytes: u64) -> Self {
        let until = Instant::now().checked_add(Duration::from_secs_f64(seconds));
        Self { interrupted: flag, until, bytes: 0, most_bytes }
    }

    /// The same limits with half of the time that is left, for the first of several results.
    pub(crate) fn half(&self) -> Self {
        let until = self.remaining().map(|left| Instant::now() + left / 2);
        Self { until, ..self.clone() }
    }

    /// The time that is left, if it is limited.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// True after a cancellation.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

impl ResourceLimits for WorkLimits {
    fn poll(&mut self) -> Poll {
        if self.is_interrupted() {
            return Poll::Stop(StopReason::Cancelled);
        }
        match self.until.is_some_and(|until| Instant::now() >= until) {
            true => Poll::Stop(StopReason::Time),
            false => Poll::Continue,
        }
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        match self.bytes.saturating_add(bytes) {
            more if more > self.most_bytes => return Poll::Stop(StopReason::Memory),
            more => self.bytes = more,
        }
        self.poll()
    }

    fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    fn bytes_left(&self) -> u64 {
        self.most_bytes.saturating_sub(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(seconds: Option<f64>, memory_bytes: u64) -> WorkLimits {
        RequestLimits { seconds, memory_bytes }.start(&Context::default())
    }

    #[test]
    fn half_of_the_time_ends_before_all_of_it() {
        let all = limits(Some(30.0), 1 << 20);
        assert!(all.half().until < all.until && all.half().most_bytes == all.most_bytes);
    }

    #[test]
    fn memory_and_cancellation_stop_the_work() {
        let mut some = limits(None, 1 << 20);
        assert_eq!(some.charge(1 << 20), Poll::Continue);
        assert_eq!(some.charge(1), Poll::Stop(StopReason::Memory));
        some.release(1);
        assert_eq!(some.charge(1), Poll::Continue);
        let context = Context::default();
        let mut cancelled = RequestLimits::default().start(&context);
        assert_eq!(cancelled.poll(), Poll::Continue);
        context.cancellation.cancel();
        assert_eq!(cancelled.poll(), Poll::Stop(StopReason::Cancelled));
    }
}
