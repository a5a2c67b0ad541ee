//! Readings of a text: runs of the pipeline `solve`, from which the candidates that are left become readings.

use super::SolveRequest;
use super::behaviour::Model;
use super::dialogue::Reading;
use super::folder::{Folder, Reader};
use crate::context::Context;
use crate::error::Error;
use crate::pipelines::shipped::SHIPPED_PIPELINES;
use crate::run::{
    ModelChoice, PipelineSource, ReplayRequest, ResumeRequest, RunRequest, RunResult, RunStorage, replay,
    resume, run,
};
use crate::running::manifest::{stored_cassettes, stored_tasks};
use crate::runs::{StoredRun, stored_runs};
use planforge_contract::{Candidate, FailureClass};
use planforge_pipeline::{RunState, TaskReport};
use planforge_plugin_common::reading::Points;
use planforge_record::RunManifest;
use std::path::{Path, PathBuf};

/// The label of the stage that reads the text.
const READING: &str = "reading";

/// Number of readings where nothing names one.
const READINGS: u32 = 3;

/// The label of the stage whose evidence names open points.
const POINTS: &str = "points";

/// Why a text is no task.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refusal {
    NoTask,
    Contradiction,
    TwoTasks,
}

impl Refusal {
    /// The reason that the code of a failed reading stands for.
    fn of_code(code: &str) -> Option<Self> {
        match code {
            "translator-reading.no-task" => Some(Self::NoTask),
            "translator-reading.contradiction" => Some(Self::Contradiction),
            "translator-reading.two-tasks" => Some(Self::TwoTasks),
            _ => None,
        }
    }
}

/// The runs of the newest version of the text. Those that there are already are read or continued, and models that were not asked are
/// asked; without any run, new ones are made.
pub(super) fn runs(
    context: &Context,
    folder: &Folder,
    request: &SolveRequest,
) -> Result<Vec<RunResult>, Error> {
    let stored = stored_runs(&folder.runs());
    let known = runs_of_version(folder, &stored)?;
    let mut readers = folder.readers()?;
    // A folder of an earlier version of planforge does not name them.
    let is_of_version = |reader: &Reader| reader.task == folder.task_name();
    let named = readers.iter().filter(|reader| is_of_version(reader)).count();
    let of_version: Vec<Reader> =
        readers.iter().filter(|reader| is_of_version(reader) && !reader.is_replaced).cloned().collect();
    let names_source =
        request.record.is_some() || !is_repeated(context, folder, request, &known, &of_version)?;
    let mut results: Vec<RunResult> = Vec::new();
    for (number, run) in known.iter().enumerate() {
        let reader = readers.iter().filter(|reader| is_of_version(reader)).nth(number);
        if !reader.is_some_and(|reader| reader.is_replaced) {
            results.extend(continued(context, run, names_source)?);
        }
    }
    if !known.is_empty() && names_source {
        let is_made = |run: &RunResult| run.report.state != RunState::Finished || has_answer(run);
        if results.iter().any(is_made) {
            let number: u32 = of_version.iter().map(|reader| reader.readings).sum();
            let message = match number {
                0 => "the readings of this text".to_owned(),
                1 => "the only reading of this text".to_owned(),
                number => format!("the {number} readings of this text"),
            };
            let verb = if number == 1 { "is" } else { "are" };
            let message = format!(
                "{message} {verb} made already: --readings, --model, --set, --replay and --record count for new ones"
            );
            let help = "leave them out, add a statement with --say, or name another folder with --out";
            return Err(Error::usage(message, Some(help)));
        }
        // No model has answered yet: another one is asked.
        readers
            .iter_mut()
            .filter(|reader| is_of_version(reader))
            .for_each(|reader| reader.is_replaced = true);
        results.clear();
    }
    let missing: Vec<Reader> = match names_source || known.is_empty() && named == 0 {
        true => {
            readers.truncate(readers.len() - named.saturating_sub(known.len()));
            let new = new_readers(context, folder, request, &stored, &readers)?;
            readers.extend(new.iter().cloned());
            folder.write_readers(&readers)?;
            new
        }
        false => {
            let of_version = readers.iter().filter(|reader| is_of_version(reader));
            of_version.skip(known.len()).cloned().collect()
        }
    };
    for reader in missing {
        let made = run(context, &run_request(request, folder, reader));
        let shown = folder.shown.display();
        let hint = || format!("once that is mended, go on with `planforge solve --continue {shown}`");
        results.push(made.map_err(|error| if results.is_empty() { error } else { error.hint(hint()) })?);
    }
    Ok(results)
}

