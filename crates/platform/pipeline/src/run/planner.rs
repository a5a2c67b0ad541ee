//! Calls of planners, by plan stages and by verifiers.

use super::host::Call;
use super::recorder::Keep;
use super::step::cancelled;
use planforge_contract::api::Planner;
use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome, PlanRequest};

/// Asks a planner, or takes its answer from the record.
pub(crate) fn ask_planner(
    call: &Call<'_>,
    planner: &dyn Planner,
    request: &PlanRequest,
) -> Result<PlanOutcome, Failure> {
    let name = format!("{}.plan", call.info.id);
    let ask = || match call.whole(planner.plan(call, request)?, |_| false)? {
        PlanOutcome::LimitReached { limit: LimitKind::Cancelled, message, .. } => {
            Err(Failure::new(FailureClass::Cancelled, "pipeline.cancelled", message))
        }
        // A limit that was reached once the run is being interrupted may be the interruption's doing.
        outcome if keep(&outcome) == Keep::Timed && call.context.stopping() => Err(cancelled()),
        outcome => Ok(outcome),
    };
    if call.is_outside() {
        return call.outside(&name, request, ask);
    }
    // What a model answered is recorded by itself, and counted whenever it is looked up: asked again, the planner comes to the same.
    let asks_a_model = !call.info.roles.is_empty();
    let keep = |outcome: &PlanOutcome| match keep(outcome) {
        Keep::Yes if asks_a_model => Keep::No,
        kept => kept,
    };
    call.context.recorder.effect(&name, &call.path, request, keep, ask)
}

fn keep(outcome: &PlanOutcome) -> Keep {
    match outcome {
        PlanOutcome::LimitReached { limit: LimitKind::Time | LimitKind::Memory, .. } => Keep::Timed,
        _ => Keep::Yes,
    }
}
