//! The verifier that uses a model: a pipeline of verify stages over some of the mutants, each as the domain
//! given to a task.
//!
//! A mutant replaces only the domain that the pipeline is given: texts and action interface are the suite's
//! own. The pipeline's verdict on the task is the critic's judgement of the mutant.

use super::CalibrateArgs;
use crate::commands::study::strategy::give_suites;
use crate::commands::study::strategy::suite_folders;
use crate::context::Context;
use crate::execution::mode_of;
use crate::exit::{Exit, of_failure};
use crate::files::unwritable;
use crate::pipeline::LoadedPipeline;
use crate::pipeline::check_pipeline;
use crate::pipeline::require_immediate_answers;
use crate::recorded_run::NewRun;
use crate::tasks::tasks_of;
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
    name: String,
    file: String,
    checked: LoadedPipeline,
    overrides: Vec<String>,
    suites: Vec<Suite>,
}

/// Judgements of the critic, and the exit code if only the critic counts.
pub(super) struct CriticResult {
    pub(super) judgements: OtherJudgements,
    pub(super) exit: Exit,
}

impl Critic {
    /// Reads and checks the pipeline, before anything is judged that would then be lost.
    pub(super) fn new(
        context: &Context,
        args: &CalibrateArgs,
        path: &Path,
        suites: &[StudySuite],
    ) -> Result<Self, Exit> {
        let file = path.display().to_string();
        let text = context.read_text(path)?;
        // The seed of the calibration unless the command line says otherwise; what is last counts.
        let seed = format!("seed={}", args.seed);
        let overrides: Vec<String> = [seed].into_iter().chain(args.overrides.iter().cloned()).collect();
        let mut checked = check_pipeline(context, &text, &file, &overrides)?;
        require_immediate_answers(context, &checked, "planforge study calibrate")?;
        fits(&checked).map_err(|why| {
            let failure = Failure::new(FailureClass::Request, "calibrate.critic", format!("{file} {why}"));
            context.print_failure(
                &failure.help("`planforge explain calibrate.critic` shows a pipeline that fits"),
            );
            Exit::Pipeline
        })?;
        let suites = folders(&args.suites, suites)
            .into_iter()
            .map(|(folder, task)| first_task(context, &folder, &task))
            .collect::<Result<Vec<Suite>, Exit>>()?;
        give_suites(context, &mut checked, &suites)?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, file, checked, overrides, suites })
    }

    /// Judges the chosen mutants, given by their indices.
    pub(super) fn ask(
        &self,
        context: &Context,
        args: &CalibrateArgs,
        mutants: &[Mutant],
        chosen: &[usize],
    ) -> Result<CriticResult, Exit> {
        let own = tasks_of(context, &self.checked, self.suites.clone())?;
        let tasks: Vec<(RunTask, TaskUse)> =
            chosen.iter().filter_map(|&i| task(&own, mutants.get(i)?)).collect();
        let runs = args.out.as_ref().map_or_else(|| PathBuf::from(RUNS), |out| out.join(RUNS));
        let mode = mode_of(args.replay.is_some(), args.record.is_some());
        let jobs = args.critic_jobs;
        let cassettes = self.cassettes(args);
        let overrides = &self.overrides;
        let new = NewRun { overrides, explainer: None, runs: &runs, jobs, mode, cassettes: &cassettes };
        let (ended, run, redactor) = new.run(context, &self.checked, &tasks)?;
        if let Some(folder) = &args.record {
            std::fs::create_dir_all(folder).map_err(|e| unwritable(context, folder, &e))?;
            run.export_cassette(&self.cassette(folder), &redactor)?;
        }
        context.output.note(&format!(
            "the requests and judgements of `{}` are in {}",
            self.name,
            run.folder.path().display()
        ));
        if ended.report.state != RunState::Finished {
            return Err(Exit::Interrupted);
        }
        let times = times(&run.folder.events());
        let mut exit = Exit::Good;
        let mut judgements = Vec::new();
        for (&index, report) in chosen.iter().zip(&ended.report.tasks) {
            if let Some(TaskVerdict::Unusable { failure, .. } | TaskVerdict::Failed { failure, .. }) =
                &report.verdict
                && (exit == Exit::Good || failure.class == FailureClass::ReplayMiss)
            {
                exit = of_failure(failure);
            }
            let time = times.get(&report.task).copied().unwrap_or_default();
            judgements.push((index, judgement(report.verdict.as_ref()), time));
        }
        // What broke for some is a figure of the table; a record that lacks answers is none of the critic.
        let answered = judgements.iter().any(|(_, judgement, _)| !matches!(judgement, Judgement::Failed(_)));
        if answered && exit != Exit::ReplayMiss {
            exit = Exit::Good;
        }
        let elsewhere = format!("planforge run {}", self.file);
        Ok(CriticResult {
            judgements: OtherJudgements { name: self.name.clone(), elsewhere, judgements },
            exit,
        })
    }

    fn cassette(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.jsonl", self.name))
    }

    /// Cassettes searched for replies. An existing recording is completed, not paid for again.
    fn cassettes(&self, args: &CalibrateArgs) -> Vec<PathBuf> {
        let Some(folder) = args.replay.as_ref().or(args.record.as_ref()) else { return Vec::new() };
        let plain = self.cassette(folder);
        let packed = folder.join(format!("{}.jsonl.gz", self.name));
        let found = [&plain, &packed].into_iter().find(|path| path.exists());
        // Opening what is not there says so.
        found.or(args.replay.is_some().then_some(&plain)).into_iter().cloned().collect()
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
fn first_task(context: &Context, folder: &Path, task: &str) -> Result<Suite, Exit> {
    let loaded = load_suite(folder);
    let Some(mut suite) = loaded.suite else {
        context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
        return Err(Exit::Input);
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
        Some(TaskVerdict::Accepted) => Judgement::Accepts,
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
