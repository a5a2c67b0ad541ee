//! One run from the outside: plugins, pipeline, tasks, models and record put together.
//!
//! Everything that a replay needs is in the run folder: the pipeline's text, the overrides, the seed and the tasks as they
//! were read. So replay and resume read no suite.

use crate::bundled::BUNDLED;
use crate::catalogue::OfRegistry;
use crate::commands::Context;
use crate::commands::run::Execution;
use crate::exit::{Exit, of_failure};
use crate::inputs::read_text;
use crate::prepare::{Preparation, Prepared, prepare};
use planforge_batch::Brought;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceMap;
use planforge_llm::{Answers, Llm, LlmOptions, Mode};
use planforge_pipeline::{CheckedPipeline, RunTask, Services};
use planforge_plugin_host::{Registry, Settings, WorkerSettings};
use planforge_record::{ConfigText, Journal, Lookup, MIN_SECRET_BYTES, Redactor, RunManifest, TaskUse};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Where `run.json` keeps the tasks as they were read.
const TASKS: &str = "tasks";
/// Where `run.json` keeps who tells plans in plain language.
const EXPLAIN_PLAN: &str = "explain_plan";

/// A pipeline without mistakes, and the plugins that it was checked against.
pub(crate) struct Checked {
    pub(crate) registry: Registry,
    pub(crate) pipeline: CheckedPipeline,
}

/// Finds the plugins. Files on the search path that are no plugins are named, and do no harm.
pub(crate) fn registry(context: &Context) -> Registry {
    let worker = std::env::current_exe().ok().map(WorkerSettings::new);
    let describe_cache = crate::environment::cache_folder().map(|cache| cache.join("planforge/plugins"));
    let settings = Settings { worker, describe_cache, ..Settings::default() };
    let registry = Registry::new(BUNDLED, &context.search_path, settings);
    for stray in registry.strays() {
        if let Err(failure) = &stray.info {
            context.output.note(&format!("warning: {failure}"));
        }
    }
    registry
}

/// Prints a failure and gives its exit code.
pub(crate) fn broke(context: &Context, failure: &Failure) -> Exit {
    context.output.note(&format!("error: {failure}"));
    if let Some(help) = &failure.help {
        context.output.note(&format!("help: {help}"));
    }
    of_failure(failure)
}

/// Reads a document that an earlier command left; what is wrong with it is printed.
pub(crate) fn document<T: DeserializeOwned>(context: &Context, path: &Path) -> Result<T, Exit> {
    let text = read_text(path).map_err(|diagnostic| {
        let name = path.display().to_string();
        context.output.diagnostics(&[*diagnostic], &SourceMap::single(name, ""));
        Exit::Input
    })?;
    serde_json::from_str(&text).map_err(|e| {
        let message = format!("{}: {e}", path.display());
        broke(context, &Failure::new(FailureClass::System, "record.corrupt", message))
    })
}

/// Checks a pipeline text; its mistakes are printed.
pub(crate) fn check(
    context: &Context,
    text: &str,
    name: &str,
    overrides: &[String],
) -> Result<Checked, Exit> {
    let registry = registry(context);
    let checked = planforge_pipeline::check(text, name, &OfRegistry(&registry), overrides);
    context.output.diagnostics(&checked.diagnostics, &checked.sources);
    match checked.pipeline {
        Some(pipeline) => Ok(Checked { registry, pipeline }),
        None => Err(Exit::Pipeline),
    }
}

/// Says so where a command cannot go on with answers that come later, before anything is run.
pub(crate) fn answers_at_once(context: &Context, checked: &Checked, command: &str) -> Result<(), Exit> {
    for (name, table) in &checked.pipeline.config.llm {
        let info = checked.registry.info(&table.plugin).map_err(|failure| broke(context, &failure))?;
        if info.capabilities.deferred {
            let message = format!(
                "[llm.{name}]: `{}` answers later, and `{command}` needs its answers at once",
                info.id
            );
            let failure = Failure::new(FailureClass::Request, "cli.deferred", message)
                .help("name a provider that answers at once, such as `provider-openai`; `planforge run` and `planforge evaluate` wait for answers");
            broke(context, &failure);
            return Err(Exit::Pipeline);
        }
    }
    Ok(())
}

/// Makes the instances of a pipeline, and the redactor of their secrets. Replay makes no provider and needs no key.
pub(crate) fn instantiate(
    context: &Context,
    checked: &Checked,
    mode: Mode,
) -> Result<(Prepared, Arc<Redactor>), Exit> {
    let folder = checked.pipeline.folder();
    let with = Preparation { registry: &checked.registry, folder, providers: mode != Mode::Replay };
    let prepared = prepare(&checked.pipeline.config, &with).map_err(|failures| {
        let exits = failures.iter().map(|failure| broke(context, failure));
        exits.max().unwrap_or(Exit::Plugin)
    })?;
    let redactor = Redactor::new(&prepared.secrets);
    if redactor.too_short() > 0 {
        context.output.note(&format!(
            "warning: {} secret value(s) have less than {MIN_SECRET_BYTES} bytes: they cannot be told from ordinary text \
             and are not redacted",
            redactor.too_short()
        ));
    }
    Ok((prepared, Arc::new(redactor)))
}

