//! Runs of a pipeline over tasks: started, resumed, replayed, or estimated without sending a request.

use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::files::{read_text, refuse_part_of_run};
use crate::pipelines::loaded::{
    CLIENT, LoadedPipeline, check_pipeline, check_recorded, instantiate, require_immediate_answers,
};
use crate::pipelines::model_choice::{model_table, overrides_of};
use crate::pipelines::tasks::named_tasks;
use crate::running::changes::{check_resume, record_resume};
use crate::running::continuing::{Batch, ending_hint};
use crate::running::dry_run::DryRun;
use crate::running::execution::{ExecutionSettings, ReplySources, RunOutcome, execute, mode_of, services};
use crate::running::manifest::{stored_cassettes, stored_explainer, stored_tasks};
use crate::running::recorded::{NewRun, RecordedRun, open_cassettes, replay_run, restore_report};
use crate::status::{Status, of_report};
use planforge_contract::{Failure, JsonObject, Outcome, PluginInfo};
pub use planforge_evaluate::estimate::{Assumptions, Estimate};
use planforge_evaluate::results::CellKey;
pub use planforge_evaluate::results::TaskOutcome;
use planforge_llm::Mode;
pub use planforge_model_api::batch::Wave;
use planforge_pipeline::RunTask;
pub use planforge_pipeline::{BudgetReport, Cost, ModelFallback, RunReport, RunState, TaskReport, TaskUsage};
use planforge_record::{MemoryJournal, Redactor, RunFolder, RunManifest, TaskUse};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run of a pipeline on tasks.
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// The pipeline file.
    pub pipeline: PipelineSource,
    /// Stems of task files, such as `suites/parcels/p03`.
    pub tasks: Vec<PathBuf>,
    /// Suite folders: all their tasks.
    pub suites: Vec<PathBuf>,
    /// Folders whose knowledge.lp, p_example.lp and sentences.toml replace those of a suite.
    pub add_ons: Vec<PathBuf>,
    /// The model that answers.
    pub model: ModelChoice,
    /// Keys of the pipeline file that are changed, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// The run's seed, in the place of the file's.
    pub seed: Option<u64>,
    /// A cassette or run folder that all replies are taken from.
    pub replay: Option<PathBuf>,
    /// A cassette that the replies are written into.
    pub record: Option<PathBuf>,
    /// The model of the pipeline file that explains each validated plan.
    pub explainer: Option<String>,
    /// The place of the record.
    pub storage: RunStorage,
    /// Tasks and samples in parallel.
    pub jobs: u32,
}

/// A pipeline file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipelineSource {
    /// A file.
    File(PathBuf),
    /// A text; paths in it count from the folder of its name.
    Text {
        /// Path of the file, or its name.
        name: String,
        /// The text.
        text: String,
    },
}

impl Default for PipelineSource {
    fn default() -> Self {
        Self::File(PathBuf::new())
    }
}

/// The model that answers a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelChoice {
    /// The models of the pipeline file.
    #[default]
    OfFile,
    /// A name such as `openai:gpt-4o`, or a table of the user's configuration, in the place of `[llm.main]`.
    Named(String),
    /// The front's own model ([`Context::client_model`]), in the place of every table.
    Client,
}

/// Copies what a path of a pipeline file names to that path, or refuses it.
pub type AdmitPath = Arc<dyn Fn(&Path) -> Result<(), Failure> + Send + Sync>;

/// The place of a run's record.
#[derive(Clone)]
pub enum RunStorage {
    /// A new run folder below this folder.
    Folder(PathBuf),
    /// Memory: nothing is kept, and models have to answer at once.
    Memory {
        /// Name of the front, for messages.
        front: &'static str,
        /// Is asked about each file and folder that the pipeline names.
        admit_path: AdmitPath,
    },
}

impl Default for RunStorage {
    fn default() -> Self {
        Self::Folder(PathBuf::from(crate::runs::RUNS))
    }
}

impl fmt::Debug for RunStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path) => f.debug_tuple("Folder").field(path).finish(),
            Self::Memory { front, .. } => {
                f.debug_struct("Memory").field("front", front).finish_non_exhaustive()
            }
        }
    }
}

