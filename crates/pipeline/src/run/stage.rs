//! What all stages share: the beam that comes out, counts for the report, and how a broken call is treated.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::report::FailedSample;
use planforge_contract::{Event, Failure, FailureClass};
use planforge_llm::PENDING;
use std::collections::BTreeMap;

/// What a stage came to.
#[derive(Default)]
pub(super) struct Step {
    pub(super) beam: Vec<Entry>,
    pub(super) outcomes: BTreeMap<String, usize>,
    pub(super) failed: Vec<FailedSample>,
    /// A call was interrupted: the task has no verdict in this session.
    pub(super) interrupted: bool,
    /// A candidate waits for an answer that comes later.
    pub(super) parked: bool,
}

impl Step {
    pub(super) fn count(&mut self, outcome: &str) {
        *self.outcomes.entry(outcome.to_owned()).or_insert(0) += 1;
    }

    /// Takes note of a call that broke. True where that says nothing about the candidate, for the call was only put off.
    pub(super) fn broke(
        &mut self,
        context: &Context<'_>,
        task: &TaskRun<'_>,
        path: String,
        failure: &Failure,
    ) -> Result<bool, Failure> {
        if failure.code == PENDING {
            self.parked = true;
            return Ok(true);
        }
        // Whatever breaks once the run is being interrupted may have broken because of that.
        if failure.class == FailureClass::Cancelled || context.stopping() {
            self.interrupted = true;
            return Ok(true);
        }
        context.recorder.event(Event::SampleFailed {
            task: task.task.name.clone(),
            path: path.clone(),
            failure: failure.clone(),
        })?;
        self.count("failed");
        self.failed.push(FailedSample { path, failure: failure.clone() });
        Ok(false)
    }
}

/// No call is begun once the run is being interrupted.
pub(super) fn cancelled() -> Failure {
    Failure::new(FailureClass::Cancelled, "pipeline.cancelled", "the run was interrupted")
}

/// The services lack an instance for a stage: whoever put them together made a mistake.
pub(super) fn no_instance(label: &str) -> Failure {
    Failure::new(
        FailureClass::Request,
        "pipeline.no-instance",
        format!("stage `{label}` has no plugin instance of its kind"),
    )
}
