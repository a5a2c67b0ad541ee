//! Samples, rounds and budgets with a simulated model.

use super::strategies::{FINAL, Strategy, strategy, suites};
use super::{StudyFiles, StudyResult, run_on_threads, write_artefacts};
use crate::context::Context;
use crate::error::Error;
use crate::files::read_text;
use crate::status::Status;
use planforge_contract::{Decision, Failure};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_evaluate::study::scaling::{PointSpec, ScalingRun, ScalingSpec, ScalingStudy};
use planforge_evaluate::study::{StudyBudget, Watch, run_all};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_pipeline::{RunTask, TaskReport, TaskUsage};
use planforge_planning::equivalence::domains::{ComparisonVerdict, EquivalenceLimits, compare_domains};
use planforge_record::TaskVerdict;
use std::path::{Path, PathBuf};

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
    let (report, _) = strategy.execute(task, seed, watch)?;
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
