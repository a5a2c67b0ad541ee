//! Progress that is reported by the clock, for long work that has no better count.

use crate::api::Host;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time between two reports: far less than a call may go on without progress.
const INTERVAL: Duration = Duration::from_secs(10);

/// Reports the seconds of a search or of a wait, so that the host does not give the call up. The work must have a limit of its
/// own, because a call that reports progress goes on.
pub struct ProgressTimer<'h> {
    host: &'h dyn Host,
    what: &'static str,
    start: Instant,
    reported: Cell<Instant>,
}

impl<'h> ProgressTimer<'h> {
    /// A timer that starts now. `what` is the unit of the reports, such as `seconds of search`.
    pub fn new(host: &'h dyn Host, what: &'static str) -> Self {
        Self::since(host, what, Instant::now())
    }

    /// A timer of work that started at that time.
    pub fn since(host: &'h dyn Host, what: &'static str, start: Instant) -> Self {
        Self { host, what, start, reported: Cell::new(start) }
    }

    /// The host that gets the reports.
    pub const fn host(&self) -> &'h dyn Host {
        self.host
    }

    /// Reports progress if the last report is long ago. Cheap enough to be called every few milliseconds.
    pub fn tick(&self) {
        self.tick_at(Instant::now());
    }

    fn tick_at(&self, now: Instant) {
        if now.saturating_duration_since(self.reported.get()) >= INTERVAL {
            self.reported.set(now);
            self.host.progress(now.saturating_duration_since(self.start).as_secs(), 0, self.what);
        }
    }

    /// [`ProgressTimer::tick`], then [`Host::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.tick();
        self.host.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::LogLevel;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Reports(Mutex<Vec<(u64, String)>>);

    impl Host for Reports {
        fn log(&self, _level: LogLevel, _message: &str) {}
        fn progress(&self, done: u64, _total: u64, what: &str) {
            self.0.lock().unwrap().push((done, what.to_owned()));
        }
        fn cancelled(&self) -> bool {
            false
        }
        fn remaining_ms(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn progress_is_reported_every_ten_seconds() {
        let host = Reports::default();
        let timer = ProgressTimer::new(&host, "seconds of search");
        for tenths in 0..250 {
            timer.tick_at(timer.start + Duration::from_millis(tenths * 100));
        }
        let unit = || "seconds of search".to_owned();
        assert_eq!(*host.0.lock().unwrap(), [(10, unit()), (20, unit())]);
    }
}