/// The continuation of an interrupted or waiting run. Recorded requests are not sent again.
#[derive(Debug, Clone, Default)]
pub struct ResumeRequest {
    /// The run folder.
    pub run: PathBuf,
    /// Keys of model tables that are changed, as `KEY=VALUE`; no reply may depend on them.
    pub set: Vec<String>,
    /// Files with replies to waiting requests. They are copied to the run's folder.
    pub answers: Vec<PathBuf>,
    /// Tasks and samples in parallel.
    pub jobs: u32,
}

/// A repetition of a recorded run without network or key.
#[derive(Debug, Clone, Default)]
pub struct ReplayRequest {
    /// The run folder.
    pub run: PathBuf,
    /// Tasks and samples in parallel.
    pub jobs: u32,
}

/// The result of a run. Its JSON form is the report, with `told` (explained plans) and `pending` where there are any.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// Verdicts, candidates, usage and failures of every task.
    pub report: RunReport,
    /// Task name -> the plan in words, or why there is none.
    pub explained_plans: BTreeMap<String, Outcome<String>>,
    /// Requests that wait for replies, if there are any.
    pub pending: Option<Wave>,
    /// The text of each task of the report, under the suite's own names.
    pub task_texts: Vec<String>,
    /// The run folder; `None` for a run in memory.
    pub folder: Option<PathBuf>,
    /// The folder for answers to waiting requests.
    pub answers: Option<PathBuf>,
    /// The command that gets further, after a cap, a failure of a model's server, or a planner's time limit.
    pub hint: Option<String>,
}

impl RunResult {
    /// 0 if every task was judged; otherwise what kept the first one from it. A negative verdict counts if
    /// `negative_counts`.
    pub fn status(&self, negative_counts: bool) -> Status {
        of_report(&self.report, negative_counts)
    }
}

impl Serialize for RunResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'r> {
            #[serde(flatten)]
            report: &'r RunReport,
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            told: &'r BTreeMap<String, Outcome<String>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            pending: Option<&'r Wave>,
        }
        let pending = self.pending.as_ref();
        Document { report: &self.report, told: &self.explained_plans, pending }.serialize(serializer)
    }
}

/// A request that was checked: nothing was sent or written.
struct Checked {
    pipeline: LoadedPipeline,
    tasks: Vec<(RunTask, TaskUse)>,
    overrides: Vec<String>,
}

fn check(context: &Context, request: &RunRequest) -> Result<Checked, Error> {
    let (name, text) = match &request.pipeline {
        PipelineSource::File(path) => {
            let path = context.path(path);
            (path.display().to_string(), read_text(&path)?)
        }
        PipelineSource::Text { name, text } => (name.clone(), text.clone()),
    };
    let overrides = overrides(context, request, &text)?;
    let pipeline = check_pipeline(context, &text, &name, &overrides)?;
    check_explainer(&pipeline, request.explainer.as_deref())?;
    if let RunStorage::Memory { front, admit_path } = &request.storage {
        admit(&pipeline, front, admit_path)?;
    }
    let paths = |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().map(|path| context.path(path)).collect() };
    let (tasks, suites, add_ons) = (paths(&request.tasks), paths(&request.suites), paths(&request.add_ons));
    let tasks = named_tasks(context, &pipeline, &tasks, &suites, &add_ons)?;
    Ok(Checked { pipeline, tasks, overrides })
}

/// All changes of the pipeline file, those of the model first. A seed is a change, so that the record contains it.
fn overrides(context: &Context, request: &RunRequest, text: &str) -> Result<Vec<String>, Error> {
    let mut all = match &request.model {
        ModelChoice::OfFile => Vec::new(),
        ModelChoice::Named(name) => overrides_of(&model_table(context, name)?),
        ModelChoice::Client => client_overrides(text, &context.client_model_name),
    };
    all.extend(request.set.iter().cloned());
    all.extend(request.seed.map(|seed| format!("seed={seed}")));
    Ok(all)
}

/// Rejects unknown model names before any request is sent.
fn check_explainer(checked: &LoadedPipeline, name: Option<&str>) -> Result<(), Error> {
    let models = &checked.pipeline.config.llm;
    let Some(name) = name.filter(|name| !models.contains_key(*name)) else { return Ok(()) };
    let known: Vec<String> = models.keys().map(|known| format!("`{known}`")).collect();
    let message = format!("--explain-plan: there is no model `{name}` in the pipeline file");
    Err(Error::usage(message, Some(&format!("its models are {}", known.join(", ")))))
}

