//! Two runs or evaluations on the same tasks.
//!
//! The outcomes of an evaluation are in its `evaluation.json`. A run of an evaluation has its report beside
//! it; other records are replayed, which gives the same verdicts. Costs and samples come from the records.

use crate::context::Context;
use crate::error::Error;
use crate::evaluate::{EVALUATION, read_evaluation};
use crate::pipelines::loaded::check_recorded;
use crate::running::manifest::stored_tasks;
use crate::running::recorded::{read_report, replay_run};
use crate::status::Status;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_diagnostics::render::escape;
use planforge_evaluate::compare::{
    NoComparison, Observed, PairKey, RunParts, compare as compare_observed, unfinished_where_not_ended,
};
use planforge_evaluate::results::{
    CellClasses, CellKey, CellResult, Column, Judges, PluginFacts, TaskOutcome,
};
use planforge_pipeline::RunReport;
use planforge_record::RunFolder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use planforge_evaluate::compare::{Cluster, Comparison, PairBy, Question, Settings};

/// A comparison of two runs or evaluations.
#[derive(Debug, Clone)]
pub struct CompareRequest {
    /// A run folder, or the output folder of an evaluation.
    pub a: PathBuf,
    /// Another; it may be the same evaluation with another pipeline.
    pub b: PathBuf,
    /// The pipeline of A, where A is an evaluation of several.
    pub pipeline_a: Option<String>,
    /// The pipeline of B, where B is an evaluation of several.
    pub pipeline_b: Option<String>,
    /// Criterion, pairing and statistics.
    pub settings: Settings,
    /// Tasks replayed in parallel, for runs without a report.
    pub jobs: u32,
}

/// The status of a comparison: undecided if no test was made, because a pair that is open on one side decides nothing.
pub fn status(comparison: &Comparison) -> Status {
    if comparison.success.p.is_some() { Status::Good } else { Status::Undecided }
}

/// Unpaired runs named in a message, for each side.
const NAMED: usize = 3;

/// Compares two sides. Tasks are paired by suite, task and seed.
///
/// # Errors
/// A side that cannot be read, or sides without a common task.
pub fn compare(context: &Context, request: &CompareRequest) -> Result<Comparison, Error> {
    let (a, b) = (context.path(&request.a), context.path(&request.b));
    let a = read_side(context, request, &a, request.pipeline_a.as_deref(), "--pipeline-a")?;
    let b = read_side(context, request, &b, request.pipeline_b.as_deref(), "--pipeline-b")?;
    compare_observed(&a, &b, &request.settings).map_err(|why| no_comparison(&why))
}

fn request(code: &'static str, message: String) -> Failure {
    Failure::new(FailureClass::Request, code, message)
}

/// The error of a comparison that cannot be made.
fn no_comparison(why: &NoComparison) -> Error {
    match why {
        NoComparison::Twice(which) => {
            let message = format!(
                "a run of a task is there twice, so that it is not clear which counts: {}",
                escape(which)
            );
            Error::from(request("compare.twice", message)).with_status(Status::Input)
        }
        NoComparison::NotAsked(side) => {
            let message =
                format!("no stage of {} says what `--by` asks for, of any paired task", escape(side));
            let help = "choose another `--by`, or add a verify stage that says it";
            Error::from(request("compare.not-asked", message).help(help)).with_status(Status::Undecided)
        }
        NoComparison::NothingPaired { a, b, by_task } => {
            let named = |keys: &[PairKey]| {
                let first: Vec<String> =
                    keys.iter().take(NAMED).map(|key| escape(&key.label()).to_string()).collect();
                match keys.len() {
                    0 => "nothing".to_owned(),
                    n if n > NAMED => format!("{} and {} more", first.join("; "), n - NAMED),
                    _ => first.join("; "),
                }
            };
            let message =
                format!("no run of a task is on both sides; A has {}; B has {}", named(a), named(b));
            let help = match by_task {
                true => {
                    "the tasks are the same and the seeds are not: `--pair-by task` pairs them in the order of their seeds"
                }
                false => "compare runs over the same suites and tasks",
            };
            Error::from(request("compare.nothing-paired", message).help(help)).with_status(Status::Undecided)
        }
    }
}

