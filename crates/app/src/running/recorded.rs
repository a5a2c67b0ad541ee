//! A run with its run folder: started, resumed, replayed, exported.

use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::files::{refuse_part_of_run, unwritable, write};
use crate::pipelines::loaded::{LoadedPipeline, check_recorded, instantiate};
use crate::pipelines::prepare::Prepared;
use crate::running::changes::LimitWatch;
use crate::running::execution::{ExecutionSettings, ReplySources, RunOutcome, execute, services};
use crate::running::manifest::{manifest, stored_tasks};
use planforge_contract::{Failure, FailureClass};
use planforge_llm::Mode;
use planforge_pipeline::{RunReport, RunState, RunTask, TaskReport};
use planforge_record::{
    Cassette, CassetteHeader, Journal, Lookup, MAX_RECORD_BYTES, MemoryJournal, RecordError, Redactor,
    RunFolder, RunManifest, TaskUse, export_cassette, read_regular, sha256_hex,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run that begins.
pub(crate) struct NewRun<'a> {
    pub(crate) overrides: &'a [String],
    /// The model that explains plans in plain language.
    pub(crate) explainer: Option<&'a str>,
    /// Folder for run folders.
    pub(crate) runs: &'a Path,
    pub(crate) jobs: u32,
    pub(crate) mode: Mode,
    /// Cassettes that are searched for replies.
    pub(crate) cassettes: &'a [PathBuf],
}

impl NewRun<'_> {
    /// Runs a checked pipeline on tasks in a new run folder.
    pub(crate) fn run<'c>(
        &self,
        context: &'c Context,
        checked: &'c LoadedPipeline,
        tasks: &[(RunTask, TaskUse)],
    ) -> Result<(RunOutcome, RecordedRun<'c>, Arc<Redactor>), Error> {
        let (prepared, redactor) = instantiate(context, checked, self.mode)?;
        let lookups = open_cassettes(context, self.cassettes, &redactor)?;
        let replayed = if self.mode == Mode::Replay { self.cassettes } else { &[] };
        let manifest =
            manifest(context, checked, &prepared, self.overrides, self.explainer, replayed, tasks)?;
        let folder = create_run_folder(self.runs, manifest, &redactor)?;
        let run =
            RecordedRun { context, checked, folder: Arc::new(folder), jobs: self.jobs, title: String::new() };
        let tasks: Vec<RunTask> = tasks.iter().map(|(task, _)| task.clone()).collect();
        let sources = ReplySources { mode: self.mode, lookups, answers: None, failures_are_final: false };
        let ended = run.execute(prepared, Arc::clone(&redactor), sources, &tasks)?;
        Ok((ended, run, redactor))
    }
}

/// Creates the run folder. If several runs start in the same millisecond, the later ones get a number.
fn create_run_folder(
    runs: &Path,
    manifest: RunManifest,
    redactor: &Arc<Redactor>,
) -> Result<RunFolder, RecordError> {
    let id = manifest.id.clone();
    let mut number = 1;
    loop {
        let id = if number == 1 { id.clone() } else { format!("{id}-{number}") };
        let made = RunFolder::create(runs, RunManifest { id, ..manifest.clone() }, Arc::clone(redactor));
        match made {
            Err(error) if error.code == "record.exists" && number < 1000 => number += 1,
            made => return made,
        }
    }
}

/// A run under way: where it is written, and with how many jobs.
pub(crate) struct RecordedRun<'a> {
    pub(crate) context: &'a Context,
    pub(crate) checked: &'a LoadedPipeline,
    pub(crate) folder: Arc<RunFolder>,
    pub(crate) jobs: u32,
    /// The title of the progress bar; empty for a single run.
    pub(crate) title: String,
}

