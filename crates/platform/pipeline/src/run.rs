//! Runs a checked pipeline over tasks: a deterministic re-execution over the journal, whether live, resumed or replayed. Here are the
//! tasks that suites give, the stages of one task in order, and the report under the suites' own names.

use crate::beam::{Entry, candidate_path};
use crate::calls::RunContext;
use crate::pipeline::CheckedPipeline;
use crate::pipeline::{FeedbackSource, Pipeline};
use crate::report::{FailedSample, ModelFallback, RunReport, RunState, StageReport, TaskReport, TaskUsage};
use crate::services::{Pool, Recorder, RunTask, Services, copies_warning, lock};
use crate::stages::Stage;
use crate::stages::interface::{StageContext, Start, TaskStarts};
use crate::stages::rounds::report;
use crate::suite::{
    DescriptionClass, Suite, SuiteTask, Texts, action_examples, disguise_suite, further_problems,
    load_suite_with, not_given, suites_below, task_view,
};
use planforge_contract::{
    ActionExample, Candidate, CandidatePatch, EnvironmentOpen, Failure, FailureClass, LineageStep, Price,
};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_llm::Mode;
use planforge_obfuscate::{Back, Renaming};
use planforge_pddl::parse_domain;
use planforge_record::{Event, TaskVerdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Runs a pipeline over tasks.
///
/// Everything that happens is recorded in `services.journal` and looked up there first: a run over a journal
/// that holds part of a run resumes it. An interruption (`services.cancelled`) stops new calls; results of
/// calls in flight are recorded.
///
/// The report of obfuscated tasks has their other names; [`RunReport::undisguise`] restores the suites' own.
///
/// # Errors
/// The record itself failed; everything recorded before stays usable. All other failures are part of the
/// report.
pub fn run(pipeline: &CheckedPipeline, tasks: &[RunTask], services: &Services) -> Result<RunReport, Failure> {
    let config = &pipeline.config;
    let jobs = match services.jobs {
        0 => config.limits.jobs.unwrap_or(1) as usize,
        jobs => jobs,
    };
    let recorder = Recorder::new(
        Arc::clone(&services.journal),
        services.sources.clone(),
        services.mode,
        services.observer.clone(),
    );
    let plugins = config.all_stages().filter_map(|stage| stage.definition().plugin());
    let context = RunContext {
        services,
        recorder,
        pool: Pool::new(jobs),
        seed: config.seed,
        environment_feedback: config.feedback == Some(FeedbackSource::Environment),
        environment_options: config.environment.as_ref().map(|table| &table.options),
        plugins: plugins.map(|plugin| (plugin.stage, plugin)).collect(),
        prices: config.llm.iter().map(|(name, table)| (name.clone(), table.price())).collect(),
        deadline: config.limits.call_deadline_s.map(Duration::from_secs_f64),
        broken: Mutex::new(None),
    };
    let mode = match services.mode {
        Mode::Replay => "replay",
        _ if context.recorder.is_resumed() => "resume",
        _ => "live",
    };
    context.recorder.session(&Event::SessionStarted { at: (services.now)(), mode: mode.to_owned() })?;
    let drivers = Drivers { pipeline: config, run: &context };
    let mut stages = config.stages.iter().enumerate();
    let ended = match stages.find_map(|(at, stage)| Some((at, stage.definition().task_starts()?))) {
        Some((at, starts)) => drivers.run_groups(at, starts, tasks),
        None => context.pool.drive(tasks, |task| drivers.driver(task).run_all()),
    };
    if let Some(failure) = lock(&context.broken).take() {
        return Err(failure);
    }
    let mut reports = Vec::new();
    let mut state = RunState::Finished;
    for task in ended {
        let (report, end) = task?;
        reports.push(report);
        // Interrupted outranks parked: only the former left work undone that could have been done.
        state = match (state, end) {
            (RunState::Interrupted, _) | (_, RunState::Interrupted) => RunState::Interrupted,
            (RunState::Parked, _) | (_, RunState::Parked) => RunState::Parked,
            _ => RunState::Finished,
        };
    }
    let at = (services.now)();
    context.recorder.session(&Event::SessionFinished { at, state: state.name().to_owned() })?;
    let prices = context.prices.into_iter().filter(|(_, price)| *price != Price::default()).collect();
    Ok(RunReport { schema: 1, state, tasks: reports, prices })
}

/// Makes the drivers of the tasks of a run.
#[derive(Clone, Copy)]
struct Drivers<'a> {
    pipeline: &'a Pipeline,
    run: &'a RunContext<'a>,
}

