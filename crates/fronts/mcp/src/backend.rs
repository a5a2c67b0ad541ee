//! The parts that the tools need and that only the command line has: plugins, their codes, pipelines and runs.

use planforge_contract::api::{Host, Provider};
use planforge_contract::{Failure, JsonObject, PlanOutcome, PlanRequest};
use planforge_diagnostics::CodeInfo;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pipeline::RunReport;
use planforge_planning::ResourceLimits;
use planforge_plugin_common::judging::reports::EwReport;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A domain and a problem.
pub type TaskModel<'t> = (&'t Domain, &'t Problem);

/// A pipeline file that comes with planforge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedPipeline {
    /// Name of the file without its ending.
    pub name: &'static str,
    pub text: &'static str,
}

/// The model that answers a run.
#[derive(Clone)]
pub enum RunModel {
    /// The models of the pipeline file.
    OfFile,
    /// A value of `--model`, in the place of `[llm.main]`.
    Named(String),
    /// The client's model, in the place of every table.
    Client(Arc<dyn Provider>),
}

/// A run of a pipeline on tasks of one suite.
pub struct RunRequest<'r> {
    /// Path of the pipeline file, or its name.
    pub pipeline_name: String,
    /// The pipeline file.
    pub pipeline: String,
    /// Folder of the suite: a copy for this run.
    pub suite: PathBuf,
    /// Stems of the tasks; empty for all.
    pub tasks: Vec<String>,
    pub model: RunModel,
    pub seed: Option<u64>,
    /// Requests and calls in parallel.
    pub jobs: u32,
    /// Copies what a path of the pipeline file names to that path, or refuses it.
    pub admit_path: &'r dyn Fn(&Path) -> Result<(), Failure>,
}

/// The caller of a run: cancellation and progress.
pub trait RunWatch: Send + Sync {
    /// True once the run should stop.
    fn is_cancelled(&self) -> bool;
    /// Receives the number of finished tasks and a line about the current work.
    fn progress(&self, finished: u64, tasks: u64, message: &str);
}

/// Plugins and tables that the tools use.
pub trait Backend: Send + Sync {
    /// The diagnostic codes of all crates.
    fn codes(&self) -> Vec<&'static [CodeInfo]>;

    /// Searches a plan with the classical planner and these options.
    ///
    /// # Errors
    /// A planner that cannot be created, or that broke.
    fn plan(
        &self,
        options: JsonObject,
        host: &dyn Host,
        request: &PlanRequest,
    ) -> Result<PlanOutcome, Failure>;

    /// Compares two models of a task by exploration walks.
    ///
    /// # Errors
    /// A construct that walks do not execute, or a limit.
    fn compare_walks(
        &self,
        reference: TaskModel<'_>,
        candidate: TaskModel<'_>,
        seed: u64,
        limits: &mut dyn ResourceLimits,
    ) -> Result<EwReport, Failure>;

    /// The pipeline files that come with planforge.
    fn pipelines(&self) -> &'static [ShippedPipeline];

    /// Runs a pipeline. Nothing is written outside of a temporary folder.
    ///
    /// # Errors
    /// Everything wrong with the pipeline, the tasks, or the consent that it needs.
    fn run(&self, request: &RunRequest<'_>, watch: Arc<dyn RunWatch>) -> Result<RunReport, Failure>;
}
