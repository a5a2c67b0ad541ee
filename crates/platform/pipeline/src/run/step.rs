//! One stage, and what all stages share: the beam that comes out, counts for the report, and how a broken call is treated.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::path::marked;
use super::report::{BudgetReport, FailedSample, StageReport};
use crate::stages::Stage;
use planforge_contract::{Event, Failure, FailureClass};
use planforge_llm::PENDING;
use std::collections::BTreeMap;

/// What a stage came to.
#[derive(Default)]
pub(crate) struct Step {
    pub(crate) beam: Vec<Entry>,
    pub(crate) outcomes: BTreeMap<String, usize>,
    pub(crate) failed: Vec<FailedSample>,
    /// How many groups of a select stage were compared by each metric.
    pub(crate) compared: BTreeMap<String, usize>,
    /// A call was interrupted: the task has no verdict in this session.
    pub(crate) interrupted: bool,
    /// A candidate waits for an answer that comes later.
    pub(crate) parked: bool,
    /// What the stages inside of a refine or budget stage came to, all candidates and rounds together.
    pub(crate) inner: Vec<StageReport>,
    /// What a budget stage spent.
    pub(crate) budget: Option<BudgetReport>,
}

/// One stage over a beam. In a refine stage `round` counts from 1; it stands in every path.
pub(crate) fn run(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &Stage,
    round: Option<u32>,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    context.recorder.event(Event::StageStarted {
        task: task.task.name.clone(),
        stage: marked(stage.label(), round),
        candidates: u32::try_from(beam.len()).unwrap_or(u32::MAX),
    })?;
    stage.definition().run(context, task, round, beam)
}

impl Step {
    pub(crate) fn count(&mut self, outcome: &str) {
        *self.outcomes.entry(outcome.to_owned()).or_insert(0) += 1;
    }

    /// Takes note of a call that broke. True where that says nothing about the candidate, for the call was only put off.
    pub(crate) fn broke(
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
pub(crate) fn cancelled() -> Failure {
    Failure::new(FailureClass::Cancelled, "pipeline.cancelled", "the run was interrupted")
}

/// The services lack an instance for a stage: whoever put them together made a mistake.
pub(crate) fn no_instance(label: &str) -> Failure {
    Failure::new(
        FailureClass::Request,
        "pipeline.no-instance",
        format!("stage `{label}` has no plugin instance of its kind"),
    )
}
