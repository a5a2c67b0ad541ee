//! The host's deadline and interruption as a budget.

use planforge_contract::ProgressTimer;
use planforge_contract::api::Host;
use planforge_planning::{Poll, ResourceLimits, StopReason};
use std::time::{Duration, Instant};

/// Time between two questions to the host, which may be on the other side of a library boundary.
const INTERVAL: Duration = Duration::from_millis(5);
/// Kept back from the host's deadline, to write the answer before the host gives the call up.
const MARGIN: Duration = Duration::from_millis(50);

/// Stops when the host's time is up or the run is interrupted, and stays stopped. Reports progress meanwhile, so the work must
/// have a limit.
pub struct Deadline<'a> {
    timer: ProgressTimer<'a>,
    until: Option<Instant>,
    /// `None` before the first question.
    asked: Option<Instant>,
    stopped: Option<StopReason>,
}

impl<'a> Deadline<'a> {
    /// From now on until the host gives the call up.
    pub fn new(host: &'a dyn Host) -> Self {
        Self::within(host, None)
    }

    /// From now on until the host gives the call up, and for no longer than `most`.
    pub fn within(host: &'a dyn Host, most: Option<Duration>) -> Self {
        let hosts = host.remaining_ms().map(|ms| Duration::from_millis(ms).saturating_sub(MARGIN));
        let left = hosts.into_iter().chain(most).min();
        let until = left.and_then(|left| Instant::now().checked_add(left));
        Self { timer: ProgressTimer::new(host, "seconds of work"), until, asked: None, stopped: None }
    }

    /// The reason for the stop; absent while it continues.
    pub const fn stop_reason(&self) -> Option<StopReason> {
        self.stopped
    }

    fn look(&mut self) -> Option<StopReason> {
        let now = Instant::now();
        if self.until.is_some_and(|until| now >= until) {
            return Some(StopReason::Time);
        }
        if self.asked.is_none_or(|asked| now.duration_since(asked) >= INTERVAL) {
            self.asked = Some(now);
            return self.timer.is_cancelled().then_some(StopReason::Cancelled);
        }
        None
    }
}

impl ResourceLimits for Deadline<'_> {
    fn poll(&mut self) -> Poll {
        if self.stopped.is_none() {
            self.stopped = self.look();
        }
        self.stopped.map_or(Poll::Continue, Poll::Stop)
    }

    fn charge(&mut self, _bytes: u64) -> Poll {
        self.poll()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::api::LogLevel;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Default)]
    struct Reported(AtomicU64);

    impl Host for Reported {
        fn log(&self, _level: LogLevel, _message: &str) {}
        fn progress(&self, done: u64, _total: u64, _what: &str) {
            self.0.store(done, Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            false
        }
        fn remaining_ms(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn a_long_search_reports_progress() {
        let host = Reported::default();
        let minute = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        let timer = ProgressTimer::since(&host, "seconds of work", minute);
        let mut deadline = Deadline { timer, ..Deadline::new(&host) };
        assert_eq!(deadline.poll(), Poll::Continue);
        assert!(host.0.load(Ordering::SeqCst) >= 60);
    }
}