impl RecordedRun<'_> {
    /// Runs the tasks to their end, or to where the person stops it.
    pub(crate) fn execute(
        &self,
        prepared: Prepared,
        redactor: Arc<Redactor>,
        sources: ReplySources,
        tasks: &[RunTask],
    ) -> Result<RunOutcome, Error> {
        // The report of an earlier session is out of date from here on.
        let report = self.folder.report_path();
        if let Err(error) = std::fs::remove_file(&report)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(unwritable(&report, &error));
        }
        let models = prepared.model_tables.iter().map(|(name, table)| (name, &table.settings));
        let progress = self.context.start_run(&self.title, tasks.len(), Some(self.folder.path()), models);
        let secrets = Arc::clone(&redactor);
        let journal: Arc<dyn Journal> = Arc::clone(&self.folder) as Arc<dyn Journal>;
        let manifest = self.folder.manifest();
        let execution = ExecutionSettings {
            jobs: self.jobs,
            observer: Some(progress.observer()),
            watch: Some(progress.watch()),
        };
        let limits = prepared.model_tables.iter().map(|(name, table)| (name.clone(), table.settings.clone()));
        let limits = limits.collect();
        let ended = services(self.context, prepared, redactor, sources, journal, manifest.seed, execution)
            .and_then(|services| {
                let _watch = LimitWatch::new(Arc::clone(&self.folder), Arc::clone(&services.llm), limits);
                execute(&self.checked.pipeline, manifest, &services, tasks)
            })
            .and_then(|ended| Ok(RunOutcome { report: without_secrets(ended.report, &secrets)?, ..ended }));
        drop(progress);
        ended.map_err(|failure| {
            let error = Error::from(failure);
            // A cell of an evaluation is resumed with the evaluation.
            if !self.title.is_empty() {
                return error;
            }
            let path = self.folder.path().display();
            error.hint(format!("once that is mended, go on with `planforge run --resume {path}`"))
        })
    }

    /// Writes the report of a finished run beside its record. A resumed run deletes it first, so an existing
    /// report is always current.
    pub(crate) fn save_report(&self, report: &RunReport, redactor: &Redactor) -> Result<(), Error> {
        if report.state != RunState::Finished {
            return Ok(());
        }
        let path = self.folder.report_path();
        let text = serde_json::to_vec_pretty(report).map_err(|e| unwritable(&path, &e))?;
        let text = redactor.bytes(&text);
        // The hash first: a file without a recorded hash looks like one of an older version.
        self.folder.record_report(&text)?;
        write(&path, &text)
    }

    /// Writes the replies of the run as a cassette file. The header never holds a URL, which may hold a key.
    pub(crate) fn export_cassette(&self, path: &Path, redactor: &Redactor) -> Result<(), Error> {
        refuse_part_of_run(path)?;
        let manifest = self.folder.manifest();
        let config = &self.checked.pipeline.config;
        let mut providers: Vec<String> = config.llm.values().map(|t| t.plugin.clone()).collect();
        providers.dedup();
        let header = CassetteHeader {
            planforge_cassette: CassetteHeader::VERSION,
            models: manifest.models.values().cloned().collect(),
            endpoint: providers.join(", "),
            date: manifest.created_at.chars().take(10).collect(),
            planforge: manifest.planforge.clone(),
            parameters: parameters(config),
            picked: BTreeMap::new(),
            note: String::new(),
        };
        Ok(export_cassette(self.folder.as_ref(), &header, path, redactor)?)
    }
}

/// Redacts the report: messages of plugins may contain secrets. Each task alone, because the JSON form of a long run's report is large.
fn without_secrets(mut report: RunReport, redactor: &Redactor) -> Result<RunReport, Failure> {
    let tasks = std::mem::take(&mut report.tasks);
    let clean = |mut task: TaskReport| -> Result<TaskReport, Failure> {
        // It is not a part of the JSON form.
        let beam = redacted(std::mem::take(&mut task.beam), redactor)?;
        Ok(TaskReport { beam, ..redacted(task, redactor)? })
    };
    let clean = tasks.into_iter().map(clean).collect::<Result<_, _>>()?;
    Ok(RunReport { tasks: clean, ..redacted(report, redactor)? })
}

fn redacted<T: Serialize + DeserializeOwned>(document: T, redactor: &Redactor) -> Result<T, Failure> {
    if redactor.is_empty() {
        return Ok(document);
    }
    let no_form = |e: serde_json::Error| {
        Failure::new(FailureClass::System, "record.io", format!("the report has no JSON form: {e}"))
    };
    let mut recorded = serde_json::to_value(&document).map_err(no_form)?;
    if redactor.value(&mut recorded) {
        serde_json::from_value(recorded).map_err(no_form)
    } else {
        Ok(document)
    }
}

/// Parameters common to all requests of a model, for readers of the cassette.
fn parameters(config: &planforge_pipeline::Pipeline) -> BTreeMap<String, serde_json::Value> {
    let mut parameters = BTreeMap::from([("seed".to_owned(), config.seed.into())]);
    for (name, table) in &config.llm {
        for key in ["temperature", "top_p", "max_tokens", "stop", "seed"] {
            if let Some(value) = table.settings.get(key) {
                parameters.insert(format!("{name}.{key}"), value.clone());
            }
        }
    }
    parameters
}

