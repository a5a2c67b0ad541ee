//! One task: its stages in order, and the verdict.

use super::beam::Entry;
use super::context::{Context, TaskRun};
use super::copies;
use super::path::candidate_path;
use super::report::{FailedSample, ModelFallback, RunState, StageReport, TaskReport, TaskUsage};
use super::series::report;
use super::services::RunTask;
use super::step;
use super::sync::lock;
use super::verdict::{place_at_end, verdict_of};
use crate::stages::Stage;
use planforge_contract::{Candidate, CandidatePatch, Failure, FailureClass, LineageStep};
use planforge_record::{Event, TaskVerdict};
use std::collections::BTreeMap;
use std::ops::Range;

/// One task on its way through the stages.
pub(crate) struct Driver<'a> {
    context: &'a Context<'a>,
    task: TaskRun<'a>,
    stages: Vec<StageReport>,
    /// Verdicts on the candidates that are left at the end, if there are several.
    candidates: BTreeMap<String, usize>,
    parked: bool,
}

/// Reasons for running no further stage.
enum End {
    Interrupted,
    Parked,
    Empty { stage: String, failed: Vec<FailedSample> },
}

/// The state of a task after some of its stages.
pub(crate) enum Progressed<'a> {
    /// These candidates enter the next stage.
    Reached(Driver<'a>, Vec<Entry>),
    /// It ended, or the session leaves it where it is.
    Ended(Box<TaskReport>, RunState),
}

/// The start of a task behind the fan-out.
#[derive(Clone)]
pub(crate) enum Start {
    /// A child of each of these.
    From(Vec<Entry>),
    /// Nothing: it ends so.
    Ended(TaskVerdict),
    /// Nothing yet: the lead task was interrupted or waits for answers.
    Waits(RunState),
}

/// The report of a task and the state in which the session leaves it.
pub(crate) type TaskResult = Result<(TaskReport, RunState), Failure>;

impl<'a> Driver<'a> {
    pub(crate) fn new(context: &'a Context<'a>, task: &'a RunTask) -> Self {
        Self {
            context,
            task: TaskRun::new(task),
            stages: Vec::new(),
            candidates: BTreeMap::new(),
            parked: false,
        }
    }

    /// Runs the task to its end or to where this session leaves it.
    ///
    /// # Errors
    /// The record failed.
    pub(crate) fn whole(self) -> TaskResult {
        let context = self.context;
        let ended = self.until(context.pipeline.stages.len()).and_then(|progressed| match progressed {
            Progressed::Reached(driver, beam) => driver.judge_beam(beam),
            Progressed::Ended(report, state) => Ok((*report, state)),
        });
        stop_others_on_failure(context, ended)
    }