impl<'a> Drivers<'a> {
    fn driver(self, task: &'a RunTask) -> Driver<'a> {
        Driver {
            pipeline: self.pipeline,
            context: StageContext::new(self.run, &self.pipeline.stages, task),
            stages: Vec::new(),
            candidates: BTreeMap::new(),
            beam: Vec::new(),
            parked: false,
        }
    }

    /// Runs all tasks where the stage at position `at` decides when they start; the results are in the order of the tasks.
    fn run_groups(self, at: usize, starts: &dyn TaskStarts, tasks: &'a [RunTask]) -> Vec<TaskResult> {
        let groups = starts.groups(tasks);
        let ended = self.run.pool.drive(&groups, |group| self.run_group(at, starts, tasks, group));
        let mut ended: Vec<(usize, TaskResult)> = ended.into_iter().flatten().collect();
        ended.sort_by_key(|(index, _)| *index);
        ended.into_iter().map(|(_, ended)| ended).collect()
    }

    fn run_group(
        self,
        at: usize,
        starts: &dyn TaskStarts,
        tasks: &'a [RunTask],
        group: &[usize],
    ) -> Vec<(usize, TaskResult)> {
        let of = |index: &usize| tasks.get(*index).map(|task| (*index, task));
        let Some((lead, task)) = group.first().and_then(of) else { return Vec::new() };
        let others: Vec<(usize, &RunTask)> = group.iter().skip(1).filter_map(of).collect();
        match self.driver(task).run_until(at) {
            Ok(TaskProgress::Reached(driver, beam)) => {
                let start = starts.start_from(task, &beam);
                let lead_on = Mutex::new(Some((driver, beam)));
                let mut members: Vec<Member<'_, '_>> = vec![Member::Lead(lead, &lead_on)];
                members.extend(others.into_iter().map(|(index, task)| Member::Other(index, task)));
                let ended = self.run.pool.drive(&members, |member| match member {
                    Member::Lead(index, driver) => {
                        let driver = lock(driver).take();
                        driver.map(|(driver, beam)| (*index, driver.run_from(at, beam)))
                    }
                    Member::Other(index, other) => {
                        Some((*index, self.driver(other).start_after_lead(at, start.clone())))
                    }
                });
                ended.into_iter().flatten().collect()
            }
            Ok(TaskProgress::Ended(report, state)) => {
                let start = starts.start_without(task, report.verdict.as_ref(), state);
                let mut ended: Vec<(usize, TaskResult)> = others
                    .into_iter()
                    .map(|(index, other)| (index, self.driver(other).start_after_lead(at, start.clone())))
                    .collect();
                ended.push((lead, Ok((*report, state))));
                ended
            }
            Err(failure) => group.iter().map(|index| (*index, Err(failure.clone()))).collect(),
        }
    }
}

/// A task of a group. The lead's driver is taken once.
enum Member<'m, 'c> {
    Lead(usize, &'m Mutex<Option<(Driver<'c>, Vec<Entry>)>>),
    Other(usize, &'c RunTask),
}

/// One task on its way through the stages.
struct Driver<'a> {
    pipeline: &'a Pipeline,
    context: StageContext<'a>,
    stages: Vec<StageReport>,
    /// Verdicts on the candidates that are left at the end, if there are several.
    candidates: BTreeMap<String, usize>,
    /// These candidates.
    beam: Vec<Candidate>,
    parked: bool,
}