fn read_side(
    context: &Context,
    args: &CompareRequest,
    path: &Path,
    pipeline: Option<&str>,
    option: &str,
) -> Result<Observed, Error> {
    if path.join(EVALUATION).exists() {
        return evaluation_side(context, args, path, pipeline, option);
    }
    if path.join("run.json").exists() {
        return read_run(context, args, path, pipeline, option);
    }
    let message = format!(
        "{} is neither a run folder nor the folder of an evaluation that came to a table",
        path.display()
    );
    let help = "name a folder that `planforge run` made, or the --out of `planforge evaluate`; an evaluation that was stopped goes on with --resume";
    Err(Error::from(request("compare.not-a-run", message).help(help)).with_status(Status::Input))
}

/// The pipeline that is meant.
fn find_column<'e>(
    path: &Path,
    columns: &'e [Column],
    pipeline: Option<&str>,
    option: &str,
) -> Result<&'e Column, Error> {
    let found = match (pipeline, columns) {
        (Some(name), _) => {
            let mut own = columns.iter().filter(|column| column.pipeline == name);
            let whole = columns.iter().find(|column| column.name() == name);
            // The pipeline's name will do where it has one column.
            whole.or_else(|| own.next().filter(|_| own.next().is_none()))
        }
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    found.ok_or_else(|| {
        let names: Vec<String> = columns.iter().map(Column::name).collect();
        let message = match pipeline {
            Some(name) if columns.iter().any(|column| column.pipeline == name) => {
                format!("{} has `{}` with several models", path.display(), escape(name))
            }
            Some(name) => format!("{} has no pipeline `{}`", path.display(), escape(name)),
            None => {
                let what = if columns.iter().any(|c| !c.model.is_empty()) {
                    "pipelines with models"
                } else {
                    "pipelines"
                };
                format!("{} has {} {what}", path.display(), columns.len())
            }
        };
        let help = format!("name one with {option}: {}", names.join(", "));
        Error::from(request("compare.pipeline", message).help(help)).with_status(Status::Usage)
    })
}

fn evaluation_side(
    context: &Context,
    args: &CompareRequest,
    path: &Path,
    pipeline: Option<&str>,
    option: &str,
) -> Result<Observed, Error> {
    let evaluation = read_evaluation(context, path)?;
    let column = find_column(path, &evaluation.columns, pipeline, option)?;
    let mut side = Observed::new(path.display().to_string(), column.name(), column.judges.clone());
    let cells: Vec<&CellResult> = evaluation.cells.iter().filter(|cell| column.holds(&cell.key)).collect();
    if args.settings.question == Question::Classes {
        side.runs = cells.len();
        let cells: Vec<CellResult> = cells.into_iter().cloned().collect();
        return by_action(side, &cells);
    }
    for cell in cells {
        let folder = path.join(cell.key.folder());
        if !folder.join("run.json").exists() && cell.count(TaskOutcome::Unfinished) == cell.tasks.len() {
            // The cell has not started.
            side.add(std::slice::from_ref(cell), None)?;
        } else if let Err(failure) = cell_with_record(context, &mut side, cell, &folder) {
            if failure.code == "record.report-changed" {
                return Err(failure.into());
            }
            side.notes
                .push(format!("{}: no costs and no samples from its record: {failure}", folder.display()));
            side.add(std::slice::from_ref(cell), None)?;
        }
    }
    Ok(side)
}

/// The side with replies for actions instead of tasks.
fn by_action(side: Observed, cells: &[CellResult]) -> Result<Observed, Error> {
    side.by_action(cells).map_err(|failure| Error::from(failure).with_status(Status::Undecided))
}

/// Adds a cell with the figures of its record. On an error the side is unchanged.
fn cell_with_record(
    context: &Context,
    side: &mut Observed,
    cell: &CellResult,
    folder: &Path,
) -> Result<(), Failure> {
    let run = RunFolder::open(folder, Arc::default())?;
    // A run that is not finished has no report beside it, and then its plans are not known.
    let report = read_report(context, &run)?;
    let parts = RunParts { manifest: run.manifest(), journal: &run, report: report.as_ref() };
    side.add(std::slice::from_ref(cell), Some(parts))
}

