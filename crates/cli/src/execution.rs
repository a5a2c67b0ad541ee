//! The execution of a pipeline over tasks: its services, and its result.

use crate::calendar::now;
use crate::explain_plan::{self, ExplainedPlans};
use crate::interrupt::interrupt_flag;
use crate::manifest::stored_explainer;
use crate::prepare::Prepared;
use planforge_contract::{Failure, Outcome};
use planforge_llm::{CallWatch, DeferredReplies, Llm, LlmOptions, Mode, PendingRequest};
use planforge_model_api::batch::BatchReplies;
use planforge_pipeline::{CheckedPipeline, RunObserver, RunReport, RunState, RunTask, Services};
use planforge_record::{Journal, Lookup, Redactor, RunManifest};
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
    prepared: Prepared,
    redactor: Arc<Redactor>,
    sources: ReplySources,
    journal: Arc<dyn Journal>,
    seed: u64,
    execution: ExecutionSettings,
) -> Result<Services, Failure> {
    let cancelled = execution.cancelled.unwrap_or_else(|| {
        let flag = interrupt_flag();
        Arc::new(move || flag.load(Ordering::SeqCst))
    });
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
    Ok(Services {
        instances: prepared.instances,
        llm: Arc::new(Llm::new(options)?),
        journal,
        sources: sources.lookups,
        mode: sources.mode,
        jobs: execution.jobs as usize,
        cancelled,
        observer: execution.observer,
        now: Arc::new(now),
    })
}

/// Settings of an execution that do not affect its result.
pub(crate) struct ExecutionSettings {
    pub(crate) jobs: u32,
    pub(crate) observer: Option<RunObserver>,
    pub(crate) watch: Option<CallWatch>,
    /// True once the run should stop; `None`: once it is interrupted.
    pub(crate) cancelled: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
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
            explain_plan::explain_plans(services, &model, &mut report, tasks)
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
