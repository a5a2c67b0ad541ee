//! Samples, rounds and budgets with a simulated model.

use super::{StudyFiles, StudyResult, check_suite_names, run_on_threads, write_artefacts};
use crate::context::Context;
use crate::error::Error;
use crate::files::read_text;
use crate::pipelines::loaded::{LoadedPipeline, check_pipeline, instantiate};
use crate::pipelines::prepare::Prepared;
use crate::status::Status;
use planforge_contract::{Decision, Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_evaluate::study::scaling::{PointSpec, ScalingRun, ScalingSpec, ScalingStudy};
use planforge_evaluate::study::{StudyBudget, Watch, run_all};
use planforge_llm::{Llm, LlmOptions, Mode};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_pipeline::{RunReport, RunTask, Services, Suite, TaskReport, TaskUsage, load_suite, run_tasks};
use planforge_planning::equivalence::domains::{ComparisonVerdict, EquivalenceLimits, compare_domains};
use planforge_record::{Journal, MemoryJournal, Redactor, TaskVerdict};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sweeps over a key of pipeline files with a simulated model (test-time-scaling paper, Fig. 3 to 5).
#[derive(Debug, Clone, Default)]
pub struct ScalingRequest {
    /// Suites and output.
    pub files: StudyFiles,
    /// The sweeps: a TOML file; its pipeline files are relative to it.
    pub spec: PathBuf,
    /// Seeds of each point and task, from the study's seed on.
    pub seeds: u64,
    /// Tasks of each suite, the first by name.
    pub tasks: usize,
}

/// The stage that validates the plan in the environment.
const VALID: &str = "valid";
/// Most pairs of states of a comparison with the reference, and the memory it may take: counts, so that every machine decides the same.
const MOST_PAIRS: u64 = 20_000;
const MOST_BYTES: u64 = 512 << 20;

/// Runs every value of every sweep.
///
/// # Errors
/// A spec or pipelines that do not fit, suites that cannot be read, files that cannot be written.
pub fn scaling(context: &Context, request: &ScalingRequest) -> Result<StudyResult<ScalingStudy>, Error> {
    let files = &request.files;
    let path = context.path(&request.spec);
    let spec = spec(&path)?;
    let suites = suites(context, (&files.suites, &files.only), request.tasks)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut points = Vec::new();
    for point in spec.points() {
        let strategy = strategy(context, &folder.join(&point.pipeline), &point.set, &suites)?;
        points.push((point, strategy));
    }
    let mut work = Vec::new();
    for (point, strategy) in &points {
        for task in &strategy.tasks {
            work.extend((0..request.seeds).map(|index| (point, strategy, task, files.seed + index)));
        }
    }
    let runs = run_on_threads(context, files.jobs, |threads, watch| {
        run_all(&work, threads, watch, |(point, strategy, task, seed)| {
            one(point, strategy, task, *seed, watch)
        })
    })?;
    let runs = runs.into_iter().collect::<Result<Vec<ScalingRun>, Failure>>()?;
    let study = ScalingStudy::new(planforge_provider_noisy_oracle::MODEL, &spec, runs, files.seed);
    let artefacts = study.artefacts()?;
    Ok(StudyResult { study, written: write_artefacts(&context.path(&files.out), &artefacts)? })
}

fn spec(path: &Path) -> Result<ScalingSpec, Error> {
    let name = path.display().to_string();
    let wrong = |message: String| {
        let diagnostic = Diagnostic::error("study.spec", format!("{name}: {message}"))
            .help("a spec has [[sweep]] tables with label, of, pipeline, key and values; examples/studies/scaling/study.toml is one");
        Error::findings(Status::Input, vec![diagnostic], SourceMap::default())
    };
    let text = read_text(path)?;
    ScalingSpec::read(&text).map_err(|mistakes| wrong(mistakes.join("; ")))
}

/// One value of a sweep on one task with one seed.
fn one(
    point: &PointSpec,
    strategy: &Strategy,
    task: &RunTask,
    seed: u64,
    watch: &Watch,
) -> Result<ScalingRun, Failure> {
    let report = strategy.execute(task, seed, watch)?;
    let ended = report.tasks.first();
    let assessed =
        |label: &str| ended.and_then(|t| t.candidate.as_ref()).and_then(|c| c.assessments.get(label));
    let accepted = |label: &str| assessed(label).is_some_and(|a| a.decision == Decision::Accepted);
    let used = |of: fn(&TaskUsage) -> u64| ended.map_or(0, |t| t.usage.values().map(of).sum());
    Ok(ScalingRun {
        sweep: point.sweep.clone(),
        value: point.value,
        suite: task.view.suite.clone(),
        task: task.view.task.clone(),
        seed,
        score: assessed(FINAL).and_then(|a| a.metrics.get("score")).copied().unwrap_or(0.0),
        equal: ended.and_then(|ended| equal(ended, task, watch)),
        valid: accepted(VALID),
        calls: used(|u| u.calls + u.failed),
        tokens: used(|u| u.tokens().0 + u.tokens().1),
        broke: ended.and_then(broken),
    })
}

/// The failure that kept the task from a verdict. An unusable reply is a failure of the method and does not
/// count.
fn broken(ended: &TaskReport) -> Option<String> {
    match &ended.verdict {
        Some(TaskVerdict::Failed { stage, failure }) => Some(format!("{stage}: {failure}")),
        Some(_) => None,
        None => Some("it did not end".to_owned()),
    }
}

/// True if the returned domain behaves as the reference on the task's problem; `None` if undecided.
fn equal(ended: &TaskReport, task: &RunTask, watch: &Watch) -> Option<bool> {
    let reference = domain(task.reference.domain.as_deref()?)?;
    let wanted = problem(task.reference.problem.as_deref()?)?;
    let candidate = ended.candidate.as_ref()?;
    let found = domain(candidate.domain.as_deref()?)?;
    let own = problem(candidate.problem.as_deref()?)?;
    let limits = EquivalenceLimits { max_pairs: MOST_PAIRS, ..EquivalenceLimits::default() };
    let mut budget = StudyBudget::new(watch, MOST_BYTES);
    let compared = compare_domains([&reference, &found], [&wanted, &own], &limits, &mut budget).ok()?;
    match compared.verdict() {
        ComparisonVerdict::Equal => Some(true),
        ComparisonVerdict::Different => Some(false),
        ComparisonVerdict::Open => None,
    }
}

fn domain(text: &str) -> Option<Domain> {
    let parsed = parse_domain(text, SourceId(0));
    (!parsed.diagnostics.iter().any(Diagnostic::is_error)).then_some(parsed.value)
}

fn problem(text: &str) -> Option<Problem> {
    let parsed = parse_problem(text, SourceId(0));
    (!parsed.diagnostics.iter().any(Diagnostic::is_error)).then_some(parsed.value)
}

/// The stage that judges what a strategy returned.
const FINAL: &str = "final";

/// A pipeline with a simulated model, ready to run.
struct Strategy {
    checked: LoadedPipeline,
    prepared: Prepared,
    redactor: Arc<Redactor>,
    tasks: Vec<RunTask>,
}

impl Strategy {
    /// Runs the pipeline on one task, with the record in memory.
    fn execute(&self, task: &RunTask, seed: u64, watch: &Watch) -> Result<RunReport, Failure> {
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
            journal,
            sources: Vec::new(),
            mode: Mode::Live,
            jobs: 1,
            cancelled,
            observer: None,
            now: Arc::new(String::new),
        };
        let mut pipeline = self.checked.pipeline.clone();
        pipeline.config.seed = seed;
        planforge_pipeline::run(&pipeline, std::slice::from_ref(task), &services)
    }
}

/// The suites with their first tasks.
fn suites(
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
fn suite_folders(path: &Path) -> Vec<PathBuf> {
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
fn strategy(
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
    Ok(Strategy { checked, prepared, redactor, tasks })
}

/// Gives the suites of the study to simulated models that list none.
fn give_suites(checked: &mut LoadedPipeline, suites: &[Suite]) -> Result<(), Error> {
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
