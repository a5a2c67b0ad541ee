//! A run of a pipeline for a client: checked like `planforge run`, recorded in memory.

use crate::context::Context;
use crate::execution::{ExecutionSettings, ReplySources, execute, services};
use crate::exit::Exit;
use crate::model_choice::{model_table, overrides_of};
use crate::output::{ColourChoice, Output};
use crate::pipeline::{LoadedPipeline, check_pipeline, instantiate, require_immediate_answers};
use crate::tasks::named_tasks;
use planforge_contract::{Failure, FailureClass, JsonObject, PluginInfo};
use planforge_llm::Mode;
use planforge_mcp::{RunModel, RunRequest, RunWatch};
use planforge_pipeline::{Progress, RunObserver, RunReport, RunTask};
use planforge_record::{Event, MemoryJournal, RunManifest};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The provider that stands for the client's model.
const CLIENT: &str = "provider-client";

/// Runs a pipeline for a client.
///
/// # Errors
/// Everything wrong with the pipeline, the tasks, or the consent that it needs.
pub(super) fn run(
    context: &Context,
    request: &RunRequest<'_>,
    watch: Arc<dyn RunWatch>,
) -> Result<RunReport, Failure> {
    // Its own output collects what is wrong with this run.
    let context = Context { output: Output::new(ColourChoice::Never, true), ..context.clone() };
    start(&context, request, watch).map_err(|refused| match refused {
        Refused::Failure(failure) => *failure,
        Refused::Printed(exit) => sum_up(&context, exit),
    })
}

/// The reason why there is no report.
enum Refused {
    Failure(Box<Failure>),
    /// Already given to the output.
    Printed(Exit),
}

impl From<Exit> for Refused {
    fn from(exit: Exit) -> Self {
        Self::Printed(exit)
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

/// One failure of everything that was printed.
fn sum_up(context: &Context, exit: Exit) -> Failure {
    let (failures, diagnostics) = context.output.take_problems();
    let found =
        diagnostics.iter().map(|d| format!("{}: {} ({}:{}:{})", d.code, d.message, d.file, d.line, d.column));
    let mut lines: Vec<String> = failures.iter().map(ToString::to_string).chain(found).collect();
    if lines.is_empty() {
        lines.push(format!("the run ended with exit code {}", exit as u8));
    }
    let first = failures.into_iter().next();
    let code = first.as_ref().map_or("mcp.arguments", |failure| failure.code.as_str()).to_owned();
    let mut sum = Failure::new(FailureClass::Request, "mcp.arguments", lines.join("\n"));
    sum.code = code;
    sum.help = first.and_then(|failure| failure.help);
    sum
}

fn start(
    context: &Context,
    request: &RunRequest<'_>,
    watch: Arc<dyn RunWatch>,
) -> Result<RunReport, Refused> {
    let overrides = overrides(context, request)?;
    let checked = check_pipeline(context, &request.pipeline, &request.pipeline_name, &overrides)?;
    require_immediate_answers(context, &checked, "serve mcp")?;
    for path in named_paths(&checked) {
        (request.admit_path)(&path)?;
    }
    let stems: Vec<PathBuf> = request.tasks.iter().map(|stem| request.suite.join(stem)).collect();
    if request.tasks.iter().any(|stem| stem.contains(['/', '\\']) || stem.starts_with('.')) {
        let message = "a task is the stem of its files, such as `p03`";
        return Err(Failure::new(FailureClass::Request, "mcp.arguments", message).into());
    }
    let suites: &[PathBuf] = if stems.is_empty() { std::slice::from_ref(&request.suite) } else { &[] };
    let tasks: Vec<RunTask> =
        named_tasks(context, &checked, &stems, suites, &[])?.into_iter().map(|(task, _)| task).collect();
    let (mut prepared, redactor) = instantiate(context, &checked, Mode::Live)?;
    if let RunModel::Client(client) = &request.model {
        for (name, table) in &mut prepared.model_tables {
            if checked.pipeline.config.llm.get(name).is_some_and(|table| table.plugin == CLIENT) {
                table.provider = Some(Arc::clone(client));
            }
        }
    }
    let seed = request.seed.unwrap_or(checked.pipeline.config.seed);
    let manifest = RunManifest { seed, ..RunManifest::default() };
    let sources =
        ReplySources { mode: Mode::Live, lookups: Vec::new(), answers: None, failures_are_final: false };
    let journal = Arc::new(MemoryJournal::new(Arc::clone(&redactor)));
    let stop = Arc::clone(&watch);
    let execution = ExecutionSettings {
        jobs: request.jobs,
        observer: Some(observer(watch, tasks.len())),
        watch: None,
        cancelled: Some(Arc::new(move || stop.is_cancelled())),
    };
    let services = services(prepared, redactor, sources, journal, seed, execution)?;
    Ok(execute(&checked.pipeline, &manifest, &services, &tasks)?.report)
}

/// The changes of the pipeline file that put the client's model, or a named one, into its tables.
fn overrides(context: &Context, request: &RunRequest<'_>) -> Result<Vec<String>, Exit> {
    match &request.model {
        RunModel::OfFile => Ok(Vec::new()),
        RunModel::Named(name) => Ok(overrides_of(&model_table(context, name)?)),
        RunModel::Client(_) => {
            // A file that is not TOML is reported by the check.
            let file: toml::Table = request.pipeline.parse().unwrap_or_default();
            let tables = file.get("llm").and_then(toml::Value::as_table).into_iter().flatten();
            let changes = tables.flat_map(|(name, _)| {
                [format!("llm.{name}.use=\"{CLIENT}\""), format!("llm.{name}.model=\"client\"")]
            });
            Ok(changes.collect())
        }
    }
}

/// The plugins of a pipeline with their options.
fn plugin_options(checked: &LoadedPipeline) -> Vec<(&str, &JsonObject)> {
    let config = &checked.pipeline.config;
    let models = config.llm.values().map(|table| (table.plugin.as_str(), &table.settings));
    let stages = config.all_stages().filter_map(|stage| stage.plugin());
    let environment = config.environment.iter().map(|table| (table.plugin.as_str(), &table.options));
    models.chain(stages).chain(environment).collect()
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
    for (id, options) in plugin_options(checked) {
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

/// Tells the client which stage works, and how many tasks are finished.
fn observer(watch: Arc<dyn RunWatch>, tasks: usize) -> RunObserver {
    let finished = AtomicU64::new(0);
    Arc::new(move |progress| {
        let tell = |message: &str| watch.progress(finished.load(Ordering::Relaxed), tasks as u64, message);
        match progress {
            Progress::Event(Event::StageStarted { task, stage, .. }) => tell(&format!("{task}: {stage}")),
            Progress::Event(Event::TaskFinished { task, .. }) => {
                finished.fetch_add(1, Ordering::Relaxed);
                tell(&format!("{task} finished"));
            }
            Progress::Call { what, .. } => tell(what),
            _ => {}
        }
    })
}
