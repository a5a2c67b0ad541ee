//! Limits of a call. Each has a default and a ceiling.

use crate::answers::wrong_arguments;
use planforge_app::RequestLimits;
use planforge_app::contract::Failure;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::{Duration, Instant};

const SECONDS: Bounds<f64> = Bounds { name: "seconds", default: 30.0, ceiling: 600.0 };
/// Of `solve`: models answer, and the user.
const SOLVE_SECONDS: Bounds<f64> = Bounds { name: "seconds", default: 600.0, ceiling: 3600.0 };
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

/// The limits of an active call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLimits {
    /// End of the call's time.
    pub(crate) until: Instant,
    pub(crate) nodes: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) input_bytes: u64,
}

impl CallLimits {
    /// Starts the call's time.
    ///
    /// # Errors
    /// A limit that is not positive, or above its ceiling.
    pub(crate) fn new(given: LimitArguments) -> Result<Self, Failure> {
        let seconds = SECONDS.value(given.seconds)?;
        Ok(Self {
            until: Instant::now() + Duration::from_secs_f64(seconds),
            nodes: NODES.value(given.nodes)?,
            memory_bytes: MEMORY_MB.value(given.memory_mb)? << 20,
            input_bytes: INPUT_MB.value(given.input_mb)? << 20,
        })
    }

    /// The limits of a call of `solve`, from now on.
    ///
    /// # Errors
    /// As of [`CallLimits::new`].
    pub(crate) fn of_solve(seconds: Option<f64>) -> Result<Self, Failure> {
        let seconds = SOLVE_SECONDS.value(seconds)?;
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        Ok(Self { until, ..Self::new(LimitArguments::default())? })
    }

    /// True after the end of the call's time.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// The limits of a use case: the remaining time, and the memory.
    pub(crate) fn remaining(&self) -> RequestLimits {
        let seconds = self.until.saturating_duration_since(Instant::now()).as_secs_f64();
        RequestLimits { seconds: Some(seconds), memory_bytes: self.memory_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_has_a_default_and_a_ceiling() {
        let defaults = CallLimits::new(LimitArguments::default()).unwrap();
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
            let failure = CallLimits::new(given).err().unwrap();
            assert_eq!(failure.code, "mcp.arguments", "{given:?}");
        }
    }

    #[test]
    fn a_use_case_gets_the_remaining_time() {
        let given = LimitArguments { seconds: Some(0.001), memory_mb: Some(1), ..Default::default() };
        let limits = CallLimits::new(given).unwrap();
        assert!(limits.remaining().seconds.is_some_and(|seconds| seconds <= 0.001));
        std::thread::sleep(Duration::from_millis(2));
        assert!(limits.is_over());
        assert_eq!(limits.remaining(), RequestLimits { seconds: Some(0.0), memory_bytes: 1 << 20 });
    }
}
