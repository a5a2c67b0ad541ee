//! The limits of one call, seen by the search through its budget.

use planforge_contract::PlanLimits;
use planforge_contract::api::Host;
use planforge_planning::{Budget, Poll, StopReason};
use std::time::{Duration, Instant};

/// Time between two questions to the host: it may be on the other side of a library boundary.
const HOST_INTERVAL: Duration = Duration::from_millis(5);
/// Kept back from the host's deadline, to write the answer before the host gives the call up.
const MARGIN: Duration = Duration::from_millis(50);

/// Ends a search when the request's limits, the host's deadline or the user say so.
pub(crate) struct CallBudget<'a> {
    host: &'a dyn Host,
    deadline: Option<Instant>,
    asked: Instant,
    charged: u64,
    memory: Option<u64>,
    stopped: Option<StopReason>,
}

impl<'a> CallBudget<'a> {
    pub(crate) fn new(host: &'a dyn Host, limits: &PlanLimits) -> Self {
        let now = Instant::now();
        let own = limits.time_ms.map(Duration::from_millis);
        let hosts = host.remaining_ms().map(|ms| Duration::from_millis(ms).saturating_sub(MARGIN));
        let time = own.into_iter().chain(hosts).min();
        Self {
            host,
            deadline: time.and_then(|t| now.checked_add(t)),
            asked: now,
            charged: 0,
            memory: limits.memory_bytes,
            stopped: host.cancelled().then_some(StopReason::Cancelled),
        }
    }

    fn stop(&mut self, reason: StopReason) -> Poll {
        self.stopped = Some(reason);
        Poll::Stop(reason)
    }
}

impl Budget for CallBudget<'_> {
    fn poll(&mut self) -> Poll {
        if let Some(reason) = self.stopped {
            return Poll::Stop(reason);
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|d| now >= d) {
            return self.stop(StopReason::Time);
        }
        if now.duration_since(self.asked) >= HOST_INTERVAL {
            self.asked = now;
            if self.host.cancelled() {
                return self.stop(StopReason::Cancelled);
            }
        }
        Poll::Continue
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        self.charged = self.charged.saturating_add(bytes);
        if self.stopped.is_none() && self.memory.is_some_and(|m| self.charged > m) {
            return self.stop(StopReason::Memory);
        }
        self.poll()
    }
}
