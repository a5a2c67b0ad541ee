//! The limits of one call.

use planforge_contract::PlanLimits;
use planforge_contract::api::Host;
use planforge_planning::{Poll, ResourceLimits, StopReason};
use planforge_plugin_common::judging::Deadline;
use std::time::Duration;

/// Ends a search at the request's limits, the host's deadline or an interrupt.
pub(crate) struct CallBudget<'a> {
    deadline: Deadline<'a>,
    charged: u64,
    memory: Option<u64>,
}

impl<'a> CallBudget<'a> {
    pub(crate) fn new(host: &'a dyn Host, limits: &PlanLimits) -> Self {
        let deadline = Deadline::within(host, limits.time_ms.map(Duration::from_millis));
        Self { deadline, charged: 0, memory: limits.memory_bytes }
    }

    fn is_full(&self) -> bool {
        self.memory.is_some_and(|most| self.charged > most)
    }
}

impl ResourceLimits for CallBudget<'_> {
    fn poll(&mut self) -> Poll {
        // The first reason is kept.
        match self.deadline.stop_reason() {
            None if self.is_full() => Poll::Stop(StopReason::Memory),
            _ => self.deadline.poll(),
        }
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        self.charged = self.charged.saturating_add(bytes);
        self.poll()
    }
}
