//! One task: its stages in order, and the verdict.

use super::beam::{Entry, Standing, select, standing};
use super::context::{Context, TaskRun, lock};
use super::path::candidate_path;
use super::report::{FailedSample, RunState, StageReport, TaskReport};
use super::services::RunTask;
use super::stage::Step;
use super::{plan, translate, verify};
use crate::config::{SelectStage, Stage};
use planforge_contract::{Candidate, Event, Failure, FailureClass, TaskVerdict};
use std::sync::Mutex;

/// Runs one task to its end or to where this session leaves it.
///
/// # Errors
/// The record failed.
pub(super) fn run(context: &Context<'_>, task: &RunTask) -> Result<(TaskReport, RunState), Failure> {
    let task = TaskRun { task, usage: Mutex::default() };
    let result = Driver { context, task: &task, stages: Vec::new(), parked: false }.drive();
    if let Err(failure) = &result {
        // The other tasks stop as well: nothing that they do could be recorded.
        context.note(Err(failure.clone()));
    }
    result
}

struct Driver<'a> {
    context: &'a Context<'a>,
    task: &'a TaskRun<'a>,
    stages: Vec<StageReport>,
    parked: bool,
}

/// Why no further stage is run.
enum End {
    Interrupted,
    Parked,
    Empty { stage: String, failed: Vec<FailedSample> },
}

impl Driver<'_> {
    fn drive(mut self) -> Result<(TaskReport, RunState), Failure> {
        if self.context.stopping() {
            return Ok((self.report(None, None), RunState::Interrupted));
        }
        let name = self.task.task.name.clone();
        self.context.recorder.event(Event::TaskStarted { task: name.clone() })?;
        let given = &self.task.task.view.given;
        let candidate = Candidate {
            domain: given.domain.clone(),
            problem: given.problem.clone(),
            ..Candidate::default()
        };
        let mut beam = vec![Entry { candidate, ..Entry::default() }];
        for stage in &self.context.pipeline.stages {
            match self.stage(stage, beam)? {
                Ok(left) => beam = left,
                Err(End::Interrupted) => return Ok((self.report(None, None), RunState::Interrupted)),
                Err(End::Parked) => return Ok((self.report(None, None), RunState::Parked)),
                Err(End::Empty { stage, failed }) => return self.finish(empty(stage, &failed), None),
            }
        }
        if self.parked {
            return Ok((self.report(None, None), RunState::Parked));
        }
        let stages = &self.context.pipeline.stages;
        let mut standings: Vec<(Standing, Entry)> =
            beam.into_iter().map(|entry| (standing(stages, &entry), entry)).collect();
        // Stable: among equals the first in beam order is the best.
        standings.sort_by_key(|(standing, _)| standing.rank());
        match standings.into_iter().next() {
            Some((standing, entry)) => self.finish(verdict(standing), Some(entry)),
            None => self.finish(empty(last_label(stages), &[]), None),
        }
    }

    /// One stage; `Err` inside where the task goes no further.
    fn stage(&mut self, stage: &Stage, beam: Vec<Entry>) -> Result<Result<Vec<Entry>, End>, Failure> {
        let entered = beam.len();
        let (context, task) = (self.context, self.task);
        if context.stopping() {
            return Ok(Err(End::Interrupted));
        }
        // Which candidates are the best cannot be said before all are there.
        if self.parked && matches!(stage, Stage::Select(_)) {
            return Ok(Err(End::Parked));
        }
        context.recorder.event(Event::StageStarted {
            task: task.task.name.clone(),
            stage: stage.label().to_owned(),
            candidates: u32::try_from(entered).unwrap_or(u32::MAX),
        })?;
        let step = match stage {
            Stage::Translate(stage) => translate::run(context, task, stage, beam)?,
            Stage::Verify(stage) => verify::run(context, task, stage, beam)?,
            Stage::Plan(stage) => plan::run(context, task, stage, beam)?,
            Stage::Select(stage) => self.select(stage, beam)?,
        };
        self.parked |= step.parked;
        self.stages.push(StageReport {
            label: stage.label().to_owned(),
            kind: stage.kind().name().to_owned(),
            entered,
            left: step.beam.len(),
            outcomes: step.outcomes,
            failed: step.failed.clone(),
        });
        if step.interrupted {
            return Ok(Err(End::Interrupted));
        }
        if step.beam.is_empty() {
            let empty = End::Empty { stage: stage.label().to_owned(), failed: step.failed };
            return Ok(Err(if self.parked { End::Parked } else { empty }));
        }
        Ok(Ok(step.beam))
    }

    fn select(&self, stage: &SelectStage, beam: Vec<Entry>) -> Result<Step, Failure> {
        let name = &self.task.task.name;
        let paths: Vec<String> = beam.iter().map(|e| candidate_path(name, &e.candidate.lineage)).collect();
        let (beam, kept) = select(stage, beam);
        self.context.recorder.event(Event::Selected {
            task: name.clone(),
            stage: stage.label.clone(),
            kept: kept.iter().filter_map(|index| paths.get(*index).cloned()).collect(),
        })?;
        let mut step = Step { beam, ..Step::default() };
        step.outcomes.insert("kept".to_owned(), kept.len());
        Ok(step)
    }

    fn finish(
        &mut self,
        verdict: TaskVerdict,
        entry: Option<Entry>,
    ) -> Result<(TaskReport, RunState), Failure> {
        let task = self.task.task.name.clone();
        self.context.recorder.event(Event::TaskFinished { task, verdict: verdict.clone() })?;
        Ok((self.report(Some(verdict), entry), RunState::Finished))
    }

    fn report(&mut self, verdict: Option<TaskVerdict>, entry: Option<Entry>) -> TaskReport {
        let task = self.task.task;
        let path = entry.as_ref().map(|e| candidate_path(&task.name, &e.candidate.lineage));
        let (candidate, written) = match entry {
            Some(entry) => (Some(entry.candidate), entry.written),
            None => (None, Vec::new()),
        };
        TaskReport {
            task: task.name.clone(),
            suite: task.view.suite.clone(),
            stem: task.view.task.clone(),
            verdict,
            candidate,
            path,
            written,
            stages: std::mem::take(&mut self.stages),
            usage: lock(&self.task.usage).clone(),
        }
    }
}

fn last_label(stages: &[Stage]) -> String {
    stages.last().map(|stage| stage.label().to_owned()).unwrap_or_default()
}

fn verdict(standing: Standing) -> TaskVerdict {
    match standing {
        Standing::Accepted => TaskVerdict::Accepted,
        Standing::Rejected(stage, message) => TaskVerdict::Rejected { stage, message },
        Standing::Unsolvable(stage, message) => TaskVerdict::Unsolvable { stage, message },
        Standing::Undecided(stage, message) => TaskVerdict::Undecided { stage, message },
        Standing::Failed(stage, failure) => TaskVerdict::Failed { stage, failure },
    }
}

/// The verdict on an empty beam: nothing is left that could have been rejected. It is a failure, unless limits alone
/// emptied it.
fn empty(stage: String, failed: &[FailedSample]) -> TaskVerdict {
    let limit = |f: &FailedSample| matches!(f.failure.class, FailureClass::Limit | FailureClass::Budget);
    match failed.iter().find(|f| !limit(f)) {
        Some(first) => TaskVerdict::Failed { stage, failure: first.failure.clone() },
        None => {
            let message = failed.first().map_or_else(
                || "no candidate was left".to_owned(),
                |f| format!("every sample was cut off by a limit: {}", f.failure),
            );
            TaskVerdict::Undecided { stage, message }
        }
    }
}