/// Reasons for running no further stage.
enum End {
    Interrupted,
    Parked,
    Empty { stage: String, failed: Vec<FailedSample> },
}

/// The state of a task after some of its stages.
enum TaskProgress<'a> {
    /// These candidates enter the next stage.
    Reached(Driver<'a>, Vec<Entry>),
    /// It ended, or the session leaves it where it is.
    Ended(Box<TaskReport>, RunState),
}

/// The report of a task and the state in which the session leaves it.
type TaskResult = Result<(TaskReport, RunState), Failure>;

impl<'a> Driver<'a> {
    /// Runs the task to its end or to where this session leaves it.
    ///
    /// # Errors
    /// The record failed.
    fn run_all(self) -> TaskResult {
        let run = self.context.run;
        let end = self.pipeline.stages.len();
        let ended = self.run_until(end).and_then(|progressed| match progressed {
            TaskProgress::Reached(driver, beam) => driver.judge_beam(beam),
            TaskProgress::Ended(report, state) => Ok((*report, state)),
        });
        stop_others_on_failure(run, ended)
    }

    /// Runs the stages before that position.
    fn run_until(mut self, end: usize) -> Result<TaskProgress<'a>, Failure> {
        let run = self.context.run;
        if run.stopping() {
            return Ok(TaskProgress::Ended(Box::new(self.report(None, None)), RunState::Interrupted));
        }
        let begun = self.begin();
        let given = &self.context.task.task.view.given;
        let candidate = Candidate {
            domain: given.domain.clone(),
            problem: given.problem.clone(),
            ..Candidate::default()
        };
        let beam = vec![Entry { candidate, ..Entry::default() }];
        let progressed = begun.and_then(|()| self.run(0..end, beam)).map(|progressed| match progressed {
            // Which candidates the others start from cannot be said before all are there.
            TaskProgress::Reached(mut driver, _) if driver.parked && end < driver.pipeline.stages.len() => {
                TaskProgress::Ended(Box::new(driver.report(None, None)), RunState::Parked)
            }
            progressed => progressed,
        });
        stop_others_on_failure(run, progressed)
    }

    /// Runs the stages from that position on.
    fn run_from(self, at: usize, beam: Vec<Entry>) -> TaskResult {
        let run = self.context.run;
        stop_others_on_failure(run, self.rest(at, beam))
    }

    /// Runs a task that starts after the lead of its group.
    fn start_after_lead(mut self, at: usize, start: Start) -> TaskResult {
        let run = self.context.run;
        let ended = match start {
            _ if run.stopping() => Ok((self.report(None, None), RunState::Interrupted)),
            Start::Waits(state) => Ok((self.report(None, None), state)),
            Start::Ended(verdict) => self.begin().and_then(|()| self.finish(verdict, None)),
            Start::From(starts) => {
                self.begin().and_then(|()| self.children(at, starts)).and_then(|beam| self.rest(at + 1, beam))
            }
        };
        stop_others_on_failure(run, ended)
    }

    fn begin(&self) -> Result<(), Failure> {
        self.context.run.recorder.event(Event::TaskStarted { task: self.context.name().to_owned() })
    }

    fn rest(self, from: usize, beam: Vec<Entry>) -> TaskResult {
        let end = self.pipeline.stages.len();
        match self.run(from..end, beam)? {
            TaskProgress::Reached(driver, beam) => driver.judge_beam(beam),
            TaskProgress::Ended(report, state) => Ok((*report, state)),
        }
    }

    /// The first candidates of a task that starts after the lead of its group, one for each survivor of the lead task.
    fn children(&mut self, at: usize, starts: Vec<Entry>) -> Result<Vec<Entry>, Failure> {
        let task = self.context.task.task;
        let Some(stage) = self.pipeline.stages.get(at) else { return Ok(Vec::new()) };
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
            self.context.record_candidate(&start, &patch)?;
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

    fn run(mut self, stages: Range<usize>, mut beam: Vec<Entry>) -> Result<TaskProgress<'a>, Failure> {
        for stage in self.pipeline.stages.get(stages).unwrap_or_default() {
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
            return Ok(TaskProgress::Ended(Box::new(ended.0), ended.1));
        }
        Ok(TaskProgress::Reached(self, beam))
    }

    /// The verdict on what went through all stages.
    fn judge_beam(mut self, beam: Vec<Entry>) -> TaskResult {
        if self.parked {
            return Ok((self.report(None, None), RunState::Parked));
        }
        let pipeline = self.pipeline;
        if beam.len() > 1 {
            for entry in &beam {
                let verdict = self.context.verdict(entry);
                *self.candidates.entry(verdict.name().to_owned()).or_insert(0) += 1;
            }
            self.beam.extend(beam.iter().map(|entry| entry.candidate.clone()));
        }
        // Among equals the first in beam order is taken.
        match beam.into_iter().min_by_key(|entry| self.context.place_at_end(entry)) {
            Some(entry) => self.finish(self.context.verdict(&entry), Some(entry)),
            None => self.finish(empty(last_label(&pipeline.stages), &[]), None),
        }
    }

    /// One stage; `Err` inside where the task goes no further.
    fn stage(&mut self, stage: &Stage, beam: Vec<Entry>) -> Result<Result<Vec<Entry>, End>, Failure> {
        let entered = beam.len();
        if self.context.run.stopping() {
            return Ok(Err(End::Interrupted));
        }
        if self.parked && stage.definition().needs_whole_beam(self.context.run) {
            return Ok(Err(End::Parked));
        }
        let step = self.context.run_stage(stage, None, beam)?;
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
        let task = self.context.name().to_owned();
        for (model, usage) in self.usage().iter().filter(|(_, usage)| usage.copies > 0) {
            let message = copies_warning(model, usage.copies, usage.replies);
            self.context.run.recorder.event(Event::Log {
                plugin: "planforge".to_owned(),
                level: "warn".to_owned(),
                message: format!("{task}: {message}"),
            })?;
        }
        let verdict = self.explain_cut_off(verdict);
        self.context.run.recorder.event(Event::TaskFinished { task, verdict: verdict.clone() })?;
        Ok((self.report(Some(verdict), entry), RunState::Finished))
    }

    /// Adds the limit on a reply's tokens to the reason why a reply that was cut off could not be used.
    fn explain_cut_off(&self, verdict: TaskVerdict) -> TaskVerdict {
        let TaskVerdict::Unusable { stage, mut failure } = verdict else { return verdict };
        let pipeline = self.pipeline;
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
        let task = self.context.task.task;
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
            beam: std::mem::take(&mut self.beam),
            stages: std::mem::take(&mut self.stages),
            not_given: self.context.task.task.not_given.clone(),
            renaming: None,
            recalled: Vec::new(),
            usage: self.usage(),
            moved: self.fallbacks(),
        }
    }

    /// Requests that went from one table to another.
    fn fallbacks(&self) -> Vec<ModelFallback> {
        let moves = lock(&self.context.task.moves);
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
        let mut usage = lock(&self.context.task.usage).clone();
        for (model, copies) in self.context.task.copies.by_model() {
            usage.entry(model).or_default().copies = copies;
        }
        usage
    }
}

