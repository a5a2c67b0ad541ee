//! Limits of calls.

use std::time::Duration;

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
            deadline_grace_ms: 1_000,
            threads: 512,
        }
    }
}

/// Interval at which a waiting call checks whether the run was interrupted.
pub(crate) const TICK: Duration = Duration::from_millis(20);