/// The pipeline's environment alone, for a suite without PDDL whose interface it has to tell; the run makes its own. None where it
/// knows no more than the PDDL of the suite.
pub(crate) fn environment(
    context: &Context,
    checked: &Checked,
) -> Result<Option<Arc<dyn planforge_contract::api::Environment>>, Exit> {
    let only = planforge_pipeline::Pipeline {
        llm: BTreeMap::new(),
        stages: Vec::new(),
        ..checked.pipeline.config.clone()
    };
    let with =
        Preparation { registry: &checked.registry, folder: checked.pipeline.folder(), providers: false };
    let prepared = prepare(&only, &with).map_err(|failures| {
        let exits = failures.iter().map(|failure| broke(context, failure));
        exits.max().unwrap_or(Exit::Plugin)
    })?;
    let more = |info: &planforge_contract::PluginInfo| !info.capabilities.reference_model;
    Ok(prepared.instances.environment.filter(|(info, _)| more(info)).map(|(_, environment)| environment))
}

/// What goes into `run.json`.
pub(crate) fn manifest(
    checked: &Checked,
    prepared: &Prepared,
    overrides: &[String],
    explainer: Option<&str>,
    tasks: &[(RunTask, TaskUse)],
) -> Result<RunManifest, Failure> {
    let pipeline = &checked.pipeline;
    let stored =
        serde_json::to_value(tasks.iter().map(|(task, _)| task).collect::<Vec<_>>()).map_err(|e| {
            Failure::new(FailureClass::System, "record.io", format!("the tasks have no JSON form: {e}"))
        })?;
    let mut settings =
        BTreeMap::from([(TASKS.to_owned(), stored), (EXPLAIN_PLAN.to_owned(), explainer.into())]);
    let simulated: Vec<&String> =
        prepared.roles.iter().filter(|(_, role)| role.simulated).map(|(name, _)| name).collect();
    if !simulated.is_empty() {
        settings.insert(planforge_report::SIMULATED.to_owned(), serde_json::json!(simulated));
    }
    Ok(RunManifest {
        schema: 1,
        id: run_id(Path::new(&pipeline.name)),
        planforge: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: now(),
        config: ConfigText::new(pipeline.name.clone(), pipeline.source.clone()),
        overrides: overrides.to_vec(),
        plugins: prepared.plugins.clone(),
        models: prepared.roles.iter().map(|(name, role)| (name.clone(), role.config.model.clone())).collect(),
        seed: pipeline.config.seed,
        tasks: tasks.iter().map(|(_, used)| used.clone()).collect(),
        settings,
    })
}

/// The `[llm.NAME]` table that tells plans in plain language, where the run was started with one.
pub(crate) fn stored_explainer(manifest: &RunManifest) -> Option<String> {
    manifest.settings.get(EXPLAIN_PLAN).and_then(|v| v.as_str()).map(str::to_owned)
}

/// The tasks that a run folder keeps.
pub(crate) fn stored_tasks(manifest: &RunManifest) -> Result<Vec<RunTask>, Failure> {
    let corrupt = |message: String| Failure::new(FailureClass::System, "record.corrupt", message);
    let value = manifest.settings.get(TASKS).ok_or_else(|| corrupt("run.json holds no tasks".to_owned()))?;
    serde_json::from_value(value.clone()).map_err(|e| corrupt(format!("run.json: the tasks: {e}")))
}

/// Set by Ctrl-C: the run stops asking, finishes its record and says how to go on. A second Ctrl-C ends the process. There is
/// one flag, so that every run of an evaluation hears of it.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        let handler = move || {
            if set.swap(true, Ordering::SeqCst) {
                #[allow(
                    clippy::exit,
                    reason = "the person asked twice; the journal is complete at any moment"
                )]
                std::process::exit(i32::from(Exit::Interrupted as u8));
            }
        };
        // Fails only where a handler is set already; then that one stays in charge.
        drop(ctrlc::set_handler(handler));
        flag
    });
    Arc::clone(flag)
}

/// How a run answers what its journal does not hold, and what else it looks into.
pub(crate) struct Sources {
    pub(crate) mode: Mode,
    pub(crate) lookups: Vec<Arc<dyn Lookup>>,
    /// What was brought for questions that a provider put off.
    pub(crate) answers: Option<Arc<Brought>>,
    /// What failed before stays failed: a run that was cut off comes to what it would have come to.
    pub(crate) failures_stand: bool,
}

/// Puts the services of a run together.
///
/// # Errors
/// `llm.config`: values of a model's table make no sense together.
pub(crate) fn services(
    prepared: Prepared,
    redactor: Arc<Redactor>,
    sources: Sources,
    journal: Arc<dyn Journal>,
    seed: u64,
    execution: Execution,
) -> Result<Services, Failure> {
    let flag = interrupt_flag();
    let cancelled: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || flag.load(Ordering::SeqCst));
    let mut options = LlmOptions::new(Arc::clone(&journal));
    options.roles = prepared.roles;
    options.run_seed = seed;
    options.mode = sources.mode;
    options.cassettes.clone_from(&sources.lookups);
    options.answers = sources.answers.map(|answers| answers as Arc<dyn Answers>);
    options.failures_stand = sources.failures_stand;
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

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A name for a run folder that sorts by time: `20261121-101500.123-llm-p`.
fn run_id(pipeline: &Path) -> String {
    let stem = pipeline.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let word: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
    format!("{}-{word}", jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S.%3f"))
}