/// Stops the other tasks after a failure of the record: nothing that they do could be recorded.
fn stop_others_on_failure<T>(run: &RunContext<'_>, result: Result<T, Failure>) -> Result<T, Failure> {
    if let Err(failure) = &result {
        run.note(Err(failure.clone()));
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

/// The tasks of the suites under what the pipeline is given, in order. `folder` is the pipeline file's own: a suite that the
/// file names for its in-context example is read relative to it.
///
/// # Errors
/// Everything that is given and not there or withheld, `suite.duplicate-task` where two suites have one name,
/// `suite.example` where the example's suite cannot be used, and `suite.no-lead` where the lead task of a `fan_out` stage is
/// not among several tasks of a suite.
pub fn run_tasks(
    pipeline: &Pipeline,
    suites: &[Suite],
    folder: &Path,
) -> Result<Vec<RunTask>, Vec<Diagnostic>> {
    let mut tasks: Vec<RunTask> = Vec::new();
    let example = match pipeline.given.example_suite() {
        Some(path) => {
            let read = example(&folder.join(path), Texts::Required).map_err(|wrong| vec![*wrong])?;
            Some(under_other_names(pipeline, read)?)
        }
        None => None,
    };
    let pool = action_pool(pipeline, folder)?;
    let mut found: Vec<Diagnostic> =
        pipeline.stages.iter().flat_map(|stage| stage.definition().check_suites(suites)).collect();
    let suites = disguise_suites(pipeline, suites)?;
    for suite in &suites {
        for task in &suite.tasks {
            let name = format!("{}.{}", suite.name, task.stem);
            if tasks.iter().any(|t| t.name == name) {
                let message = format!("there are two tasks `{name}`");
                found.push(
                    Diagnostic::error("suite.duplicate-task", message)
                        .help("name each task once, and give suites different names in their suite.toml"),
                );
                continue;
            }
            let suite = &*suite.of_task(task);
            match task_view(suite, task, &pipeline.given, example.as_ref()) {
                Ok(mut view) => {
                    if pipeline.given.actions.is_some() {
                        let others = pool
                            .iter()
                            .filter(|other| !other.is_of(suite))
                            .flat_map(|o| o.actions.iter().cloned());
                        view.materials.actions.examples = Some(others.collect());
                    }
                    match reference(pipeline, suite, task) {
                        Ok(reference) => {
                            let renaming = renaming(suite, task, &reference);
                            let picture = suite.picture.clone();
                            let not_given = not_given(suite, task, &pipeline.given);
                            tasks.push(RunTask { name, view, reference, picture, renaming, not_given });
                        }
                        Err(wrong) => found.push(*wrong),
                    }
                }
                Err(wrong) => found.extend(wrong),
            }
        }
    }
    found.dedup();
    if found.is_empty() { Ok(tasks) } else { Err(found) }
}

/// Gives the suites the names that `[obfuscate]` asks for; without it they keep their own.
///
/// # Errors
/// `suite.disguise` for each suite that cannot be renamed.
pub fn disguise_suites(pipeline: &Pipeline, suites: &[Suite]) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let mut new = Vec::new();
    for suite in suites {
        match under_other_names(pipeline, suite.clone()) {
            Ok(suite) => new.push(suite),
            Err(wrong) => found.extend(wrong),
        }
    }
    if found.is_empty() { Ok(new) } else { Err(found) }
}

fn under_other_names(pipeline: &Pipeline, suite: Suite) -> Result<Suite, Vec<Diagnostic>> {
    match pipeline.disguise() {
        Some(options) => disguise_suite(&suite, &options),
        None => Ok(suite),
    }
}

/// The names that a task's documents have.
fn renaming(suite: &Suite, task: &SuiteTask, reference: &EnvironmentOpen) -> Option<Renaming> {
    let disguise = &suite.disguise.as_ref()?.names;
    let domains = suite.reference_domain.iter().chain(&reference.domain);
    let example = suite.example.as_ref().and_then(|example| example.problem.as_ref());
    let problems = task.reference_problem.iter().chain(&reference.problems).chain(example);
    Some(disguise.renaming_of(domains.map(String::as_str), problems.map(String::as_str)))
}

/// A suite whose actions may be shown as examples.
struct ExampleSuite {
    name: String,
    /// As its own PDDL calls it, in lower case; empty where there is none.
    domain: String,
    /// Its actions as its own PDDL has them.
    own: Vec<String>,
    actions: Vec<ActionExample>,
}

impl ExampleSuite {
    fn new(suite: &Suite, class: DescriptionClass) -> Self {
        let original = suite.original();
        Self {
            name: suite.name.clone(),
            domain: domain_name(original),
            own: actions_of(original),
            actions: action_examples(suite, class),
        }
    }

    /// True if its actions would show those of a suite: it is that suite or, under another name, has its
    /// domain's name or one of its actions.
    fn is_of(&self, suite: &Suite) -> bool {
        let suite = suite.original();
        let own = actions_of(suite);
        let shown = |action: &String| own.iter().any(|own| own.eq_ignore_ascii_case(action));
        self.name.eq_ignore_ascii_case(&suite.name)
            || (!self.domain.is_empty() && self.domain == domain_name(suite))
            || self.own.iter().any(shown)
    }
}

fn actions_of(suite: &Suite) -> Vec<String> {
    action_examples(suite, DescriptionClass::Base).into_iter().map(|example| example.pddl).collect()
}

/// In lower case; empty where there is none.
fn domain_name(suite: &Suite) -> String {
    let Some(text) = &suite.reference_domain else { return String::new() };
    let domain = parse_domain(text, SourceId(0)).value;
    domain.name.map(|name| name.key().to_owned()).unwrap_or_default()
}

/// The suites whose actions may be shown as examples, in the order of the file.
fn action_pool(pipeline: &Pipeline, folder: &Path) -> Result<Vec<ExampleSuite>, Vec<Diagnostic>> {
    let given = &pipeline.given;
    let Some(class) = given.actions else { return Ok(Vec::new()) };
    let mut pool = Vec::new();
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    for path in given.action_examples.iter().flat_map(|path| suites_below(&folder.join(path))) {
        // A suite that is named by itself and with others would be drawn from twice as often.
        if !taken.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            continue;
        }
        match example(&path, Texts::Optional) {
            Ok(suite) => match under_other_names(pipeline, suite) {
                Ok(suite) => pool.push(ExampleSuite::new(&suite, class)),
                Err(wrong) => found.extend(wrong),
            },
            Err(wrong) => found.push(*wrong),
        }
    }
    if found.is_empty() { Ok(pool) } else { Err(found) }
}