    /// Runs the stages before that position.
    pub(crate) fn until(mut self, end: usize) -> Result<Progressed<'a>, Failure> {
        let context = self.context;
        if context.stopping() {
            return Ok(Progressed::Ended(Box::new(self.report(None, None)), RunState::Interrupted));
        }
        let begun = self.begin();
        let given = &self.task.task.view.given;
        let candidate = Candidate {
            domain: given.domain.clone(),
            problem: given.problem.clone(),
            ..Candidate::default()
        };
        let beam = vec![Entry { candidate, ..Entry::default() }];
        let progressed = begun.and_then(|()| self.run(0..end, beam)).map(|progressed| match progressed {
            // Which candidates the others start from cannot be said before all are there.
            Progressed::Reached(mut driver, _) if driver.parked && end < context.pipeline.stages.len() => {
                Progressed::Ended(Box::new(driver.report(None, None)), RunState::Parked)
            }
            progressed => progressed,
        });
        stop_others_on_failure(context, progressed)
    }

    /// Runs the stages from that position on.
    pub(crate) fn after(self, at: usize, beam: Vec<Entry>) -> TaskResult {
        let context = self.context;
        stop_others_on_failure(context, self.rest(at, beam))
    }

    /// Runs a task that starts behind the fan-out.
    pub(crate) fn behind(mut self, at: usize, start: Start) -> TaskResult {
        let context = self.context;
        let ended = match start {
            _ if context.stopping() => Ok((self.report(None, None), RunState::Interrupted)),
            Start::Waits(state) => Ok((self.report(None, None), state)),
            Start::Ended(verdict) => self.begin().and_then(|()| self.finish(verdict, None)),
            Start::From(starts) => {
                self.begin().and_then(|()| self.children(at, starts)).and_then(|beam| self.rest(at + 1, beam))
            }
        };
        stop_others_on_failure(context, ended)
    }

    fn begin(&self) -> Result<(), Failure> {
        self.context.recorder.event(Event::TaskStarted { task: self.task.task.name.clone() })
    }

    fn rest(self, from: usize, beam: Vec<Entry>) -> TaskResult {
        let end = self.context.pipeline.stages.len();
        match self.run(from..end, beam)? {
            Progressed::Reached(driver, beam) => driver.judge_beam(beam),
            Progressed::Ended(report, state) => Ok((*report, state)),
        }
    }

    /// The task's first candidates behind the fan-out, one for each survivor of the lead task.
    fn children(&mut self, at: usize, starts: Vec<Entry>) -> Result<Vec<Entry>, Failure> {
        let task = self.task.task;
        let Some(stage) = self.context.pipeline.stages.get(at) else { return Ok(Vec::new()) };
        let (label, count) = (stage.label().to_owned(), starts.len());
        let mut beam = Vec::new();
        for (sample, mut start) in (0u32..).zip(starts) {
            start.candidate.lineage = vec![LineageStep { stage: label.clone(), sample }];
            start.candidate.problem.clone_from(&task.view.given.problem);
            let patch = CandidatePatch {
                domain: start.candidate.domain.clone(),
                problem: start.candidate.problem.clone(),
                ..CandidatePatch::default()
            };
            self.context.recorder.event(Event::CandidateMade {
                task: task.name.clone(),
                path: candidate_path(&task.name, &start.candidate.lineage),
                candidate: self.context.recorder.blob(&start.candidate)?,
                patch: self.context.recorder.blob(&patch)?,
            })?;
            beam.push(start);
        }
        self.stages.push(StageReport {
            label,
            left: count,
            outcomes: BTreeMap::from([("made".to_owned(), count)]),
            ..report(stage)
        });
        Ok(beam)
    }

    fn run(mut self, stages: Range<usize>, mut beam: Vec<Entry>) -> Result<Progressed<'a>, Failure> {
        let context = self.context;
        for stage in context.pipeline.stages.get(stages).unwrap_or_default() {
            let ended = match self.stage(stage, beam)? {
                Ok(left) => {
                    beam = left;
                    continue;
                }
                Err(End::Interrupted) => (self.report(None, None), RunState::Interrupted),
                Err(End::Parked) => (self.report(None, None), RunState::Parked),
                Err(End::Empty { stage, failed }) => {
                    let verdict = empty(stage, &failed);
                    self.finish(verdict, None)?
                }
            };
            return Ok(Progressed::Ended(Box::new(ended.0), ended.1));
        }
        Ok(Progressed::Reached(self, beam))
    }

    /// The verdict on what went through all stages.
    fn judge_beam(mut self, beam: Vec<Entry>) -> TaskResult {
        if self.parked {
            return Ok((self.report(None, None), RunState::Parked));
        }
        let pipeline = self.context.pipeline;
        if beam.len() > 1 {
            for entry in &beam {
                let verdict = verdict_of(pipeline.all_stages(), entry);
                *self.candidates.entry(verdict.name().to_owned()).or_insert(0) += 1;
            }
        }
        // Among equals the first in beam order is taken.
        match beam.into_iter().min_by_key(|entry| place_at_end(pipeline, entry)) {
            Some(entry) => self.finish(verdict_of(pipeline.all_stages(), &entry), Some(entry)),
            None => self.finish(empty(last_label(&pipeline.stages), &[]), None),
        }
    }

    /// One stage; `Err` inside where the task goes no further.
    fn stage(&mut self, stage: &Stage, beam: Vec<Entry>) -> Result<Result<Vec<Entry>, End>, Failure> {
        let entered = beam.len();
        if self.context.stopping() {
            return Ok(Err(End::Interrupted));
        }
        if self.parked && stage.definition().needs_whole_beam(self.context) {
            return Ok(Err(End::Parked));
        }
        let step = step::run(self.context, &self.task, stage, None, beam)?;
        self.parked |= step.parked;
        self.stages.push(StageReport {
            entered,
            left: step.beam.len(),
            outcomes: step.outcomes,
            compared: step.compared,
            // What broke in a round is reported with the stage of the round.
            failed: if step.inner.is_empty() { step.failed.clone() } else { Vec::new() },
            budget: step.budget,
            ..report(stage)
        });
        self.stages.extend(step.inner);
        if step.interrupted {
            return Ok(Err(End::Interrupted));
        }
        if step.beam.is_empty() {
            let empty = End::Empty { stage: stage.label().to_owned(), failed: step.failed };
            return Ok(Err(if self.parked { End::Parked } else { empty }));
        }
        Ok(Ok(step.beam))
    }

    fn finish(
        &mut self,
        verdict: TaskVerdict,
        entry: Option<Entry>,
    ) -> Result<(TaskReport, RunState), Failure> {
        let task = self.task.task.name.clone();
        for (model, usage) in self.usage().iter().filter(|(_, usage)| usage.copies > 0) {
            let message = copies::warning(model, usage.copies, usage.replies);
            self.context.recorder.event(Event::Log {
                plugin: "planforge".to_owned(),
                level: "warn".to_owned(),
                message: format!("{task}: {message}"),
            })?;
        }
        let verdict = self.explain_cut_off(verdict);
        self.context.recorder.event(Event::TaskFinished { task, verdict: verdict.clone() })?;
        Ok((self.report(Some(verdict), entry), RunState::Finished))
    }

    /// Adds the limit on a reply's tokens to the reason why a reply that was cut off could not be used.
    fn explain_cut_off(&self, verdict: TaskVerdict) -> TaskVerdict {
        let TaskVerdict::Unusable { stage, mut failure } = verdict else { return verdict };
        let pipeline = self.context.pipeline;
        if failure.code.ends_with("cut-off")
            && let Some(stage) = pipeline.stage(&stage)
        {
            let mut limits: Vec<String> = Vec::new();
            for name in std::iter::once(stage).chain(stage.inner()).flat_map(Stage::models) {
                let limit = pipeline.llm.get(name).and_then(|table| table.settings.get("max_tokens"));
                let told = limit.map(|limit| format!("max_tokens = {limit} of [llm.{name}]"));
                limits.extend(told.filter(|told| !limits.contains(told)));
            }
            if !limits.is_empty() {
                failure.message = format!("{}: cut off at {}", failure.message, limits.join(" or "));
                failure.help = Some("raise `max_tokens`".to_owned());
            }
        }
        TaskVerdict::Unusable { stage, failure }
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
            suite: task.reference.suite.clone(),
            stem: task.view.task.clone(),
            verdict,
            candidate,
            path,
            written,
            candidates: std::mem::take(&mut self.candidates),
            stages: std::mem::take(&mut self.stages),
            renaming: None,
            recalled: Vec::new(),
            usage: self.usage(),
            moved: self.fallbacks(),
        }
    }

    /// Requests that went from one table to another.
    fn fallbacks(&self) -> Vec<ModelFallback> {
        let moves = lock(&self.task.moves);
        let moved = |((llm, to, code), questions): (&(String, String, String), &u64)| ModelFallback {
            llm: llm.clone(),
            to: to.clone(),
            code: code.clone(),
            questions: *questions,
        };
        moves.iter().map(moved).collect()
    }

    /// Use of models by the task.
    fn usage(&self) -> BTreeMap<String, TaskUsage> {
        let mut usage = lock(&self.task.usage).clone();
        for (model, copies) in self.task.copies.by_model() {
            usage.entry(model).or_default().copies = copies;
        }
        usage
    }
}

