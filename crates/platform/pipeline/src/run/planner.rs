//! Calls of planners, by plan stages and by verifiers.

use super::host::PluginCall;
use super::recorder::Keep;
use super::step::cancelled_failure;
use planforge_contract::api::Planner;
use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome, PlanRequest};

impl PluginCall<'_> {
    /// Asks a planner, or takes its answer from the record.
    pub(crate) fn ask_planner(
        &self,
        planner: &dyn Planner,
        request: &PlanRequest,
    ) -> Result<PlanOutcome, Failure> {
        let name = format!("{}.plan", self.info.id);
        let ask = || match self.unless_deferred(planner.plan(self, request), |_| false)? {
            PlanOutcome::LimitReached { limit: LimitKind::Cancelled, message, .. } => {
                Err(Failure::new(FailureClass::Cancelled, "pipeline.cancelled", message))
            }
            // A limit that was reached once the run is being interrupted may be the interruption's doing.
            outcome if keep(&outcome) == Keep::Timed && self.context.stopping() => Err(cancelled_failure()),
            outcome => Ok(outcome),
        };
        if self.is_outside() {
            return self.outside(&name, request, ask);
        }
        // Replies of models are recorded themselves, and counted whenever they are looked up, so the planner repeats its result.
        let asks_a_model = !self.info.roles.is_empty();
        let keep = |outcome: &PlanOutcome| match keep(outcome) {
            Keep::Yes if asks_a_model => Keep::No,
            kept => kept,
        };
        self.context.recorder.effect(&name, &self.path, request, keep, ask)
    }
}

fn keep(outcome: &PlanOutcome) -> Keep {
    match outcome {
        PlanOutcome::LimitReached { limit: LimitKind::Time | LimitKind::Memory, .. } => Keep::Timed,
        _ => Keep::Yes,
    }
}