/// A suite that in-context examples come from. Examples of actions are PDDL with descriptions that can be made, so they need no texts.
fn example(path: &Path, texts: Texts) -> Result<Suite, Box<Diagnostic>> {
    let shown = path.display();
    let help = "`example` and `action_examples` of [given] name folders of suites with a domain.pddl, relative to the pipeline file; `action_examples` \
                also folders that hold such suites";
    let wrong = |why: String| Box::new(Diagnostic::error("suite.example", why).help(help));
    let loaded = load_suite_with(path, texts);
    let Some(suite) = loaded.suite else {
        let first = loaded.diagnostics.iter().find(|d| d.is_error());
        let why = first.map_or_else(String::new, |d| d.message.clone());
        return Err(wrong(format!("the in-context example's suite {shown} cannot be read: {why}")));
    };
    if let Some(part) = suite.withheld.first() {
        return Err(wrong(format!("suite {shown} withholds its {part}, and an in-context example shows it")));
    }
    if suite.reference_domain.is_none() {
        return Err(wrong(format!("the in-context example's suite {shown} has no domain.pddl")));
    }
    Ok(suite)
}

fn reference(
    pipeline: &Pipeline,
    suite: &Suite,
    task: &SuiteTask,
) -> Result<EnvironmentOpen, Box<Diagnostic>> {
    let problems = pipeline.environment.as_ref().map_or(1, |environment| environment.problems);
    Ok(EnvironmentOpen {
        suite: suite.name.clone(),
        task: task.stem.clone(),
        domain: suite.validation_domain.clone().or_else(|| suite.reference_domain.clone()),
        problem: task.reference_problem.clone(),
        problems: further_problems(suite, task, problems.saturating_sub(1) as usize)?,
        sentences: suite.sentences.clone(),
    })
}

