//! One stage, and what all stages share: the beam that comes out, counts for the report, and how a broken call is treated.

use super::beam::{Compared, Entry, Selection, select};
use super::context::{Context, TaskRun};
use super::path::{candidate_path, marked};
use super::report::{BudgetReport, FailedSample, StageReport};
use super::{budget, fan_out, plan, refine, translate, verify};
use crate::config::{SelectStage, Stage};
use planforge_contract::{Event, Failure, FailureClass, SelectedGroup};
use planforge_llm::PENDING;
use std::collections::BTreeMap;

/// What a stage came to.
#[derive(Default)]
pub(super) struct Step {
    pub(super) beam: Vec<Entry>,
    pub(super) outcomes: BTreeMap<String, usize>,
    pub(super) failed: Vec<FailedSample>,
    /// How many groups of a select stage were compared by each metric.
    pub(super) compared: BTreeMap<String, usize>,
    /// A call was interrupted: the task has no verdict in this session.
    pub(super) interrupted: bool,
    /// A candidate waits for an answer that comes later.
    pub(super) parked: bool,
    /// What the stages inside of a refine or budget stage came to, all candidates and rounds together.
    pub(super) inner: Vec<StageReport>,
    /// What a budget stage spent.
    pub(super) budget: Option<BudgetReport>,
}

/// One stage over a beam. In a refine stage `round` counts from 1; it stands in every path.
pub(super) fn run(
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
    match stage {
        Stage::Translate(stage) => translate::run(context, task, stage, round, beam),
        Stage::Verify(stage) => verify::run(context, task, stage, round, beam),
        Stage::Plan(stage) => plan::run(context, task, stage, round, beam),
        Stage::Select(stage) => kept(context, task, stage, beam),
        Stage::Refine(stage) => refine::run(context, task, stage, beam),
        Stage::Budget(stage) => budget::run(context, task, stage, beam),
        // The lead's own candidates go on as they are, and are judged by what comes behind.
        Stage::FanOut(stage) => Ok(fan_out::of_lead(context, stage, beam)),
    }
}

/// Whether a stage can say nothing about some candidates before all are there: a choice among those that are there, a judgement of
/// them together or a search that begins with them would be another one, and might ask models what nobody needs.
pub(super) fn needs_all(context: &Context<'_>, stage: &Stage) -> bool {
    match stage {
        Stage::Select(_) | Stage::Budget(_) | Stage::FanOut(_) => true,
        Stage::Verify(stage) => verify::judges_together(context, stage),
        Stage::Translate(_) | Stage::Plan(_) | Stage::Refine(_) => false,
    }
}

fn kept(
    context: &Context<'_>,
    task: &TaskRun<'_>,
    stage: &SelectStage,
    beam: Vec<Entry>,
) -> Result<Step, Failure> {
    let name = &task.task.name;
    let paths: Vec<String> = beam.iter().map(|e| candidate_path(name, &e.candidate.lineage)).collect();
    let Selection { beam, kept, groups } = select(stage, beam);
    let mut step = Step { beam, ..Step::default() };
    step.outcomes.insert("kept".to_owned(), kept.len());
    for group in &groups {
        *step.compared.entry(group.by.clone()).or_insert(0) += 1;
    }
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let group = |group: Compared| SelectedGroup {
        group: candidate_path(name, &group.ancestor),
        by: group.by,
        members: count(group.members),
        without_value: count(group.without_value),
    };
    context.recorder.event(Event::Selected {
        task: name.clone(),
        stage: stage.label.clone(),
        kept: kept.iter().filter_map(|index| paths.get(*index).cloned()).collect(),
        groups: groups.into_iter().map(group).collect(),
    })?;
    Ok(step)
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