/// Runs a pipeline on tasks.
///
/// # Errors
/// Everything wrong with the pipeline, the tasks, or the consent that it needs; a record that cannot be written. What happens to a
/// single task is in its verdict.
pub fn run(context: &Context, request: &RunRequest) -> Result<RunResult, Error> {
    let Checked { pipeline: checked, tasks, overrides } = check(context, request)?;
    let runs = match &request.storage {
        RunStorage::Folder(runs) => context.path(runs),
        RunStorage::Memory { .. } => return run_in_memory(context, &checked, request, tasks),
    };
    if let Some(cassette) = &request.record {
        refuse_part_of_run(&context.path(cassette))?;
    }
    let new = NewRun {
        overrides: &overrides,
        explainer: request.explainer.as_deref(),
        runs: &runs,
        jobs: request.jobs,
        mode: mode_of(request.replay.is_some(), request.record.is_some()),
        cassettes: &cassettes(context, request),
    };
    let (ended, run, redactor) = new.run(context, &checked, &tasks)?;
    let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
    if let Some(cassette) = &request.record {
        run.export_cassette(&context.path(cassette), &redactor)?;
    }
    run.save_report(&ended.report, &redactor)?;
    let batch = Batch::collect_answers(context, run.folder.path(), &[], &redactor)?;
    finish(ended, &tasks, &run, (&batch, &redactor))
}

/// Resumes a run.
///
/// # Errors
/// As of [`run`]; changes that recorded replies depend on; answers that cannot be used.
pub fn resume(context: &Context, request: &ResumeRequest) -> Result<RunResult, Error> {
    let folder = &context.path(&request.run);
    let Resumed { checked, tasks, cassettes, .. } = resumed(context, request)?;
    let mode = mode_of(!cassettes.is_empty(), false);
    let (prepared, redactor) = instantiate(context, &checked, mode)?;
    for cassette in &cassettes {
        context.note(Notice::RepliesFrom(cassette.clone()));
    }
    // Before anything is written: cassettes and answers that cannot be used leave the run as it is.
    let lookups = open_cassettes(context, &cassettes, &redactor)?;
    let answers: Vec<PathBuf> = request.answers.iter().map(|path| context.path(path)).collect();
    let batch = Batch::collect_answers(context, folder, &answers, &redactor)?;
    let mut opened = RunFolder::resume(folder, Arc::clone(&redactor))?;
    record_resume(context, &mut opened, &request.set)?;
    for warning in opened.warnings() {
        context.warn(warning.message.clone());
    }
    let run = RecordedRun {
        context,
        checked: &checked,
        folder: Arc::new(opened),
        jobs: request.jobs,
        title: String::new(),
    };
    let sources = ReplySources { mode, lookups, answers: Some(batch.answers()), failures_are_final: false };
    let ended = run.execute(prepared, Arc::clone(&redactor), sources, &tasks)?;
    run.save_report(&ended.report, &redactor)?;
    finish(ended, &tasks, &run, (&batch, &redactor))
}

/// A recorded run that is to go on.
struct Resumed {
    checked: LoadedPipeline,
    tasks: Vec<RunTask>,
    cassettes: Vec<PathBuf>,
    explainer: Option<String>,
}

fn resumed(context: &Context, request: &ResumeRequest) -> Result<Resumed, Error> {
    // Read once without secrets to learn the pipeline, then again with the redactor that its secrets give.
    let manifest = RunFolder::open(&context.path(&request.run), Arc::default())?.manifest().clone();
    check_resume(&request.set)?;
    check_client(context, &manifest.overrides)?;
    let checked = check_recorded(context, &manifest, &request.set)?;
    let tasks = stored_tasks(&manifest)?;
    let (cassettes, explainer) = (stored_cassettes(&manifest), stored_explainer(&manifest));
    Ok(Resumed { checked, tasks, cassettes, explainer })
}

