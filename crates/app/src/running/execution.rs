//! The execution of a pipeline over tasks: its services, its result, and explanations of accepted plans (`--explain-plan`).

use crate::calendar::record_now;
use crate::context::Context;
use crate::pipelines::prepare::Prepared;
use crate::running::manifest::stored_explainer;
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{Failure, FailureClass, Outcome, PlanOutcome};
use planforge_llm::{CallSite, CallWatch, DeferredReplies, Llm, LlmOptions, Mode, Observer, PendingRequest};
use planforge_model_api::batch::BatchReplies;
use planforge_pipeline::{CheckedPipeline, Progress, RunObserver, RunReport, RunState, RunTask, Services};
use planforge_planners::llm::{EXPLAINER, explain_request, explanation};
use planforge_record::{Journal, Lookup, Redactor, RunManifest, TaskVerdict};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The sources of replies that are not in the run's journal.
pub(crate) struct ReplySources {
    pub(crate) mode: Mode,
    pub(crate) lookups: Vec<Arc<dyn Lookup>>,
    /// Collected answers to deferred requests.
    pub(crate) answers: Option<Arc<BatchReplies>>,
    /// True if recorded failures are not retried, so that an interrupted run ends as it would have.
    pub(crate) failures_are_final: bool,
}

/// The mode of a run that takes its replies from cassettes, or records them for one.
pub(crate) const fn mode_of(replays: bool, records: bool) -> Mode {
    match (replays, records) {
        (true, _) => Mode::Replay,
        (false, true) => Mode::Record,
        (false, false) => Mode::Live,
    }
}

/// Puts the services of a run together.
///
/// # Errors
/// `llm.config`: values of a model's table make no sense together.
pub(crate) fn services(
    context: &Context,
    prepared: Prepared,
    redactor: Arc<Redactor>,
    sources: ReplySources,
    journal: Arc<dyn Journal>,
    seed: u64,
    execution: ExecutionSettings,
) -> Result<Services, Failure> {
    let flag = context.cancellation.watch();
    let cancelled: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || flag.load(Ordering::SeqCst));
    let machine = Arc::clone(&context.machine);
    let mut options = LlmOptions::new(Arc::clone(&journal));
    options.tables = prepared.model_tables;
    options.run_seed = seed;
    options.mode = sources.mode;
    options.cassettes.clone_from(&sources.lookups);
    options.deferred = sources.answers.map(|answers| answers as Arc<dyn DeferredReplies>);
    options.failures_are_final = sources.failures_are_final;
    options.redactor = redactor;
    options.cancelled = Arc::clone(&cancelled);
    options.watch = execution.watch;
    options.observer = execution
        .observer
        .clone()
        .map(|observer| -> Observer { Arc::new(move |event| observer(&Progress::Event(event))) });
    Ok(Services {
        instances: prepared.instances,
        llm: Arc::new(Llm::new(options)?),
        journal,
        sources: sources.lookups,
        mode: sources.mode,
        jobs: execution.jobs as usize,
        cancelled,
        observer: execution.observer,
        now: Arc::new(move || record_now(&*machine)),
    })
}

/// Settings of an execution that do not affect its result.
pub(crate) struct ExecutionSettings {
    pub(crate) jobs: u32,
    pub(crate) observer: Option<RunObserver>,
    pub(crate) watch: Option<CallWatch>,
}

/// The result of a run, with explained plans if requested.
pub(crate) struct RunOutcome {
    pub(crate) report: RunReport,
    pub(crate) explained_plans: ExplainedPlans,
    /// Pending requests.
    pub(crate) pending: Vec<PendingRequest>,
}

/// Runs or re-runs what a manifest describes.
pub(crate) fn execute(
    pipeline: &CheckedPipeline,
    manifest: &RunManifest,
    services: &Services,
    tasks: &[RunTask],
) -> Result<RunOutcome, Failure> {
    let mut report = planforge_pipeline::run(pipeline, tasks, services)?;
    let explained_plans = match stored_explainer(manifest) {
        Some(model) if report.state == RunState::Finished => {
            explain_plans(services, &model, &mut report, tasks)
        }
        _ => ExplainedPlans::new(),
    };
    Ok(RunOutcome { pending: services.llm.pending(), ..under_own_names(report, explained_plans, tasks) })
}

/// Translates the result of an obfuscated suite back to its own names; only models read the others.
fn under_own_names(
    mut report: RunReport,
    mut explained_plans: ExplainedPlans,
    tasks: &[RunTask],
) -> RunOutcome {
    for task in tasks {
        if let (Some(renaming), Some(Outcome::Ok(words))) =
            (&task.renaming, explained_plans.get_mut(&task.name))
        {
            *words = renaming.back([]).text(words);
        }
    }
    report.undisguise(tasks);
    RunOutcome { report, explained_plans, pending: Vec::new() }
}

/// Task name -> the plan in words, or why there is none.
pub(crate) type ExplainedPlans = BTreeMap<String, Outcome<String>>;

/// Requests an explanation of every accepted plan that has steps, in task order. The tokens count towards the
/// task. An interruption marks the report as interrupted, a deferred reply as parked, so that resuming the
/// run requests the rest.
pub(crate) fn explain_plans(
    services: &Services,
    model: &str,
    report: &mut RunReport,
    tasks: &[RunTask],
) -> ExplainedPlans {
    let host = Asking { services };
    let mut explained = ExplainedPlans::new();
    for (ended, task) in report.tasks.iter_mut().zip(tasks) {
        let plan = ended.candidate.as_ref().and_then(|c| c.plan.as_ref()).and_then(PlanOutcome::best);
        if let (Some(TaskVerdict::Accepted | TaskVerdict::Planned { .. }), Some(plan)) =
            (&ended.verdict, plan)
        {
            let site = CallSite {
                path: format!("{}/explain-plan", ended.task),
                call: 0,
                role: EXPLAINER.to_owned(),
            };
            let words: Result<String, Failure> = explain_request(&task.view, plan)
                .and_then(|request| Ok(services.llm.complete(model, request, &site, &host)?))
                .and_then(|replies| {
                    ended
                        .usage
                        .entry(model.to_owned())
                        .or_default()
                        .count(&replies.usage, replies.replies.len());
                    replies.replies.first().map_or_else(|| Ok(String::new()), explanation)
                });
            if words.as_ref().is_err_and(|failure| failure.is_deferred()) {
                report.state = RunState::Parked;
                continue;
            }
            if words.as_ref().is_err_and(|failure| failure.class == FailureClass::Cancelled) {
                report.state = RunState::Interrupted;
                break;
            }
            explained.insert(ended.task.clone(), words.into());
        }
    }
    explained
}

struct Asking<'a> {
    services: &'a Services,
}

impl Host for Asking<'_> {
    // A provider's log and progress have no place here: the run's record is closed.
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        (self.services.cancelled)()
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}
