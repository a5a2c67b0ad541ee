//! One stage, and what all stages share: the beam that comes out, counts for the report, and how a broken call is treated.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::path::label_in_round;
use super::report::{BudgetReport, FailedSample, StageReport};
use crate::stages::Stage;
use planforge_contract::{Failure, FailureClass};
use planforge_record::Event;
use std::collections::BTreeMap;

/// The result of a stage.
#[derive(Default)]
pub(crate) struct StageResult {
    pub(crate) beam: Vec<Entry>,
    pub(crate) outcomes: BTreeMap<String, usize>,
    pub(crate) failed: Vec<FailedSample>,
    /// Number of groups of a select stage by the metric that they were compared by.
    pub(crate) compared: BTreeMap<String, usize>,
    /// A call was interrupted: the task has no verdict in this session.
    pub(crate) interrupted: bool,
    /// A candidate waits for a deferred reply.
    pub(crate) parked: bool,
    /// Reports of the stages inside a refine or budget stage, all candidates and rounds together.
    pub(crate) inner: Vec<StageReport>,
    /// The report of a budget stage.
    pub(crate) budget: Option<BudgetReport>,
}

/// Runs a stage over a beam. Inside a refine or budget stage `round` counts from 1; it is part of every path.
pub(crate) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &Stage,
    round: Option<u32>,
    beam: Vec<Entry>,
) -> Result<StageResult, Failure> {
    context.recorder.event(Event::StageStarted {
        task: task.task.name.clone(),
        stage: label_in_round(stage.label(), round),
        candidates: u32::try_from(beam.len()).unwrap_or(u32::MAX),
    })?;
    stage.definition().run(context, task, round, beam)
}

impl StageResult {
    pub(crate) fn count(&mut self, outcome: &str) {
        *self.outcomes.entry(outcome.to_owned()).or_insert(0) += 1;
    }

    /// Records a broken call. Returns true if the call was only deferred or interrupted, which means nothing
    /// for the candidate.
    pub(crate) fn broke(
        &mut self,
        context: &Context<'_>,
        task: &TaskRun<'_>,
        path: String,
        failure: &Failure,
    ) -> Result<bool, Failure> {
        if failure.is_deferred() {
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

/// The failure of a call that is not made because the run is interrupted.
pub(crate) fn cancelled_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, "pipeline.cancelled", "the run was interrupted")
}

/// The failure for a stage without a plugin instance, which is a mistake of the caller of [`crate::run()`].
pub(crate) fn no_instance(label: &str) -> Failure {
    Failure::new(
        FailureClass::Request,
        "pipeline.no-instance",
        format!("stage `{label}` has no plugin instance of its kind"),
    )
}