/// Repeats a recorded run. Changes nothing on disk, except that a report.json that differs from the recorded one is replaced.
///
/// # Errors
/// The folder is not a run, or its record does not hold what was asked.
pub fn replay(context: &Context, request: &ReplayRequest) -> Result<RunResult, Error> {
    let folder = Arc::new(RunFolder::open(&context.path(&request.run), Arc::default())?);
    let (ended, tasks) = replay_run(context, &folder, request.jobs, None)?;
    restore_report(context, &folder, &ended.report)?;
    Ok(result(ended, &tasks))
}

/// Estimates what a run would send and cost, without sending or writing anything.
///
/// # Errors
/// As of [`run`].
pub fn estimate(
    context: &Context,
    request: &RunRequest,
    assumptions: Assumptions,
) -> Result<Estimate, Error> {
    let Checked { pipeline, tasks, .. } = check(context, request)?;
    let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
    let cassettes = cassettes(context, request);
    let explainer = request.explainer.as_deref();
    estimate_tasks(context, (&pipeline, request.jobs), &tasks, (explainer, None), &cassettes, assumptions)
}

/// Estimates what the rest of a run would send and cost, as [`estimate`].
///
/// # Errors
/// As of [`resume`].
pub fn estimate_rest(
    context: &Context,
    request: &ResumeRequest,
    assumptions: Assumptions,
) -> Result<Estimate, Error> {
    let Resumed { checked, tasks, cassettes, explainer } = resumed(context, request)?;
    let folder = context.path(&request.run);
    let of = (explainer.as_deref(), Some(folder.as_path()));
    estimate_tasks(context, (&checked, request.jobs), &tasks, of, &cassettes, assumptions)
}

fn estimate_tasks(
    context: &Context,
    (checked, jobs): (&LoadedPipeline, u32),
    tasks: &[RunTask],
    (explainer, folder): (Option<&str>, Option<&Path>),
    cassettes: &[PathBuf],
    assumptions: Assumptions,
) -> Result<Estimate, Error> {
    let pipeline = Path::new(&checked.pipeline.name).file_stem();
    let key = CellKey {
        suite: String::new(),
        pipeline: pipeline.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(),
        model: String::new(),
        seed: checked.pipeline.config.seed,
    };
    let dry = DryRun { context, checked, tasks, explainer, jobs, title: String::new() };
    let facts = dry.facts(&key, folder, cassettes)?;
    Ok(Estimate::new(&facts, assumptions))
}

/// The cassette that is searched for replies. A recording that is there already is completed, not paid for again.
fn cassettes(context: &Context, request: &RunRequest) -> Vec<PathBuf> {
    let recorded = request.record.iter().map(|path| context.path(path)).filter(|path| path.exists());
    request.replay.iter().map(|path| context.path(path)).chain(recorded).take(1).collect()
}

/// The result of a run in a run folder: requests that wait are written to batch files.
fn finish(
    ended: RunOutcome,
    tasks: &[RunTask],
    run: &RecordedRun<'_>,
    (batch, redactor): (&Batch, &Redactor),
) -> Result<RunResult, Error> {
    // Where the person stopped it, what else would wait is not known yet.
    let pending = match ended.report.state {
        RunState::Interrupted => None,
        RunState::Finished | RunState::Parked => {
            Some(batch.write_requests(run.context, &ended.pending, redactor)?)
        }
    };
    let pending = pending.filter(|wave| wave.pending > 0);
    let is_whole = ended.report.state == RunState::Finished && pending.is_none();
    let hint = is_whole.then(|| ending_hint(&ended.report, &run.checked.pipeline.config, &run.folder));
    Ok(RunResult {
        pending,
        folder: Some(run.folder.path().to_owned()),
        answers: Some(batch.answers_folder()),
        hint: hint.flatten(),
        ..result(ended, tasks)
    })
}

/// The result of a run without a folder.
pub(crate) fn result(ended: RunOutcome, tasks: &[RunTask]) -> RunResult {
    let own = |task: &RunTask| match &task.renaming {
        Some(renaming) => renaming.back([]).text(&task.view.task_text),
        None => task.view.task_text.clone(),
    };
    RunResult {
        report: ended.report,
        explained_plans: ended.explained_plans,
        pending: None,
        task_texts: tasks.iter().map(own).collect(),
        folder: None,
        answers: None,
        hint: None,
    }
}