/// Stops the other tasks after a failure of the record: nothing that they do could be recorded.
fn stop_others_on_failure<T>(context: &Context<'_>, result: Result<T, Failure>) -> Result<T, Failure> {
    if let Err(failure) = &result {
        context.note(Err(failure.clone()));
    }
    result
}

fn last_label(stages: &[Stage]) -> String {
    stages.last().map(|stage| stage.label().to_owned()).unwrap_or_default()
}

/// The verdict on an empty beam: a failure if a sample broke, undecided if a limit ended a sample, and unusable if
/// every sample was answered.
fn empty(stage: String, failed: &[FailedSample]) -> TaskVerdict {
    let first = |wanted: fn(FailureClass) -> bool| {
        failed.iter().map(|sample| &sample.failure).find(|failure| wanted(failure.class))
    };
    let is_limit = |class| matches!(class, FailureClass::Limit | FailureClass::Budget);
    let broke = |class| !matches!(class, FailureClass::Limit | FailureClass::Budget | FailureClass::Reply);
    if let Some(failure) = first(broke) {
        return TaskVerdict::Failed { stage, failure: failure.clone() };
    }
    if let Some(failure) = first(is_limit) {
        let message = format!("no sample was used, and a limit ended at least one: {failure}");
        return TaskVerdict::Undecided { stage, message };
    }
    match first(|class| class == FailureClass::Reply) {
        Some(failure) => TaskVerdict::Unusable { stage, failure: failure.clone() },
        None => TaskVerdict::Undecided { stage, message: "no candidate was left".to_owned() },
    }
}
