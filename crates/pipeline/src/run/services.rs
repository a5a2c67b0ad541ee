//! What a run needs from outside, and the tasks it works on.

use crate::config::Pipeline;
use crate::suite::{Suite, task_view};
use planforge_contract::api::{Environment, Planner, Translator, Verifier};
use planforge_contract::{EnvironmentOpen, Event, PluginInfo, TaskView};
use planforge_diagnostics::Diagnostic;
use planforge_llm::{Llm, Mode};
use planforge_record::{Journal, Lookup};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A plugin instance of a stage.
#[derive(Clone)]
pub enum StageInstance {
    /// Of a translate stage.
    Translator(Arc<dyn Translator>),
    /// Of a verify stage.
    Verifier(Arc<dyn Verifier>),
    /// Of a plan stage.
    Planner(Arc<dyn Planner>),
}

/// The instances of a pipeline, one for each stage that uses a plugin.
#[derive(Clone, Default)]
pub struct Instances {
    /// By the stage's label.
    pub stages: BTreeMap<String, (PluginInfo, StageInstance)>,
    /// The environment, where the pipeline has one.
    pub environment: Option<(PluginInfo, Arc<dyn Environment>)>,
}

/// Told of what happens while a run goes on. Called from many threads.
#[derive(Debug)]
pub enum Progress<'a> {
    /// An event that the runner recorded, or found recorded by an earlier session.
    Event(&'a Event),
    /// A plugin says how far a call is.
    Call {
        /// The call's sample path.
        path: &'a str,
        /// Steps done.
        done: u64,
        /// Steps in all; 0 where that is not known.
        total: u64,
        /// What is being done.
        what: &'a str,
    },
}

/// Told of a run's progress.
pub type RunObserver = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// What a run needs from outside.
#[derive(Clone)]
pub struct Services {
    /// The plugin instances.
    pub instances: Instances,
    /// The language models, over the same journal.
    pub llm: Arc<Llm>,
    /// Where the run is written, and what it goes on from.
    pub journal: Arc<dyn Journal>,
    /// Further records to look into: the run that is replayed, cassettes. Not used in [`Mode::Live`].
    pub sources: Vec<Arc<dyn Lookup>>,
    /// What happens where the record does not hold an outcome.
    pub mode: Mode,
    /// How many plugin calls run at a time; 0 means what the pipeline says, else 1.
    pub jobs: usize,
    /// Whether the run is being interrupted.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Told of progress.
    pub observer: Option<RunObserver>,
    /// The time of day as RFC 3339 in UTC, for the record alone.
    pub now: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A task to work on: all that a run needs of its suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTask {
    /// Its name in events and sample paths: `SUITE.STEM`.
    pub name: String,
    /// What translators may see.
    pub view: TaskView,
    /// The reference, for the environment alone.
    pub reference: EnvironmentOpen,
}

/// The tasks of the suites under what the pipeline is given, in order.
///
/// # Errors
/// Everything that is given and not there or withheld, and `suite.duplicate-task` where two suites have one name.
pub fn run_tasks(pipeline: &Pipeline, suites: &[Suite]) -> Result<Vec<RunTask>, Vec<Diagnostic>> {
    let mut tasks: Vec<RunTask> = Vec::new();
    let mut found: Vec<Diagnostic> = Vec::new();
    for suite in suites {
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
            match task_view(suite, task, &pipeline.given) {
                Ok(view) => tasks.push(RunTask { name, view, reference: reference(suite, task) }),
                Err(wrong) => found.extend(wrong),
            }
        }
    }
    found.dedup();
    if found.is_empty() { Ok(tasks) } else { Err(found) }
}

fn reference(suite: &Suite, task: &crate::suite::SuiteTask) -> EnvironmentOpen {
    EnvironmentOpen {
        suite: suite.name.clone(),
        task: task.stem.clone(),
        domain: suite.validation_domain.clone().or_else(|| suite.reference_domain.clone()),
        problem: task.reference_problem.clone(),
        ..EnvironmentOpen::default()
    }
}