impl RunReport {
    /// Restores the suites' own names in candidates, assessments and failures. Replies, conversations and
    /// paths are records and stay unchanged, as do tasks that were not obfuscated.
    pub fn undisguise(&mut self, tasks: &[RunTask]) {
        for report in &mut self.tasks {
            // A report that has its renaming is under the original names already.
            let task = tasks.iter().find(|task| task.name == report.task);
            if let Some(renaming) =
                task.and_then(|task| task.renaming.as_ref()).filter(|_| report.renaming.is_none())
            {
                undisguise(report, renaming);
                report.renaming = Some(renaming.clone());
            }
        }
    }
}

fn undisguise(report: &mut TaskReport, renaming: &Renaming) {
    let candidate = report.candidate.as_ref();
    let plans = candidate.and_then(|c| c.plan.as_ref()).and_then(|plan| serde_json::to_string(plan).ok());
    let documents = candidate.iter().flat_map(|c| [c.domain.as_deref(), c.problem.as_deref()]).flatten();
    let back = renaming.back(documents.chain(plans.as_deref()));
    report.recalled.clone_from(&back.recalled);
    if let Some(candidate) = &mut report.candidate {
        undisguise_candidate(candidate, &back);
    }
    for written in &mut report.written {
        for diagnostic in &mut written.diagnostics {
            diagnostic.message = back.pddl(&diagnostic.message);
            diagnostic.help.iter_mut().for_each(|help| *help = back.pddl(help));
        }
    }
    if let Some(verdict) = &mut report.verdict {
        match verdict {
            TaskVerdict::Rejected { message, .. }
            | TaskVerdict::Unsolvable { message, .. }
            | TaskVerdict::Undecided { message, .. } => *message = back.pddl(message),
            TaskVerdict::Failed { failure, .. } | TaskVerdict::Unusable { failure, .. } => {
                failure.message = back.pddl(&failure.message);
            }
            TaskVerdict::Accepted | TaskVerdict::Planned { .. } | TaskVerdict::Written { .. } => {}
        }
    }
    for failed in report.stages.iter_mut().flat_map(|stage| &mut stage.failed) {
        failed.failure.message = back.pddl(&failed.failure.message);
    }
}

