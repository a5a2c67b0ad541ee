//! Runs a checked pipeline over tasks: a deterministic re-execution over the journal, whether live, resumed or replayed.

pub(crate) mod beam;
pub(crate) mod context;
mod copies;
mod cost;
pub(crate) mod feedback;
pub(crate) mod host;
pub(crate) mod path;
mod planner;
mod pool;
pub(crate) mod recorder;
pub(crate) mod report;
pub(crate) mod series;
pub(crate) mod services;
pub(crate) mod step;
pub(crate) mod sync;
pub(crate) mod task;
mod undo;
pub(crate) mod verdict;

pub use cost::{Cost, dollars};
pub use report::{
    BudgetReport, FailedSample, ModelFallback, RunReport, RunState, StageReport, TaskReport, TaskUsage,
    Translation,
};
pub use services::{
    Instances, Progress, RunObserver, RunTask, Services, StageInstance, disguise_suites, run_tasks,
};
pub use undo::named_back;

use crate::config::Pipeline;
use crate::front::{CheckedPipeline, price_of};
use crate::stages::Stage;
use context::Context;
use planforge_contract::{Failure, Price};
use planforge_llm::Mode;
use planforge_record::Event;
use pool::Pool;
use recorder::Recorder;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use sync::lock;

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
    let context = Context {
        pipeline: config,
        services,
        recorder,
        pool: Pool::new(jobs),
        deadline: config.limits.call_deadline_s.map(Duration::from_secs_f64),
        broken: Mutex::new(None),
    };
    let mode = match services.mode {
        Mode::Replay => "replay",
        _ if context.recorder.is_resumed() => "resume",
        _ => "live",
    };
    context.recorder.session(&Event::SessionStarted { at: (services.now)(), mode: mode.to_owned() })?;
    let of_stage = |(at, stage): (usize, &Stage)| stage.definition().run_tasks(&context, at, tasks);
    let ended = config.stages.iter().enumerate().find_map(of_stage);
    let ended =
        ended.unwrap_or_else(|| context.pool.drive(tasks, |task| task::Driver::new(&context, task).whole()));
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
    Ok(RunReport { schema: 1, state, tasks: reports, prices: prices(config) })
}

/// The prices that a pipeline file states, by `[llm.NAME]` table.
fn prices(pipeline: &Pipeline) -> BTreeMap<String, Price> {
    let stated = pipeline.llm.iter().map(|(name, table)| (name.clone(), price_of(table)));
    stated.filter(|(_, price)| *price != Price::default()).collect()
}
