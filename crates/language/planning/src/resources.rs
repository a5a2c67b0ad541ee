//! Resource limits, supplied by the caller: the library owns neither a clock nor an allocator.

use std::fmt;

/// Limit that ended the work.
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
    /// The caller cancelled the call.
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

/// Answer of [`ResourceLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// The work may continue.
    Continue,
    /// The work should stop as soon as possible and report this reason.
    Stop(StopReason),
}

/// A part of a search, which runs under the limits that it is called with.
pub type SearchPart<'p> = &'p mut (dyn FnMut(&mut dyn ResourceLimits) + Send);

/// Limits on time and memory that the caller imposes. `poll` is called often (at least every few hundred
/// microseconds of work), `charge` whenever tables grow.
pub trait ResourceLimits {
    /// Returns [`Poll::Stop`] once the work should stop.
    fn poll(&mut self) -> Poll;
    /// Records that `bytes` more are in use. The answer has the same meaning as that of
    /// [`ResourceLimits::poll`].
    fn charge(&mut self, bytes: u64) -> Poll;
    /// Records that `bytes` of those charged are free again.
    fn release(&mut self, bytes: u64);
    /// Bytes that may still be charged; the highest number if that is not known.
    fn bytes_left(&self) -> u64 {
        u64::MAX
    }
    /// Runs two parts on two threads and returns when both have ended. Each is called once, with limits of which `poll` answers as
    /// here; the parts count their memory themselves. False, without a call, where there is one thread: the parts then run one after
    /// the other, with the same result.
    fn run_side_by_side(&mut self, first: SearchPart<'_>, second: SearchPart<'_>) -> bool {
        let _ = (first, second);
        false
    }
}

/// No limits, for tests and for tasks known to be small.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl ResourceLimits for Unlimited {
    fn poll(&mut self) -> Poll {
        Poll::Continue
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        Poll::Continue
    }
    fn release(&mut self, _bytes: u64) {}
}

/// A budget that only counts: `polls` answers and `bytes` bytes.
#[derive(Debug, Clone, Copy)]
pub struct CountingLimits {
    /// Polls that remain before the answer is [`StopReason::Time`].
    pub polls: u64,
    /// Bytes that remain before the answer is [`StopReason::Memory`].
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
    fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.bytes
    }
}

/// Turns a stop into an early return.
pub(crate) fn check(poll: Poll) -> Result<(), StopReason> {
    match poll {
        Poll::Continue => Ok(()),
        Poll::Stop(reason) => Err(reason),
    }
}

/// Turns a stop at the memory limit into an early return. Other reasons wait for the next poll, so that work that needs no poll is
/// decided in any case.
pub(crate) fn check_memory(poll: Poll) -> Result<(), StopReason> {
    match poll {
        Poll::Stop(StopReason::Memory) => Err(StopReason::Memory),
        Poll::Stop(_) | Poll::Continue => Ok(()),
    }
}

/// The caller's limits for work whose memory is free when it ends: a search, a comparison.
pub(crate) struct ScopedLimits<'r> {
    resources: &'r mut dyn ResourceLimits,
    charged: u64,
}

impl<'r> ScopedLimits<'r> {
    pub(crate) fn new(resources: &'r mut dyn ResourceLimits) -> Self {
        ScopedLimits { resources, charged: 0 }
    }
}

impl ResourceLimits for ScopedLimits<'_> {
    fn poll(&mut self) -> Poll {
        self.resources.poll()
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        let poll = self.resources.charge(bytes);
        if poll != Poll::Stop(StopReason::Memory) {
            self.charged += bytes;
        }
        poll
    }
    fn release(&mut self, bytes: u64) {
        self.charged = self.charged.saturating_sub(bytes);
        self.resources.release(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.resources.bytes_left()
    }
    fn run_side_by_side(&mut self, first: SearchPart<'_>, second: SearchPart<'_>) -> bool {
        self.resources.run_side_by_side(first, second)
    }
}

impl Drop for ScopedLimits<'_> {
    fn drop(&mut self) {
        self.resources.release(self.charged);
    }
}

/// Checks the limits of a search while it runs.
pub(crate) struct LimitWatch<'b> {
    resources: &'b mut dyn ResourceLimits,
    max_nodes: u64,
    charged: usize,
    bytes: u64,
    calls: u32,
}

/// Charges of a search that pauses.
#[derive(Debug, Default)]
pub(crate) struct Charged {
    nodes: usize,
    bytes: u64,
}

impl Charged {
    /// Continues to watch the search, which may have as many nodes.
    pub(crate) fn watch<'b>(&self, resources: &'b mut dyn ResourceLimits, max_nodes: u64) -> LimitWatch<'b> {
        let watch = LimitWatch::new(resources, max_nodes.min(u64::from(u32::MAX - 1)));
        LimitWatch { charged: self.nodes, bytes: self.bytes, ..watch }
    }

    /// Releases what the search was charged.
    pub(crate) fn release(self, resources: &mut dyn ResourceLimits) {
        resources.release(self.bytes);
    }
}

impl<'b> LimitWatch<'b> {
    pub(crate) fn new(resources: &'b mut dyn ResourceLimits, max_nodes: u64) -> Self {
        LimitWatch { resources, max_nodes, charged: 0, bytes: 0, calls: 0 }
    }

    /// Called for each node. Charges `per_node` bytes for every node added since the last poll.
    pub(crate) fn tick(&mut self, nodes: usize, per_node: u64) -> Result<(), StopReason> {
        // Minutes of cheap steps count beyond 32 bits.
        self.calls = self.calls.wrapping_add(1);
        if nodes as u64 > self.max_nodes {
            return Err(StopReason::Nodes);
        }
        if !self.calls.is_multiple_of(16) {
            return Ok(());
        }
        let fresh = nodes - self.charged;
        self.charged = nodes;
        self.charge(fresh as u64 * per_node)?;
        check(self.resources.poll())
    }

    /// Charges bytes at once.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), StopReason> {
        let poll = self.resources.charge(bytes);
        if poll != Poll::Stop(StopReason::Memory) {
            self.bytes += bytes;
        }
        check(poll)
    }

    /// The charges so far, for a search that pauses.
    pub(crate) fn charged(&self) -> Charged {
        Charged { nodes: self.charged, bytes: self.bytes }
    }

    /// Polls the resource limits.
    pub(crate) fn poll(&mut self) -> Result<(), StopReason> {
        check(self.resources.poll())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_of_more_than_32_bits_of_steps_still_checks_its_limits() {
        let mut resources = Unlimited;
        let mut watch = LimitWatch { calls: u32::MAX, ..LimitWatch::new(&mut resources, 5) };
        for _ in 0..3 {
            assert_eq!(watch.tick(5, 1), Ok(()));
        }
        assert_eq!(watch.tick(6, 1), Err(StopReason::Nodes));
    }
}
