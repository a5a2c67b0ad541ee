//! Limits as the caller sees them: the library owns no clock and no allocator, so it asks.

use std::fmt;

/// Which limit ended the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The caller's clock ran out.
    Time,
    /// The bytes charged passed the caller's limit.
    Memory,
    /// Too many search nodes were generated.
    Nodes,
    /// Too many ground actions, atoms or formula parts were instantiated.
    Grounding,
    /// The caller wants no answer any more.
    Cancelled,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Time => "the time limit",
            StopReason::Memory => "the memory limit",
            StopReason::Nodes => "the limit on search nodes",
            StopReason::Grounding => "the limit on ground actions and atoms",
            StopReason::Cancelled => "the caller's cancellation",
        })
    }
}

/// What a [`ResourceLimits`] answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// Go on.
    Continue,
    /// Stop as soon as possible and say why.
    Stop(StopReason),
}

/// The caller's limits. `poll` is called often (at least every few hundred microseconds of work), `charge` whenever
/// tables grow.
pub trait ResourceLimits {
    /// Whether to go on.
    fn poll(&mut self) -> Poll;
    /// Tells that `bytes` more are in use. The answer counts as one of [`ResourceLimits::poll`].
    fn charge(&mut self, bytes: u64) -> Poll;
}

/// No limit at all: for tests and for tasks known to be small.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl ResourceLimits for Unlimited {
    fn poll(&mut self) -> Poll {
        Poll::Continue
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        Poll::Continue
    }
}

/// A budget that only counts: `polls` answers and `bytes` bytes.
#[derive(Debug, Clone, Copy)]
pub struct CountingLimits {
    /// How many more polls are answered with [`Poll::Continue`].
    pub polls: u64,
    /// How many more bytes may be charged.
    pub bytes: u64,
}

impl ResourceLimits for CountingLimits {
    fn poll(&mut self) -> Poll {
        if self.polls == 0 {
            return Poll::Stop(StopReason::Time);
        }
        self.polls -= 1;
        Poll::Continue
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        if bytes > self.bytes {
            self.bytes = 0;
            return Poll::Stop(StopReason::Memory);
        }
        self.bytes -= bytes;
        Poll::Continue
    }
}

/// Turns a stop into an early return.
pub(crate) fn check(poll: Poll) -> Result<(), StopReason> {
    match poll {
        Poll::Continue => Ok(()),
        Poll::Stop(reason) => Err(reason),
    }
}
