//! The limits that verifiers and environments take as options.

use crate::judging::Deadline;
use planforge_contract::api::Host;
use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Limits on judging. What they cut is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingLimits {
    /// Most seconds of wall time for each candidate of a verifier, or each call of an environment. Candidates
    /// that are measured together share the sum.
    pub time_s: u32,
}

impl Default for JudgingLimits {
    fn default() -> Self {
        Self { time_s: 300 }
    }
}

impl JudgingLimits {
    /// The deadline of one call: these limits for so many candidates, or the host's deadline if it is earlier.
    pub fn deadline<'h>(&self, host: &'h dyn Host, candidates: usize) -> Deadline<'h> {
        let candidates = u64::try_from(candidates).unwrap_or(u64::MAX).max(1);
        let seconds = u64::from(self.time_s).saturating_mul(candidates);
        Deadline::within(host, Some(Duration::from_secs(seconds)))
    }
}

/// Turns a planner's call that the host ended into a limit. It happens if the planner had no time to read the clock itself.
///
/// # Errors
/// Every other failure.
pub fn limit_outcome(failure: Failure) -> Result<PlanOutcome, Failure> {
    let limit = match failure.class {
        FailureClass::Limit => LimitKind::Time,
        FailureClass::Cancelled => LimitKind::Cancelled,
        _ => return Err(failure),
    };
    let (plans, statistics) = (Vec::new(), Default::default());
    Ok(PlanOutcome::LimitReached { limit, message: failure.to_string(), plans, statistics })
}
