//! Limits of a search: nodes, memory and time.

use crate::resources::{ResourceLimits, StopReason, check};

/// Checks the limits of a search while it runs.
pub(crate) struct LimitWatch<'b> {
    resources: &'b mut dyn ResourceLimits,
    max_nodes: u64,
    charged: usize,
    calls: u32,
}

impl<'b> LimitWatch<'b> {
    pub(crate) fn new(resources: &'b mut dyn ResourceLimits, max_nodes: u64) -> Self {
        LimitWatch { resources, max_nodes, charged: 0, calls: 0 }
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
        check(self.resources.charge(fresh as u64 * per_node))?;
        check(self.resources.poll())
    }

    /// Charges bytes at once.
    pub(crate) fn charge(&mut self, bytes: u64) -> Result<(), StopReason> {
        check(self.resources.charge(bytes))
    }

    /// Polls the resource limits.
    pub(crate) fn poll(&mut self) -> Result<(), StopReason> {
        check(self.resources.poll())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Unlimited;

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
