//! The host's deadline and interruption as a budget.

use planforge_contract::api::Host;
use planforge_planning::{Budget, Poll, StopReason};
use std::time::{Duration, Instant};

/// Time between two questions to the host, which may be on the other side of a library boundary.
const INTERVAL: Duration = Duration::from_millis(5);
/// Kept back from the host's deadline, to write the answer before the host gives the call up.
const MARGIN: Duration = Duration::from_millis(50);

/// Stops when the host's time is up or the run is interrupted.
pub struct Deadline<'a> {
    host: &'a dyn Host,
    until: Option<Instant>,
    asked: Instant,
}

impl<'a> Deadline<'a> {
    /// From now on until the host gives the call up.
    pub fn new(host: &'a dyn Host) -> Self {
        let now = Instant::now();
        let left = host.remaining_ms().map(|ms| Duration::from_millis(ms).saturating_sub(MARGIN));
        Self { host, until: left.and_then(|l| now.checked_add(l)), asked: now }
    }
}

impl Budget for Deadline<'_> {
    fn poll(&mut self) -> Poll {
        let now = Instant::now();
        if self.until.is_some_and(|u| now >= u) {
            return Poll::Stop(StopReason::Time);
        }
        if now.duration_since(self.asked) >= INTERVAL {
            self.asked = now;
            if self.host.cancelled() {
                return Poll::Stop(StopReason::Cancelled);
            }
        }
        Poll::Continue
    }

    fn charge(&mut self, _bytes: u64) -> Poll {
        self.poll()
    }
}
