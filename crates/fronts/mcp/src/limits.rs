//! Limits of a call. Each has a default and a ceiling.

use crate::codes::wrong_arguments;
use planforge_contract::Failure;
use planforge_planning::{Poll, ResourceLimits, StopReason};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SECONDS: Bounds<f64> = Bounds { name: "seconds", default: 30.0, ceiling: 600.0 };
const NODES: Bounds<u64> = Bounds { name: "nodes", default: 1_000_000, ceiling: 100_000_000 };
const MEMORY_MB: Bounds<u64> = Bounds { name: "memory_mb", default: 1024, ceiling: 4096 };
const INPUT_MB: Bounds<u64> = Bounds { name: "input_mb", default: 16, ceiling: 64 };

/// Limits of the call. What they cut is reported as undecided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitArguments {
    /// Seconds (default 30, at most 600).
    seconds: Option<f64>,
    /// Search nodes, or pairs of states of a comparison (default 1,000,000, at most 100,000,000).
    nodes: Option<u64>,
    /// Megabytes of search (default 1,024, at most 4,096).
    memory_mb: Option<u64>,
    /// Megabytes of all texts together (default 16, at most 64).
    input_mb: Option<u64>,
}

/// The default and the ceiling of one limit.
struct Bounds<T> {
    name: &'static str,
    default: T,
    ceiling: T,
}

impl<T: PartialOrd + Copy + Default + std::fmt::Display> Bounds<T> {
    fn value(&self, given: Option<T>) -> Result<T, Failure> {
        let value = given.unwrap_or(self.default);
        match value > T::default() && value <= self.ceiling {
            true => Ok(value),
            false => {
                let (name, ceiling) = (self.name, self.ceiling);
                let message =
                    format!("the limit `{name}` must be above 0 and at most {ceiling}, and is {value}");
                Err(wrong_arguments(message))
            }
        }
    }
}

/// The limits of one call under way.
#[derive(Clone)]
pub(crate) struct CallLimits {
    /// End of the call's time.
    pub(crate) until: Instant,
    pub(crate) nodes: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) input_bytes: u64,
    cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    charged: u64,
}

impl CallLimits {
    /// Starts the call's time.
    ///
    /// # Errors
    /// A limit that is not positive, or above its ceiling.
    pub(crate) fn new(
        given: LimitArguments,
        cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Result<Self, Failure> {
        let seconds = SECONDS.value(given.seconds)?;
        Ok(Self {
            until: Instant::now() + Duration::from_secs_f64(seconds),
            nodes: NODES.value(given.nodes)?,
            memory_bytes: MEMORY_MB.value(given.memory_mb)? << 20,
            input_bytes: INPUT_MB.value(given.input_mb)? << 20,
            cancelled,
            charged: 0,
        })
    }

    /// True once the client has cancelled the call.
    pub(crate) fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    /// The same limits with half of the time that is left, for the first of several answers.
    pub(crate) fn half(&self) -> Self {
        let now = Instant::now();
        Self { until: now + self.until.saturating_duration_since(now) / 2, ..self.clone() }
    }

    /// Milliseconds that are left.
    pub(crate) fn remaining_ms(&self) -> u64 {
        let left = self.until.saturating_duration_since(Instant::now());
        u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
    }
}

impl ResourceLimits for CallLimits {
    fn poll(&mut self) -> Poll {
        if self.is_cancelled() {
            return Poll::Stop(StopReason::Cancelled);
        }
        if Instant::now() >= self.until { Poll::Stop(StopReason::Time) } else { Poll::Continue }
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        self.charged = self.charged.saturating_add(bytes);
        if self.charged > self.memory_bytes { Poll::Stop(StopReason::Memory) } else { self.poll() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(given: LimitArguments) -> Result<CallLimits, Failure> {
        CallLimits::new(given, Arc::new(|| false))
    }

    #[test]
    fn each_limit_has_a_default_and_a_ceiling() {
        let defaults = limits(LimitArguments::default()).unwrap();
        assert_eq!(
            (defaults.nodes, defaults.memory_bytes, defaults.input_bytes),
            (1_000_000, 1 << 30, 16 << 20)
        );
        for given in [
            LimitArguments { seconds: Some(601.0), ..Default::default() },
            LimitArguments { seconds: Some(0.0), ..Default::default() },
            LimitArguments { seconds: Some(f64::NAN), ..Default::default() },
            LimitArguments { nodes: Some(100_000_001), ..Default::default() },
            LimitArguments { memory_mb: Some(4097), ..Default::default() },
            LimitArguments { input_mb: Some(65), ..Default::default() },
        ] {
            let failure = limits(given).err().unwrap();
            assert_eq!(failure.code, "mcp.arguments", "{given:?}");
        }
    }

    #[test]
    fn half_of_the_time_ends_before_all_of_it() {
        let all = limits(LimitArguments::default()).unwrap();
        assert!(all.half().until < all.until && all.half().nodes == all.nodes);
    }

    #[test]
    fn memory_and_cancellation_stop_the_work() {
        let mut some = limits(LimitArguments { memory_mb: Some(1), ..Default::default() }).unwrap();
        assert_eq!(some.charge(1 << 20), Poll::Continue);
        assert_eq!(some.charge(1), Poll::Stop(StopReason::Memory));
        let mut cancelled = CallLimits::new(LimitArguments::default(), Arc::new(|| true)).unwrap();
        assert_eq!(cancelled.poll(), Poll::Stop(StopReason::Cancelled));
    }
}
