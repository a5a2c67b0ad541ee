//! The verifier that uses a model: a pipeline of verify stages over some of the mutants, each as the domain
//! given to a task.
//!
//! A mutant replaces only the domain that the pipeline is given: texts and action interface are the suite's
//! own. The pipeline's verdict on the task is the critic's judgement of the mutant.

use super::strategies::{give_suites, suite_folders};
use crate::context::Context;
use crate::error::Error;
use crate::files::{read_text, unwritable};
use crate::pipelines::loaded::{LoadedPipeline, check_pipeline, require_immediate_answers};
use crate::pipelines::tasks::tasks_of;
use crate::run::ModelChoice;
use crate::running::execution::mode_of;
use crate::running::recorded::NewRun;
use crate::status::{Status, of_failure};
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::calibration::{Judgement, Mutant, OtherJudgements};
use planforge_evaluate::study::StudySuite;
use planforge_pipeline::{RunState, RunTask, StageKind, Suite, load_suite};
use planforge_record::{Event, TaskVerdict};
use planforge_record::{Journal, TaskUse, sha256_hex};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder for run folders without an output folder.
const RUNS: &str = "runs";

/// A pipeline that judges domains, checked.
pub(super) struct Critic {
    pub(super) name: String,
    file: String,
    checked: LoadedPipeline,
    overrides: Vec<String>,
    suites: Vec<Suite>,
}

/// A pipeline that judges some of the mutants.
#[derive(Debug, Clone, Default)]
pub struct CriticRequest {
    /// The pipeline file.
    pub pipeline: PathBuf,
    /// Number of mutants: as many equal as different ones, if there are enough.
    pub mutants: usize,
    /// Mutants judged in parallel.
    pub jobs: u32,
    /// Keys of the pipeline file that are changed, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// Folder for a cassette of the replies, `PIPELINE.jsonl`; one that is there is completed.
    pub record: Option<PathBuf>,
    /// Folder with the cassette that every reply is taken from.
    pub replay: Option<PathBuf>,
}

/// Judgements of the critic, and the status if only the critic counts.
pub(super) struct CriticResult {
    pub(super) judgements: OtherJudgements,
    /// The run folder.
    pub(super) run: PathBuf,
    pub(super) status: Status,
}

impl Critic {
    /// Reads and checks the pipeline, before anything is judged that would then be lost.
    pub(super) fn new(
        context: &Context,
        request: &CriticRequest,
        (paths, suites): (&[PathBuf], &[StudySuite]),
        seed: u64,
    ) -> Result<Self, Error> {
        let path = context.path(&request.pipeline);
        let file = path.display().to_string();
        let text = read_text(&path)?;
        // The seed of the calibration unless the command line says otherwise; what is last counts.
        let seed = format!("seed={seed}");
        let overrides: Vec<String> = [seed].into_iter().chain(request.set.iter().cloned()).collect();
        let mut checked = check_pipeline(context, &text, &file, &overrides)?;
        require_immediate_answers(&checked, "planforge study calibrate")?;
        fits(&checked).map_err(|why| {
            let failure = Failure::new(FailureClass::Request, "calibrate.critic", format!("{file} {why}"));
            let help = "`planforge explain calibrate.critic` shows a pipeline that fits";
            Error::from(failure.help(help)).with_status(Status::Pipeline)
        })?;
        let suites = folders(paths, suites)
            .into_iter()
            .map(|(folder, task)| first_task(&folder, &task))
            .collect::<Result<Vec<Suite>, Error>>()?;
        give_suites(&mut checked, &suites)?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, file, checked, overrides, suites })
    }

    /// Judges the chosen mutants, given by their indices.
    pub(super) fn ask(
        &self,
        context: &Context,
        request: &CriticRequest,
        out: Option<&Path>,
        mutants: &[Mutant],
        chosen: &[usize],
    ) -> Result<CriticResult, Error> {
        let own = tasks_of(context, &self.checked, self.suites.clone())?;
        let tasks: Vec<(RunTask, TaskUse)> =
            chosen.iter().filter_map(|&i| task(&own, mutants.get(i)?)).collect();
        let runs = out.map_or_else(|| context.path(Path::new(RUNS)), |out| out.join(RUNS));
        let mode = mode_of(request.replay.is_some(), request.record.is_some());
        let jobs = request.jobs;
        let cassettes = self.cassettes(context, request);
        let overrides = &self.overrides;
        let model = &ModelChoice::OfFile;
        let new =
            NewRun { overrides, explainer: None, runs: &runs, jobs, mode, cassettes: &cassettes, model };
        let (ended, run, redactor) = new.run(context, &self.checked, &tasks)?;
        if let Some(folder) = &request.record {
            let folder = context.path(folder);
            std::fs::create_dir_all(&folder).map_err(|e| unwritable(&folder, &e))?;
            run.export_cassette(&self.cassette(&folder), &redactor)?;
        }
        let run_folder = run.folder.path().to_owned();
        if ended.report.state != RunState::Finished {
            let hint =
                format!("the requests and judgements of `{}` are in {}", self.name, run_folder.display());
            return Err(Error::of_status(Status::Interrupted).hint(hint));
        }
        let times = times(&run.folder.events());
        let mut status = Status::Good;
        let mut judgements = Vec::new();
        for (&index, report) in chosen.iter().zip(&ended.report.tasks) {
            if let Some(TaskVerdict::Unusable { failure, .. } | TaskVerdict::Failed { failure, .. }) =
                &report.verdict
                && (status == Status::Good || failure.class == FailureClass::ReplayMiss)
            {
                status = of_failure(failure);
            }
            let time = times.get(&report.task).copied().unwrap_or_default();
            judgements.push((index, judgement(report.verdict.as_ref()), time));
        }
        // What broke for some is a figure of the table; a record that lacks answers is none of the critic.
        let answered = judgements.iter().any(|(_, judgement, _)| !matches!(judgement, Judgement::Failed(_)));
        if answered && status != Status::ReplayMiss {
            status = Status::Good;
        }
        let elsewhere = format!("planforge run {}", self.file);
        Ok(CriticResult {
            judgements: OtherJudgements { name: self.name.clone(), elsewhere, judgements },
            run: run_folder,
            status,
        })
    }

    fn cassette(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.jsonl", self.name))
    }

    /// Cassettes searched for replies. An existing recording is completed, not paid for again.
    fn cassettes(&self, context: &Context, request: &CriticRequest) -> Vec<PathBuf> {
        let Some(folder) = request.replay.as_ref().or(request.record.as_ref()) else { return Vec::new() };
        let folder = &context.path(folder);
        let plain = self.cassette(folder);
        let packed = folder.join(format!("{}.jsonl.gz", self.name));
        let found = [&plain, &packed].into_iter().find(|path| path.exists());
        // Opening what is not there says so.
        found.or(request.replay.is_some().then_some(&plain)).into_iter().cloned().collect()
    }
}