/// True if a request names no other source of replies than the runs that there are: it is made again, after an interrupt for instance.
fn is_repeated(
    context: &Context,
    folder: &Folder,
    request: &SolveRequest,
    known: &[&PathBuf],
    of_version: &[Reader],
) -> Result<bool, Error> {
    let is_other_number = |reader: &Reader| share(request, of_version.len()) != Some(reader.readings);
    if request.readings.is_some() && of_version.iter().any(is_other_number) {
        return Ok(false);
    }
    let names_models = !request.models.is_empty() || !request.set.is_empty();
    if names_models && new_readers(context, folder, request, &[], &[])? != of_version {
        return Ok(false);
    }
    let Some(cassette) = &request.replay else { return Ok(true) };
    let cassette = std::path::absolute(context.path(cassette)).ok();
    let is_source = |run: &&PathBuf| {
        let manifest = RunManifest::read(&run.join("run.json")).ok();
        manifest.is_some_and(|manifest| stored_cassettes(&manifest).first() == cassette.as_ref())
    };
    Ok(!known.is_empty() && known.iter().all(is_source))
}

/// The runs of the newest version of the text, read again; `None` if there is none, or if one is not complete.
pub(super) fn recorded_runs(context: &Context, folder: &Folder) -> Result<Option<Vec<RunResult>>, Error> {
    let stored = stored_runs(&folder.runs());
    let known = runs_of_version(folder, &stored)?;
    // Only a complete run has a report.
    if known.is_empty() || known.iter().any(|run| !run.join("report.json").exists()) {
        return Ok(None);
    }
    let read = |run: &&PathBuf| -> Result<RunResult, Error> {
        let read = replay(context, &ReplayRequest { run: run.to_path_buf(), jobs: 1 })?;
        Ok(RunResult { folder: Some(run.to_path_buf()), ..read })
    };
    known.iter().map(read).collect::<Result<_, _>>().map(Some)
}

/// The runs of the newest version of the text, the oldest first.
fn runs_of_version<'r>(folder: &Folder, stored: &'r [StoredRun]) -> Result<Vec<&'r PathBuf>, Error> {
    let is_of_version =
        |manifest: &RunManifest| manifest.tasks.iter().any(|task| task.task == folder.task_name());
    let mut known = Vec::new();
    for run in stored.iter().rev().filter(|run| is_of_version(&run.manifest)) {
        let read = stored_tasks(&run.manifest)?;
        if read.iter().any(|task| task.view.task_text.trim() != folder.text.trim()) {
            let message = format!("{}.nl was changed after it was read", folder.task_name());
            return Err(Error::usage(message, Some("restore it, and add what changed with --say")));
        }
        known.push(&run.folder);
    }
    Ok(known)
}

/// The models that read a new version: those of the request, else those of the version before.
fn new_readers(
    context: &Context,
    folder: &Folder,
    request: &SolveRequest,
    stored: &[StoredRun],
    readers: &[Reader],
) -> Result<Vec<Reader>, Error> {
    if request.models.len() > 1 && request.record.is_some() {
        let help = "record with one model; the runs in the folder hold all replies";
        return Err(Error::usage("--record takes the replies of one model", Some(help)));
    }
    let newest = stored.first().and_then(|run| run.manifest.tasks.first()).map(|task| task.task.clone());
    let earlier =
        stored.iter().rev().filter(|run| run.manifest.tasks.first().map(|task| task.task.clone()) == newest);
    let known: Vec<(ModelChoice, Vec<String>, u32)> = readers
        .iter()
        .filter(|reader| Some(&reader.task) == newest.as_ref() && !reader.is_replaced)
        .map(|reader| (reader.model.clone(), reader.set.clone(), reader.readings))
        .collect();
    let with: Vec<(ModelChoice, Vec<String>, u32)> = match request.models.as_slice() {
        [] if !known.is_empty() => known,
        [] if newest.is_some() => {
            earlier.map(|run| (ModelChoice::OfFile, run.manifest.overrides.clone(), READINGS)).collect()
        }
        [] => vec![(ModelChoice::OfFile, Vec::new(), READINGS)],
        models => {
            let readings = READINGS.div_ceil(models.len() as u32);
            models.iter().map(|model| (model.clone(), Vec::new(), readings)).collect()
        }
    };
    let share = share(request, with.len());
    let reader = |(model, mut set, readings): (ModelChoice, Vec<String>, u32)| {
        let number = format!("stage.{READING}.n=");
        if set.is_empty() && folder.domain.is_some() {
            set.push("given.domain=true".to_owned());
        }
        if share.is_some() {
            set.retain(|change| !change.starts_with(&number));
        }
        let readings = share.unwrap_or(readings);
        if !set.iter().any(|change| change.starts_with(&number)) {
            set.insert(0, format!("{number}{readings}"));
        }
        set.extend(request.set.iter().cloned());
        let client = match model {
            ModelChoice::Client => context.client_model_name.clone(),
            _ => String::new(),
        };
        Reader { task: folder.task_name(), model, client, set, readings, is_replaced: false }
    };
    Ok(with.into_iter().map(reader).collect())
}

