//! Pipelines with a simulated model, for the studies that run them.

use super::{StudyFiles, check_suite_names};
use crate::context::Context;
use crate::exit::Exit;
use crate::pipeline::{LoadedPipeline, check_pipeline, instantiate};
use crate::prepare::Prepared;
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
pub(crate) const FINAL: &str = "final";

/// A pipeline with a simulated model, ready to run.
pub(crate) struct Strategy {
    pub(super) name: String,
    checked: LoadedPipeline,
    prepared: Prepared,
    redactor: Arc<Redactor>,
    pub(crate) tasks: Vec<RunTask>,
}

/// A run's report and its record.
pub(crate) type Executed = (RunReport, Arc<dyn Journal>);

impl Strategy {
    /// Runs the pipeline on one task, with the record in memory.
    pub(crate) fn execute(&self, task: &RunTask, seed: u64, watch: &Watch) -> Result<Executed, Failure> {
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
pub(crate) fn suites(context: &Context, files: &StudyFiles, tasks: usize) -> Result<Vec<Suite>, Exit> {
    let mut suites = Vec::new();
    let mut bad = false;
    for path in files.suites.iter().flat_map(|path| suite_folders(path)) {
        let loaded = load_suite(&path);
        match loaded.suite {
            // Warnings of suites that are not wanted, or all over again, would only hide the figures.
            Some(mut suite) => {
                suite.tasks.truncate(tasks);
                suites.push(suite);
            }
            None => {
                context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
                bad = true;
            }
        }
    }
    let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    check_suite_names(context, "--only", &files.only, &known)?;
    suites.retain(|suite| files.only.is_empty() || files.only.contains(&suite.name));
    if bad || suites.is_empty() {
        let missing = Diagnostic::error("study.no-suite", "there is no suite to study")
            .help("a suite is a folder with domain.pddl and problems beside it");
        context.output.diagnostics(&[missing], &SourceMap::default());
        return Err(Exit::Input);
    }
    Ok(suites)
}

/// The suite in a folder, or the suites in its folders, by name.
pub(crate) fn suite_folders(path: &Path) -> Vec<PathBuf> {
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
pub(crate) fn strategy(
    context: &Context,
    path: &Path,
    overrides: &[String],
    suites: &[Suite],
) -> Result<Strategy, Exit> {
    let file = path.display().to_string();
    let text = context.read_text(path)?;
    let mut checked = check_pipeline(context, &text, &file, overrides)?;
    for table in checked.pipeline.config.llm.values() {
        let info = checked.registry.info(&table.plugin).map_err(|failure| context.print_failure(&failure))?;
        if !info.capabilities.simulated {
            let message = format!("`{}` in {file} asks a real model", table.plugin);
            let help = "use `provider-noisy-oracle` in every [llm] table";
            return Err(unfit(context, "study.real-model", message, help));
        }
    }
    give_suites(context, &mut checked, suites)?;
    let pipeline = &checked.pipeline;
    if !pipeline.config.stages.iter().any(|stage| stage.label() == FINAL) {
        let message = format!("{file} has no stage with the label `{FINAL}`");
        let help = "end it with a verify stage of `verifier-ew` with that label";
        return Err(unfit(context, "study.no-final", message, help));
    }
    let tasks =
        run_tasks(&checked.pipeline.config, suites, checked.pipeline.folder()).map_err(|diagnostics| {
            context.output.diagnostics(&diagnostics, &SourceMap::default());
            Exit::Input
        })?;
    let (prepared, redactor) = instantiate(context, &checked, Mode::Live)?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Strategy { name, checked, prepared, redactor, tasks })
}

/// Gives the suites of the study to simulated models that list none.
pub(crate) fn give_suites(
    context: &Context,
    checked: &mut LoadedPipeline,
    suites: &[Suite],
) -> Result<(), Exit> {
    let LoadedPipeline { registry, pipeline, .. } = checked;
    for table in pipeline.config.llm.values_mut() {
        let info = registry.info(&table.plugin).map_err(|failure| context.print_failure(&failure))?;
        if info.capabilities.simulated {
            for option in &info.suites {
                table.settings.entry(option.clone()).or_insert_with(|| folders_of(suites));
            }
        }
    }
    Ok(())
}

/// Refuses a valid pipeline that does not fit the study.
fn unfit(context: &Context, code: &str, message: String, help: &str) -> Exit {
    context.print_failure(&Failure::new(FailureClass::Request, code, message).help(help));
    Exit::Pipeline
}

/// The absolute folders of the suites, independent of the pipeline file's location.
fn folders_of(suites: &[Suite]) -> Value {
    let absolute = |s: &Suite| s.folder.canonicalize().unwrap_or_else(|_| s.folder.clone());
    Value::Array(suites.iter().map(|s| absolute(s).display().to_string().into()).collect())
}