/// The report of a finished run, if it is the one that the run wrote.
///
/// # Errors
/// `record.report-changed`, `record.corrupt`, `record.io`.
pub(crate) fn read_report(context: &Context, run: &RunFolder) -> Result<Option<RunReport>, Failure> {
    let Some(saved) = run.report()? else { return Ok(None) };
    if !saved.is_verified {
        context.note_once(Notice::Warning(UNVERIFIED.to_owned()));
    }
    planforge_contract::read_json(&saved.bytes).map(Some).map_err(|e| {
        let message = format!("{}: {e}", run.report_path().display());
        Failure::new(FailureClass::System, "record.corrupt", message)
            .help("remove this file: `planforge run --resume RUN` writes it anew and sends no request again")
    })
}

const UNVERIFIED: &str = "a report.json was written by a version of planforge that recorded no hash of it, so changes to it \
                          cannot be noticed; `planforge run --resume RUN` writes it with one";

/// Writes the report of a replayed run anew if the file is not the recorded one.
pub(crate) fn restore_report(context: &Context, run: &RunFolder, report: &RunReport) -> Result<(), Error> {
    let path = run.report_path();
    let Some(hash) = run.recorded_report_hash().filter(|_| report.state == RunState::Finished) else {
        return Ok(());
    };
    if read_regular(&path, MAX_RECORD_BYTES).is_ok_and(|bytes| sha256_hex(&bytes) == hash) {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(report).map_err(|e| unwritable(&path, &e))?;
    if sha256_hex(&text) != hash {
        let message =
            format!("{}: this version derives another report than the run recorded", path.display());
        let help = format!(
            "`planforge run --resume {}` records a new one and sends no recorded request again",
            run.path().display()
        );
        let failure = Failure::new(FailureClass::System, "record.report-changed", message).help(help);
        return Err(failure.into());
    }
    write(&path, &text)?;
    context.note(Notice::ReportRestored(path));
    Ok(())
}

/// Cassettes, or run folders as such.
pub(crate) fn open_cassettes(
    context: &Context,
    paths: &[PathBuf],
    redactor: &Arc<Redactor>,
) -> Result<Vec<Arc<dyn Lookup>>, Error> {
    let open = |path: &PathBuf| -> Result<Arc<dyn Lookup>, Error> {
        let cassette = Cassette::open(path, Arc::clone(redactor))?;
        for warning in cassette.warnings() {
            context.warn(warning.message.clone());
        }
        Ok(Arc::new(cassette))
    };
    paths.iter().map(open).collect()
}

/// Replays a run from its own record: all its tasks, or those of these names. Changes nothing on disk, starts no provider and needs no key.
pub(crate) fn replay_run(
    context: &Context,
    folder: &Arc<RunFolder>,
    jobs: u32,
    only: Option<&BTreeSet<String>>,
) -> Result<(RunOutcome, Vec<RunTask>), Error> {
    let manifest: RunManifest = folder.manifest().clone();
    for warning in folder.warnings() {
        context.warn(warning.message.clone());
    }
    let checked = check_recorded(context, &manifest, &[])?;
    let mut tasks = stored_tasks(&manifest)?;
    tasks.retain(|task| only.is_none_or(|only| only.contains(&task.name)));
    let (prepared, redactor) = instantiate(context, &checked, Mode::Replay)?;
    let lookups = vec![Arc::clone(folder) as Arc<dyn Lookup>];
    let sources = ReplySources { mode: Mode::Replay, lookups, answers: None, failures_are_final: false };
    // What the re-execution would write goes to memory.
    let journal = Arc::new(MemoryJournal::new(Arc::clone(&redactor)));
    let progress = context.start_run("", tasks.len(), None, std::iter::empty());
    let execution =
        ExecutionSettings { jobs, observer: Some(progress.observer()), watch: Some(progress.watch()) };
    let ended = services(context, prepared, redactor, sources, journal, manifest.seed, execution)
        .and_then(|services| execute(&checked.pipeline, &manifest, &services, &tasks));
    drop(progress);
    Ok((ended?, tasks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_record::TaskVerdict;
    use secrecy::SecretString;

    #[test]
    fn a_plugin_s_failure_message_in_the_report_is_redacted() {
        let failure = Failure::new(FailureClass::Plugin, "plugin.failed", "401 for sk-live-0123456789");
        let verdict = Some(TaskVerdict::Failed { stage: "plan".to_owned(), failure });
        let task = TaskReport { stem: "p01".to_owned(), verdict, ..TaskReport::default() };
        let report =
            RunReport { schema: 1, state: RunState::Finished, tasks: vec![task], prices: BTreeMap::new() };
        let redactor = Redactor::new([&SecretString::from("sk-live-0123456789")]);
        let clean = without_secrets(report, &redactor).unwrap();
        let text = serde_json::to_string(&clean).unwrap();
        assert!(!text.contains("0123456789") && text.contains("401 for [redacted]"), "{text}");
        assert_eq!(clean.tasks[0].stem, "p01");
    }
}