fn read_run(
    context: &Context,
    args: &CompareRequest,
    path: &Path,
    pipeline: Option<&str>,
    option: &str,
) -> Result<Observed, Error> {
    let run = RunFolder::open(path, Arc::default())?;
    let manifest = run.manifest();
    let config = &manifest.config;
    let name = Path::new(&config.path)
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    if let Some(wanted) = pipeline.filter(|wanted| *wanted != name) {
        let message =
            format!("{} is a run of `{}`, not of `{}`", path.display(), escape(&name), escape(wanted));
        let help = format!("leave {option} out, for a run has one pipeline");
        return Err(Error::from(request("compare.pipeline", message).help(help)).with_status(Status::Usage));
    }
    let checked = check_recorded(context, manifest, &[])?;
    let plugins = |id: &str| {
        let recorded = manifest.plugins.iter().find(|plugin| plugin.id == id);
        let facts = PluginFacts::of(&*checked.registry.info(id).ok()?);
        Some(match recorded.filter(|plugin| !plugin.measures.is_empty()) {
            Some(plugin) => PluginFacts { measures: plugin.measures.clone(), ..facts },
            None => facts,
        })
    };
    let judges = Judges::of(&checked.pipeline.config, plugins);
    let report = match read_report(context, &run)? {
        Some(report) => report,
        None => {
            replay_run(context, &Arc::new(RunFolder::open(path, Arc::default())?), args.jobs, None)?.0.report
        }
    };
    let mut side = Observed::new(path.display().to_string(), &name, judges.clone());
    let cells: Vec<CellResult> = split_by_suite(&report)
        .into_iter()
        .map(|report| {
            let suite = report.tasks.first().map(|task| task.suite.clone()).unwrap_or_default();
            let key = CellKey { suite, pipeline: name.clone(), model: String::new(), seed: manifest.seed };
            unfinished_where_not_ended(CellResult::of(key, &report, &judges), &run)
        })
        .collect();
    if args.settings.question == Question::Classes {
        side.runs = 1;
        let cells = add_classes(&run, &judges, cells)?;
        return by_action(side, &cells);
    }
    side.add(&cells, Some(RunParts { manifest, journal: &run, report: Some(&report) }))?;
    Ok(side)
}

/// Adds the result classes of a run's replies to its cell. Actions of several suites in one run cannot be
/// distinguished.
fn add_classes(
    run: &RunFolder,
    judges: &Judges,
    mut cells: Vec<CellResult>,
) -> Result<Vec<CellResult>, Failure> {
    let (Some(stages), [cell]) = (&judges.classes, &mut cells[..]) else {
        let message = match judges.classes {
            Some(_) => "the run has tasks of several suites, whose actions cannot be distinguished",
            None => "no stage of the run classifies actions",
        };
        let help = "compare runs over one suite, or evaluations, with a stage of `verifier-classes`";
        return Err(request("compare.not-asked", message.to_owned()).help(help));
    };
    let tasks = stored_tasks(run.manifest())?;
    let domain = tasks.first().and_then(|task| task.reference.domain.as_deref()).unwrap_or_default();
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let actions: Vec<String> = domain.actions.iter().map(|action| action.name.to_string()).collect();
    cell.classes = Some(CellClasses::read(run, stages, &actions)?);
    Ok(cells)
}

/// A report for each suite of a run.
fn split_by_suite(report: &RunReport) -> Vec<RunReport> {
    let mut suites: Vec<RunReport> = Vec::new();
    for task in &report.tasks {
        let own = |known: &&mut RunReport| known.tasks.first().is_some_and(|first| first.suite == task.suite);
        match suites.iter_mut().find(own) {
            Some(known) => known.tasks.push(task.clone()),
            None => suites.push(RunReport { tasks: vec![task.clone()], ..report.clone() }),
        }
    }
    suites
}
