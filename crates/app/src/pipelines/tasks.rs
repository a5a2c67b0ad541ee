//! The tasks of a run, read from suites.

use crate::context::Context;
use crate::error::Error;
use crate::pipelines::loaded::{LoadedPipeline, describing_environment};
use crate::status::Status;
use planforge_contract::api::NoHost;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pipeline::{
    RunTask, Stage, Suite, apply_add_ons, describe_tasks, disguise_suites, load_suite_with, load_task_with,
    needs_description, run_tasks,
};
use planforge_record::{TaskUse, sha256_hex};
use std::path::PathBuf;

/// Reads the suites and tasks that a request names.
///
/// # Errors
/// Everything wrong with them.
pub(crate) fn named_tasks(
    context: &Context,
    checked: &LoadedPipeline,
    tasks: &[PathBuf],
    suites: &[PathBuf],
    add_ons: &[PathBuf],
) -> Result<Vec<(RunTask, TaskUse)>, Error> {
    if tasks.is_empty() && suites.is_empty() {
        let help = "name one with --task DIR/STEM, or all of a suite with --suite DIR";
        return Err(Error::usage("no task is named", Some(help)));
    }
    let texts = checked.pipeline.config.given.texts();
    let loaded = tasks
        .iter()
        .map(|t| load_task_with(t, texts))
        .chain(suites.iter().map(|s| load_suite_with(s, texts)));
    let mut found = Vec::new();
    let mut wrong = Vec::new();
    for loaded in loaded {
        match loaded.suite {
            Some(suite) => {
                context.findings(&loaded.diagnostics, &loaded.sources);
                found.push(suite);
            }
            None => wrong.push(Error::findings(Status::Input, loaded.diagnostics, loaded.sources)),
        }
    }
    if let Some(error) = Error::join(wrong) {
        return Err(error);
    }
    add_on(context, add_ons, &mut found)?;
    tasks_of(context, checked, found)
}

/// Puts add-ons over suites.
///
/// # Errors
/// Everything wrong with them.
pub(crate) fn add_on(context: &Context, folders: &[PathBuf], suites: &mut [Suite]) -> Result<(), Error> {
    let mut sources = SourceMap::default();
    let found = apply_add_ons(folders, suites, &mut sources);
    if found.iter().any(Diagnostic::is_error) {
        return Err(Error::findings(Status::Input, found, sources));
    }
    context.findings(&found, &sources);
    Ok(())
}

/// The tasks of suites as the pipeline may see them, with their entries for `run.json`. For a suite without
/// PDDL, the pipeline's environment describes interface and objects.
pub(crate) fn tasks_of(
    context: &Context,
    checked: &LoadedPipeline,
    mut suites: Vec<Suite>,
) -> Result<Vec<(RunTask, TaskUse)>, Error> {
    warn_without_example(context, checked, &suites);
    let given = &checked.pipeline.config.given;
    if needs_description(&suites, given)
        && let Some(environment) = describing_environment(context, checked)?
    {
        // Nothing is recorded yet, and an interrupt ends the process.
        describe_tasks(&mut suites, given, environment.as_ref(), &NoHost)?;
    }
    let suites = disguise_suites(&checked.pipeline.config, &suites)
        .map_err(|found| Error::findings(Status::Input, found, SourceMap::default()))?;
    let uses: Vec<TaskUse> = suites
        .iter()
        .flat_map(|suite| {
            suite.tasks.iter().map(|task| TaskUse {
                name: format!("{}.{}", suite.name, task.stem),
                suite: suite.folder.display().to_string(),
                task: task.stem.clone(),
                sha256: suite.digest(task),
                add_on: suite.add_on.clone(),
            })
        })
        .collect();
    match run_tasks(&checked.pipeline.config, &suites, checked.pipeline.folder()) {
        Ok(tasks) => Ok(tasks.into_iter().zip(uses).map(with_example).collect()),
        Err(found) => Err(Error::findings(Status::Input, found, SourceMap::default())),
    }
}

/// Warns if a stage would show the suite's own example, and a suite has none: the stage asks without one, and a
/// result of LLM+P would be one of zero-shot translation.
fn warn_without_example(context: &Context, checked: &LoadedPipeline, suites: &[Suite]) {
    let config = &checked.pipeline.config;
    let shows = |stage: &Stage| {
        let (Stage::Translate(_), Some((id, options))) = (stage, stage.plugin()) else { return false };
        // Unless the option says otherwise, an example is shown if there is one.
        let info = checked.registry.info(id);
        info.is_ok_and(|info| info.options_schema["properties"].get("example").is_some())
            && options.get("example").is_none()
    };
    if !config.given.gives_own_example() || !config.all_stages().any(shows) {
        return;
    }
    for suite in suites.iter().filter(|suite| suite.example.is_none()) {
        if suite.materials.contains_key("example.text") {
            continue;
        }
        let message = format!(
            "suite `{}` has no p_example.nl and p_example.pddl: requests have no in-context example (zero-shot)",
            suite.name
        );
        let help = "add the two files, name a suite that has them (`[given] example`), or set `example = false` in the stage";
        let warning = Diagnostic::warning("suite.zero-shot", message).help(help);
        context.findings(&[warning], &SourceMap::default());
    }
}

/// Includes in-context examples, actions, predicates and further problems of the suite in the digest that
/// identifies a task.
fn with_example((task, mut used): (RunTask, TaskUse)) -> (RunTask, TaskUse) {
    let in_words = ["actions", "predicates.declared"];
    let covered = |name: &str| name.starts_with("example.") || in_words.contains(&name);
    let materials = task.view.materials.to_texts();
    let example: Vec<_> = materials.iter().filter(|(name, _)| covered(name)).collect();
    if !example.is_empty() {
        // Pairs of texts always have a JSON form.
        let text = serde_json::to_string(&(&used.sha256, example)).unwrap_or_default();
        used.sha256 = sha256_hex(text.as_bytes());
    }
    if !task.reference.problems.is_empty() {
        let text = serde_json::to_string(&(&used.sha256, &task.reference.problems)).unwrap_or_default();
        used.sha256 = sha256_hex(text.as_bytes());
    }
    (task, used)
}