/// Checks that a pipeline judges the domain it is given and does not write another.
fn fits(checked: &LoadedPipeline) -> Result<(), &'static str> {
    let config = &checked.pipeline.config;
    if !config.given.domain {
        return Err("is not given the domain, so it would not see the mutants");
    }
    let kinds: Vec<StageKind> = config.all_stages().map(|stage| stage.kind()).collect();
    if kinds.iter().any(|kind| !matches!(kind, StageKind::Verify | StageKind::Plan)) {
        return Err("does more than judge and plan");
    }
    if !kinds.contains(&StageKind::Verify) {
        return Err("has no verify stage");
    }
    Ok(())
}

/// The folder of each suite, and its first stated problem.
fn folders(paths: &[PathBuf], suites: &[StudySuite]) -> Vec<(PathBuf, String)> {
    let all: Vec<PathBuf> = paths.iter().flat_map(|path| suite_folders(path)).collect();
    let name = |folder: &PathBuf| {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let of = |suite: &StudySuite| {
        let folder = all.iter().find(|folder| name(folder) == suite.name)?;
        Some((folder.clone(), suite.tasks.first()?.stem.clone()))
    };
    suites.iter().filter_map(of).collect()
}

/// A suite with one task.
fn first_task(folder: &Path, task: &str) -> Result<Suite, Error> {
    let loaded = load_suite(folder);
    let Some(mut suite) = loaded.suite else {
        return Err(Error::findings(Status::Input, loaded.diagnostics, loaded.sources));
    };
    suite.tasks.retain(|t| t.stem == task);
    Ok(suite)
}

/// The task of a mutant's suite with the mutant as the domain that is given.
fn task(own: &[(RunTask, TaskUse)], mutant: &Mutant) -> Option<(RunTask, TaskUse)> {
    let (task, used) = own.get(mutant.suite)?;
    let (mut task, mut used) = (task.clone(), used.clone());
    task.name = format!("{}.m{}", task.name, mutant.number);
    task.view.given.domain = Some(mutant.text.clone());
    used.name.clone_from(&task.name);
    used.sha256 = sha256_hex(format!("{}{}", used.sha256, mutant.text).as_bytes());
    Some((task, used))
}

fn judgement(verdict: Option<&TaskVerdict>) -> Judgement {
    match verdict {
        Some(TaskVerdict::Accepted | TaskVerdict::Planned { .. } | TaskVerdict::Written { .. }) => {
            Judgement::Accepts
        }
        Some(TaskVerdict::Rejected { .. } | TaskVerdict::Unsolvable { .. }) => Judgement::Rejects,
        Some(TaskVerdict::Undecided { message, .. }) => Judgement::Undecided(message.clone()),
        Some(TaskVerdict::Unusable { failure, .. } | TaskVerdict::Failed { failure, .. }) => {
            Judgement::Failed(failure.to_string())
        }
        None => Judgement::Failed("the run ended before it".to_owned()),
    }
}

/// The time that each task waited for models and external programs, as recorded.
fn times(events: &[Event]) -> BTreeMap<String, Duration> {
    let mut times: BTreeMap<String, Duration> = BTreeMap::new();
    for event in events {
        if let Event::Completion { path, elapsed_ms, .. } | Event::Effect { path, elapsed_ms, .. } = event {
            let path = path.to_string();
            let task = path.split('/').next().unwrap_or_default().trim().to_owned();
            *times.entry(task).or_default() += Duration::from_millis(*elapsed_ms);
        }
    }
    times
}