/// Runs a checked pipeline with its record in memory.
fn run_in_memory(
    context: &Context,
    checked: &LoadedPipeline,
    request: &RunRequest,
    tasks: Vec<(RunTask, TaskUse)>,
) -> Result<RunResult, Error> {
    let tasks: Vec<RunTask> = tasks.into_iter().map(|(task, _)| task).collect();
    let (prepared, redactor) = instantiate(context, checked, Mode::Live)?;
    let seed = checked.pipeline.config.seed;
    let manifest = RunManifest { seed, ..RunManifest::default() };
    let sources =
        ReplySources { mode: Mode::Live, lookups: Vec::new(), answers: None, failures_are_final: false };
    let journal = Arc::new(MemoryJournal::new(Arc::clone(&redactor)));
    let models = prepared.model_tables.iter().map(|(name, table)| (name, &table.settings));
    let progress = context.start_run("", tasks.len(), None, models);
    let execution = ExecutionSettings {
        jobs: request.jobs,
        observer: Some(progress.observer()),
        watch: Some(progress.watch()),
    };
    let services = services(context, prepared, redactor, sources, journal, seed, execution)?;
    Ok(result(execute(&checked.pipeline, &manifest, &services, &tasks)?, &tasks))
}

/// The changes that put the front's model into every model table. A file that is not TOML is reported by the check.
fn client_overrides(pipeline: &str, model: &str) -> Vec<String> {
    let file: toml::Table = pipeline.parse().unwrap_or_default();
    let tables = file.get("llm").and_then(toml::Value::as_table).into_iter().flatten();
    let changes = tables.flat_map(|(name, _)| {
        let model = toml::Value::from(model);
        [format!("llm.{name}.use=\"{CLIENT}\""), format!("llm.{name}.model={model}")]
    });
    changes.collect()
}

/// Refuses a model of the front other than the one that started the run: its replies would be recorded under that one's name.
fn check_client(context: &Context, overrides: &[String]) -> Result<(), Error> {
    let name = toml::Value::from(context.client_model_name.as_str()).to_string();
    let started_with = |pair: &[String]| {
        let (table, plugin) = pair[0].strip_prefix("llm.")?.split_once(".use=")?;
        let model = pair[1].strip_prefix("llm.")?.strip_prefix(table)?.strip_prefix(".model=")?;
        (plugin == format!("\"{CLIENT}\"")).then(|| model.to_owned())
    };
    let other = overrides.windows(2).filter_map(started_with).find(|model| *model != name);
    match other.filter(|_| context.client_model.is_some()) {
        Some(model) => {
            let message = format!("the run was started with the model {model}, not with {name}");
            Err(Error::usage(message, Some("resume it with the same model, or start a new run")))
        }
        None => Ok(()),
    }
}

/// Refuses models that answer later, and paths that the front does not admit.
fn admit(checked: &LoadedPipeline, front: &str, admit_path: &AdmitPath) -> Result<(), Error> {
    require_immediate_answers(checked, front)?;
    for path in named_paths(checked) {
        admit_path(&path)?;
    }
    Ok(())
}

/// Files, folders and suites that a pipeline names.
fn named_paths(checked: &LoadedPipeline) -> Vec<PathBuf> {
    let config = &checked.pipeline.config;
    let given = config
        .given
        .example_suite()
        .into_iter()
        .chain(config.given.action_examples.iter().map(String::as_str));
    let mut paths: Vec<String> = given.map(str::to_owned).collect();
    let models = config.llm.values().map(|table| (table.plugin.as_str(), &table.settings));
    let stages = config.all_stages().filter_map(|stage| stage.plugin());
    let environment = config.environment.iter().map(|table| (table.plugin.as_str(), &table.options));
    for (id, options) in models.chain(stages).chain(environment) {
        if let Ok(info) = checked.registry.info(id) {
            paths.extend(option_paths(&info, options));
        }
    }
    let folder: &Path = checked.pipeline.folder();
    paths.into_iter().map(|path| folder.join(path)).collect()
}

fn option_paths(info: &PluginInfo, options: &JsonObject) -> Vec<String> {
    let names = info.files.iter().chain(&info.folders).chain(&info.suites);
    let values = names.filter_map(|name| options.get(name)).flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        value => vec![value],
    });
    values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}
