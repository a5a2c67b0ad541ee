//! Pipelines with a simulated model, for the studies that run them.

use super::check_suite_names;
use crate::context::Context;
use crate::error::Error;
use crate::files::read_text;
use crate::pipelines::loaded::{LoadedPipeline, check_pipeline, instantiate};
use crate::pipelines::prepare::Prepared;
use crate::status::Status;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::study::Watch;
use planforge_llm::{Llm, LlmOptions, Mode};
use planforge_pipeline::{RunReport, RunTask, Services, Suite, load_suite, run_tasks};
use planforge_record::{Journal, MemoryJournal, Redactor};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The stage that judges what a strategy returned.
pub(super) const FINAL: &str = "final";

/// A pipeline with a simulated model, ready to run.
pub(super) struct Strategy {
    pub(super) name: String,
    checked: LoadedPipeline,
    prepared: Prepared,
    redactor: Arc<Redactor>,
    pub(super) tasks: Vec<RunTask>,
}

/// A run's report and its record.
pub(super) type Executed = (RunReport, Arc<dyn Journal>);

impl Strategy {
    /// Runs the pipeline on one task, with the record in memory.
    pub(super) fn execute(&self, task: &RunTask, seed: u64, watch: &Watch) -> Result<Executed, Failure> {
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new(Arc::clone(&self.redactor)));
        let flag = watch.flag();
        let cancelled: Arc<dyn Fn() -> bool + Send + Sync> =
            Arc::new(move || flag.load(std::sync::atomic::Ordering::SeqCst));
        let mut options = LlmOptions::new(Arc::clone(&journal));
        options.tables.clone_from(&self.prepared.model_tables);
        options.run_seed = seed;
        options.redactor = Arc::clone(&self.redactor);
        options.cancelled = Arc::clone(&cancelled);
        let services = Services {
            instances: self.prepared.instances.clone(),
            llm: Arc::new(Llm::new(options)?),
            journal: Arc::clone(&journal),
            sources: Vec::new(),
            mode: Mode::Live,
            jobs: 1,
            cancelled,
            observer: None,
            now: Arc::new(String::new),
        };
        let mut pipeline = self.checked.pipeline.clone();
        pipeline.config.seed = seed;
        let report = planforge_pipeline::run(&pipeline, std::slice::from_ref(task), &services)?;
        Ok((report, journal))
    }
}

/// The suites with their first tasks.
pub(super) fn suites(
    context: &Context,
    (paths, only): (&[PathBuf], &[String]),
    tasks: usize,
) -> Result<Vec<Suite>, Error> {
    let mut suites = Vec::new();
    let mut wrong = Vec::new();
    for path in paths.iter().flat_map(|path| suite_folders(&context.path(path))) {
        let loaded = load_suite(&path);
        match loaded.suite {
            // Warnings of suites that are not wanted, or all over again, would only hide the figures.
            Some(mut suite) => {
                suite.tasks.truncate(tasks);
                suites.push(suite);
            }
            None => wrong.push(Error::findings(Status::Input, loaded.diagnostics, loaded.sources)),
        }
    }
    let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    check_suite_names("--only", only, &known)?;
    suites.retain(|suite| only.is_empty() || only.contains(&suite.name));
    if !wrong.is_empty() || suites.is_empty() {
        let missing = Diagnostic::error("study.no-suite", "there is no suite to study")
            .help("a suite is a folder with domain.pddl and problems beside it");
        wrong.push(Error::findings(Status::Input, vec![missing], SourceMap::default()));
    }
    Error::join(wrong).map_or(Ok(suites), Err)
}

/// The suite in a folder, or the suites in its folders, by name.
pub(super) fn suite_folders(path: &Path) -> Vec<PathBuf> {
    if path.join("domain.pddl").is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).map(|list| list.flatten().map(|e| e.path()).collect());
    let mut folders: Vec<PathBuf> = entries.unwrap_or_default();
    folders.retain(|folder| folder.join("domain.pddl").is_file());
    folders.sort();
    folders
}

/// Reads, checks and prepares a pipeline.
pub(super) fn strategy(
    context: &Context,
    path: &Path,
    overrides: &[String],
    suites: &[Suite],
) -> Result<Strategy, Error> {
    let file = path.display().to_string();
    let text = read_text(path)?;
    let mut checked = check_pipeline(context, &text, &file, overrides)?;
    for table in checked.pipeline.config.llm.values() {
        let info = checked.registry.info(&table.plugin)?;
        if !info.capabilities.simulated {
            let message = format!("`{}` in {file} asks a real model", table.plugin);
            let help = "use `provider-noisy-oracle` in every [llm] table";
            return Err(unfit("study.real-model", message, help));
        }
    }
    give_suites(&mut checked, suites)?;
    let pipeline = &checked.pipeline;
    if !pipeline.config.stages.iter().any(|stage| stage.label() == FINAL) {
        let message = format!("{file} has no stage with the label `{FINAL}`");
        let help = "end it with a verify stage of `verifier-ew` with that label";
        return Err(unfit("study.no-final", message, help));
    }
    let tasks = run_tasks(&checked.pipeline.config, suites, checked.pipeline.folder())
        .map_err(|found| Error::findings(Status::Input, found, SourceMap::default()))?;
    let (prepared, redactor) = instantiate(context, &checked, Mode::Live)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Strategy { name, checked, prepared, redactor, tasks })
}

/// Gives the suites of the study to simulated models that list none.
pub(super) fn give_suites(checked: &mut LoadedPipeline, suites: &[Suite]) -> Result<(), Error> {
    let LoadedPipeline { registry, pipeline, .. } = checked;
    for table in pipeline.config.llm.values_mut() {
        let info = registry.info(&table.plugin)?;
        if info.capabilities.simulated {
            for option in &info.suites {
                table.settings.entry(option.clone()).or_insert_with(|| folders_of(suites));
            }
        }
    }
    Ok(())
}

/// Refuses a valid pipeline that does not fit the study.
fn unfit(code: &str, message: String, help: &str) -> Error {
    let failure = Failure::new(FailureClass::Request, code, message).help(help);
    Error::from(failure).with_status(Status::Pipeline)
}

/// The absolute folders of the suites, independent of the pipeline file's location.
fn folders_of(suites: &[Suite]) -> Value {
    let absolute = |s: &Suite| s.folder.canonicalize().unwrap_or_else(|_| s.folder.clone());
    Value::Array(suites.iter().map(|s| absolute(s).display().to_string().into()).collect())
}
