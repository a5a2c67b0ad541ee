//! The manifest of a run folder. It holds everything that a replay needs: the pipeline's text, the overrides, the seed and the tasks.
//! So replay and resume read no suite.

use crate::calendar::{calendar_time, record_time};
use crate::context::Context;
use crate::pipelines::loaded::LoadedPipeline;
use crate::pipelines::prepare::Prepared;
use jiff::Timestamp;
use planforge_contract::{Failure, FailureClass};
use planforge_pipeline::RunTask;
use planforge_record::{ConfigText, RunManifest, TaskUse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The key of the tasks in `run.json`.
const TASKS: &str = "tasks";

/// The key of the explaining model in `run.json`.
const EXPLAIN_PLAN: &str = "explain_plan";

/// The key of the cassettes that a replayed run takes its replies from in `run.json`.
const REPLAY: &str = "replay";

/// The key of the programs and libraries that a run starts in `run.json`.
const STARTS: &str = "starts";

/// Builds the manifest of a run. `replayed`: the cassettes of a replay.
pub(crate) fn manifest(
    context: &Context,
    checked: &LoadedPipeline,
    prepared: &Prepared,
    overrides: &[String],
    explainer: Option<&str>,
    replayed: &[PathBuf],
    tasks: &[(RunTask, TaskUse)],
) -> Result<RunManifest, Failure> {
    let pipeline = &checked.pipeline;
    let time = calendar_time(context.machine.now())?;
    let stored =
        serde_json::to_value(tasks.iter().map(|(task, _)| task).collect::<Vec<_>>()).map_err(|e| {
            Failure::new(FailureClass::System, "record.io", format!("the tasks have no JSON form: {e}"))
        })?;
    let mut settings =
        BTreeMap::from([(TASKS.to_owned(), stored), (EXPLAIN_PLAN.to_owned(), explainer.into())]);
    let simulated: Vec<&String> =
        prepared.model_tables.iter().filter(|(_, table)| table.simulated).map(|(name, _)| name).collect();
    if !simulated.is_empty() {
        settings.insert(planforge_report::SIMULATED.to_owned(), serde_json::json!(simulated));
    }
    if !checked.listed_prices.is_empty() {
        settings.insert(planforge_report::PRICES.to_owned(), serde_json::json!(checked.listed_prices));
    }
    if !replayed.is_empty() {
        let paths = replayed.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        settings.insert(REPLAY.to_owned(), paths.map(|path| path.display().to_string()).collect());
    }
    if !prepared.programs.is_empty() {
        settings.insert(STARTS.to_owned(), serde_json::json!(prepared.programs));
    }
    Ok(RunManifest {
        schema: 1,
        id: run_id(Path::new(&pipeline.name), time),
        planforge: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: record_time(time),
        config: ConfigText::new(pipeline.name.clone(), pipeline.source.clone()),
        overrides: overrides.to_vec(),
        plugins: prepared.plugins.clone(),
        models: prepared
            .model_tables
            .iter()
            .map(|(name, table)| (name.clone(), table.settings.model.clone()))
            .collect(),
        seed: pipeline.config.seed,
        tasks: tasks.iter().map(|(_, used)| used.clone()).collect(),
        settings,
    })
}

/// The model table that explains plans, if the run has one.
pub(crate) fn stored_explainer(manifest: &RunManifest) -> Option<String> {
    manifest.settings.get(EXPLAIN_PLAN).and_then(|v| v.as_str()).map(str::to_owned)
}

/// The cassettes that a replayed run takes its replies from.
pub(crate) fn stored_cassettes(manifest: &RunManifest) -> Vec<PathBuf> {
    let paths = manifest.settings.get(REPLAY).and_then(|v| v.as_array()).into_iter().flatten();
    paths.filter_map(|path| path.as_str().map(PathBuf::from)).collect()
}

/// The tasks that a run folder keeps.
pub(crate) fn stored_tasks(manifest: &RunManifest) -> Result<Vec<RunTask>, Failure> {
    let corrupt = |message: String| Failure::new(FailureClass::System, "record.corrupt", message);
    let value = manifest.settings.get(TASKS).ok_or_else(|| corrupt("run.json holds no tasks".to_owned()))?;
    serde_json::from_value(value.clone()).map_err(|e| corrupt(format!("run.json: the tasks: {e}")))
}

/// A name for a run folder that sorts by time: `20261121-101500.123-llm-p`.
fn run_id(pipeline: &Path, time: Timestamp) -> String {
    let stem = pipeline.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let word: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
    format!("{}-{word}", time.strftime("%Y%m%d-%H%M%S.%3f"))
}