fn undisguise_candidate(candidate: &mut Candidate, back: &Back) {
    for pddl in [&mut candidate.domain, &mut candidate.problem].into_iter().flatten() {
        *pddl = back.pddl(pddl);
    }
    candidate.texts.values_mut().for_each(|text| *text = back.text(text));
    candidate.thought.iter_mut().for_each(|thought| *thought = back.text(thought));
    in_strings(&mut candidate.plan, back);
    in_strings(&mut candidate.inference, back);
    in_strings(&mut candidate.edits, back);
    for assessment in candidate.assessments.values_mut() {
        // A critic's own conversation is a record too.
        let messages = std::mem::take(&mut assessment.messages);
        in_strings(assessment, back);
        assessment.messages = messages;
    }
}

/// A document with the names in all its strings and keys exchanged.
pub fn named_back<T: Serialize + DeserializeOwned>(mut document: T, back: &Back) -> T {
    in_strings(&mut document, back);
    document
}

fn in_strings<T: Serialize + DeserializeOwned>(document: &mut T, back: &Back) {
    // What has no JSON form has no strings that a report could hold.
    let Ok(mut value) = serde_json::to_value(&*document) else { return };
    exchange(&mut value, back);
    if let Ok(new) = serde_json::from_value(value) {
        *document = new;
    }
}

fn exchange(value: &mut Value, back: &Back) {
    match value {
        Value::String(text) => *text = back.pddl(text),
        Value::Array(items) => items.iter_mut().for_each(|item| exchange(item, back)),
        Value::Object(entries) => {
            let old = std::mem::take(entries);
            for (key, mut item) in old {
                exchange(&mut item, back);
                entries.insert(back.pddl(&key), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