/// The number of readings of each of some models, if the request names one.
fn share(request: &SolveRequest, models: usize) -> Option<u32> {
    request.readings.map(|readings| readings.max(1).div_ceil((models as u32).max(1)))
}

/// True if a model answered.
fn has_answer(run: &RunResult) -> bool {
    run.report.tasks.iter().flat_map(|task| task.usage.values()).any(|usage| usage.calls > 0)
}

/// A run of before: read again if it is complete, else continued. What a server did not answer is asked again, unless another model takes
/// its place: then `None` if nothing was answered.
fn continued(context: &Context, folder: &Path, names_source: bool) -> Result<Option<RunResult>, Error> {
    // Only a complete run has a report.
    if folder.join("report.json").exists() {
        let read = replay(context, &ReplayRequest { run: folder.to_owned(), jobs: 1 })?;
        let failed = read.report.tasks.iter().flat_map(|task| &task.stages).flat_map(|stage| &stage.failed);
        if failed.into_iter().all(|failed| failed.failure.class != FailureClass::Provider) {
            return Ok(Some(RunResult { folder: Some(folder.to_owned()), ..read }));
        }
        if names_source && !has_answer(&read) {
            return Ok(None);
        }
    }
    let request = ResumeRequest { run: folder.to_owned(), jobs: 1, ..ResumeRequest::default() };
    resume(context, &request).map(Some)
}

fn run_request(request: &SolveRequest, folder: &Folder, reader: Reader) -> RunRequest {
    let shipped = SHIPPED_PIPELINES.iter().find(|pipeline| pipeline.name == "solve");
    RunRequest {
        pipeline: PipelineSource::Text {
            name: "solve.toml".to_owned(),
            text: shipped.map_or("", |pipeline| pipeline.text).to_owned(),
        },
        tasks: vec![folder.task()],
        model: reader.model,
        set: reader.set,
        replay: request.replay.clone(),
        record: request.record.clone(),
        storage: RunStorage::Folder(folder.runs()),
        jobs: reader.readings,
        ..RunRequest::default()
    }
}

/// The readings of some runs, and why others cannot be used.
#[derive(Default)]
pub(super) struct Readings {
    pub(super) usable: Vec<Reading>,
    /// Numbers of readings that were asked for.
    pub(super) made: usize,
    /// By usable reading, the model that made it.
    pub(super) models: Vec<String>,
    /// Readings that say why the text is no task, with their sentences.
    pub(super) refusals: Vec<(Refusal, String)>,
    /// Why readings were left out, a clause each.
    pub(super) left_out: Vec<String>,
}

impl Readings {
    pub(super) fn of(runs: &[RunResult]) -> Self {
        let mut readings = Self::default();
        for run in runs {
            for task in &run.report.tasks {
                readings.add(run, task);
            }
        }
        readings
    }

    fn add(&mut self, run: &RunResult, task: &TaskReport) {
        let model = model_of(run);
        for failed in
            task.stages.iter().filter(|stage| stage.label == READING).flat_map(|stage| &stage.failed)
        {
            self.made += 1;
            let failure = &failed.failure;
            match Refusal::of_code(&failure.code) {
                Some(refusal) => self.refusals.push((refusal, failure.message.clone())),
                None => self.left_out.push(failure.message.clone()),
            }
        }
        let beam = match task.beam.as_slice() {
            [] => task.candidate.as_slice(),
            beam => beam,
        };
        for candidate in beam {
            self.made += 1;
            match reading(candidate) {
                Ok(reading) => {
                    self.usable.push(reading);
                    self.models.push(model.clone());
                }
                Err(why) => self.left_out.push(why),
            }
        }
    }
}

fn reading(candidate: &Candidate) -> Result<Reading, String> {
    let (Some(domain), Some(problem)) = (&candidate.domain, &candidate.problem) else {
        return Err("a reading has no domain or no problem".to_owned());
    };
    let model = Model::read(domain, problem)
        .map_err(|why| format!("the PDDL of a reading has a mistake after its repairs: {why}"))?;
    // Without an assessment the critic failed: nothing was looked for.
    let evidence = candidate.assessments.get(POINTS).map(|assessment| assessment.evidence.clone());
    let points: Option<Points> = evidence.and_then(|evidence| serde_json::from_value(evidence).ok());
    Ok(Reading { model, points: points.map(|found| found.points) })
}

/// The model of a run: its folder says which.
fn model_of(run: &RunResult) -> String {
    let manifest = run.folder.as_ref().and_then(|folder| RunManifest::read(&folder.join("run.json")).ok());
    let mut models: Vec<String> =
        manifest.map(|manifest| manifest.models.into_values().collect()).unwrap_or_default();
    models.dedup();
    models.join(" and ")
}
