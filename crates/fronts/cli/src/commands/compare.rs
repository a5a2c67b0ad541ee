//! `planforge compare`: two runs or evaluations on the same tasks.
//!
//! The outcomes of an evaluation are in its `evaluation.json`. A run of an evaluation has its report beside
//! it; other records are replayed, which gives the same verdicts. Costs and samples come from the records.

use super::evaluate;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use crate::manifest::stored_tasks;
use crate::pipeline::check_recorded;
use crate::recorded_run::read_report;
use crate::recorded_run::replay_run;
use crate::run_names::run_argument;
use clap::{Args, ValueEnum};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_diagnostics::render::escape;
use planforge_evaluate::compare::{
    Cluster, NoComparison, Observed, PairBy, PairKey, Question, RunParts, Settings, compare,
    unfinished_where_not_ended,
};
use planforge_evaluate::results::{
    CellClasses, CellKey, CellResult, Column, Evaluation, Judges, PluginFacts, TaskOutcome,
};
use planforge_evaluate::wrapped;
use planforge_pipeline::RunReport;
use planforge_record::RunFolder;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

/// Compare two runs or evaluations on the same tasks: solved tasks, costs, certainty.
///
/// Tasks are paired by suite, task and seed; unpaired ones are listed. A task that is undecided, not
/// comparable, broken or not run is neither right nor wrong: its pair is excluded from tests, counted and
/// listed, and bounds show its possible effect.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge compare runs/20261121-101500-llm-p runs/20261121-113000-tic-ic
  planforge compare evaluation evaluation --pipeline-a llm-p --pipeline-b tic-ic --by problem
  planforge compare small large --cluster suite --markdown
  planforge compare base flipped --by classes
  planforge compare small large --samples-of domain --judge pddl --k 1,5,10 --json

Exits with 0 if a test was made, whatever its result. Exits with 20 if no task has runs on both
sides, if no pair is decided on both sides, or if no stage measures what --by names.")]
pub(crate) struct CompareArgs {
    /// A run folder, or the output folder of an evaluation.
    #[arg(value_parser = run_argument())]
    pub(crate) a: PathBuf,
    /// Another; it may be the same evaluation with another pipeline.
    #[arg(value_parser = run_argument())]
    pub(crate) b: PathBuf,
    /// The pipeline of A, where A is an evaluation of several.
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline_a: Option<String>,
    /// The pipeline of B, where B is an evaluation of several.
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline_b: Option<String>,
    /// The criterion of success.
    #[arg(long, value_enum, default_value_t = CompareBy::Solved, value_name = "WHAT")]
    pub(crate) by: CompareBy,
    /// The pairing of runs of a task.
    #[arg(long, value_enum, default_value_t = ComparePairs::Seed, value_name = "HOW")]
    pub(crate) pair_by: ComparePairs,
    /// The unit that tests flip and the bootstrap draws as a whole.
    #[arg(long, value_enum, default_value_t = CompareCluster::Task, value_name = "WHAT")]
    pub(crate) cluster: CompareCluster,
    /// The stage whose samples Pass@k and Best@k are about [default: the last one that drew several].
    #[arg(long, value_name = "LABEL")]
    pub(crate) samples_of: Option<String>,
    /// The verify stage that judges samples [default: the one that decides success].
    #[arg(long, value_name = "LABEL")]
    pub(crate) judge: Option<String>,
    /// The metric of Best@k, such as `ew.rating` [default: the walk score].
    #[arg(long, value_name = "LABEL.NAME", value_parser = parse_metric)]
    pub(crate) metric: Option<String>,
    /// The values of k, such as `1,5,10` [default: 1, 2, 4, ... and the number of samples].
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = positive)]
    pub(crate) k: Vec<usize>,
    /// Confidence of intervals, above 0 and below 1.
    #[arg(long, default_value_t = 0.95, value_name = "SHARE", value_parser = parse_confidence)]
    pub(crate) confidence: f64,
    /// Samples that the bootstrap draws.
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: u32,
    /// The bootstrap's seed.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Tasks replayed in parallel, for runs without a report.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object.
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Print one CSV table with a row a figure.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) csv: bool,
    /// Print Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// The criterion of success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareBy {
    /// The task is solved: the environment's word on the plan, else the task's verdict.
    Solved,
    /// The problem is the reference problem.
    Problem,
    /// The problem is valid PDDL.
    Valid,
    /// VAL's Parser accepts what was written.
    Val,
    /// planforge's reader accepts the domain.
    FrontEnd,
    /// The walk score is 1.
    Walk,
    /// The domain is the reference domain.
    Domain,
    /// An action is equivalent: replies are paired by action, as a stage of `verifier-classes` classifies them.
    Classes,
}

impl From<CompareBy> for Question {
    fn from(by: CompareBy) -> Self {
        match by {
            CompareBy::Solved => Self::Solved,
            CompareBy::Problem => Self::Problem,
            CompareBy::Valid => Self::Valid,
            CompareBy::Val => Self::Val,
            CompareBy::FrontEnd => Self::FrontEnd,
            CompareBy::Walk => Self::Walk,
            CompareBy::Domain => Self::Domain,
            CompareBy::Classes => Self::Classes,
        }
    }
}

/// The pairing of runs of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparePairs {
    /// By seed.
    Seed,
    /// In the order of their seeds, even if the seeds differ.
    Task,
}

impl From<ComparePairs> for PairBy {
    fn from(by: ComparePairs) -> Self {
        match by {
            ComparePairs::Seed => Self::Seed,
            ComparePairs::Task => Self::Task,
        }
    }
}

/// The unit of resampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareCluster {
    /// The runs of a task under several seeds.
    Task,
    /// All tasks of a suite: where one domain is written for all of them.
    Suite,
}

impl From<CompareCluster> for Cluster {
    fn from(cluster: CompareCluster) -> Self {
        match cluster {
            CompareCluster::Task => Self::Task,
            CompareCluster::Suite => Self::Suite,
        }
    }
}

fn parse_confidence(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("`{text}` is not a share above 0 and below 1, such as 0.95"))
}

fn parse_metric(text: &str) -> Result<String, String> {
    match text.split_once('.') {
        Some((label, name)) if !label.is_empty() && !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write LABEL.NAME, such as ew.rating".to_owned()),
    }
}

/// Unpaired runs named in a message, for each side.
const NAMED: usize = 3;

pub(crate) fn run(context: &Context, args: &CompareArgs) -> Exit {
    match compare_sides(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn compare_sides(context: &Context, args: &CompareArgs) -> Result<Exit, Exit> {
    let a = read_side(context, args, &args.a, args.pipeline_a.as_deref(), "--pipeline-a")?;
    let b = read_side(context, args, &args.b, args.pipeline_b.as_deref(), "--pipeline-b")?;
    let settings = Settings {
        question: args.by.into(),
        cluster: args.cluster.into(),
        pair_by: args.pair_by.into(),
        confidence: args.confidence,
        resamples: args.resamples as usize,
        seed: args.seed,
        samples_of: args.samples_of.clone(),
        judge: args.judge.clone(),
        metric: args.metric.clone(),
        k: args.k.clone(),
    };
    let comparison = compare(&a, &b, &settings).map_err(|why| print_no_comparison(context, &why))?;
    let output = &context.output;
    match (args.json, args.csv, args.markdown) {
        (true, ..) => output.json(&comparison),
        (_, true, _) => output.result(&comparison.csv()),
        (.., true) => output.result(&comparison.markdown()),
        _ => output.result(&wrapped(&comparison.text())),
    }
    // A pair that is open on one side decides nothing.
    Ok(if comparison.success.p.is_some() { Exit::Good } else { Exit::Undecided })
}

fn request(code: &'static str, message: String) -> Failure {
    Failure::new(FailureClass::Request, code, message)
}

/// Prints the reason why there is no comparison.
fn print_no_comparison(context: &Context, why: &NoComparison) -> Exit {
    match why {
        NoComparison::Twice(which) => {
            let message = format!(
                "a run of a task is there twice, so that it is not clear which counts: {}",
                escape(which)
            );
            context.print_failure(&request("compare.twice", message));
            Exit::Input
        }
        NoComparison::NotAsked(side) => {
            let message =
                format!("no stage of {} says what `--by` asks for, of any paired task", escape(side));
            let help = "choose another `--by`, or add a verify stage that says it";
            context.print_failure(&request("compare.not-asked", message).help(help));
            Exit::Undecided
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
            context.print_failure(&request("compare.nothing-paired", message).help(help));
            Exit::Undecided
        }
    }
}

fn read_side(
    context: &Context,
    args: &CompareArgs,
    path: &Path,
    pipeline: Option<&str>,
    option: &str,
) -> Result<Observed, Exit> {
    if path.join(evaluate::EVALUATION).exists() {
        return read_evaluation(context, args, path, pipeline, option);
    }
    if path.join("run.json").exists() {
        return read_run(context, args, path, pipeline, option);
    }
    let message = format!(
        "{} is neither a run folder nor the folder of an evaluation that came to a table",
        path.display()
    );
    let help = "name a folder that `planforge run` made, or the --out of `planforge evaluate`; an evaluation that was stopped goes on with --resume";
    context.print_failure(&request("compare.not-a-run", message).help(help));
    Err(Exit::Input)
}

/// The pipeline that is meant.
fn find_column<'e>(
    context: &Context,
    path: &Path,
    columns: &'e [Column],
    pipeline: Option<&str>,
    option: &str,
) -> Result<&'e Column, Exit> {
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
        context.print_failure(&request("compare.pipeline", message).help(help));
        Exit::Usage
    })
}

fn read_evaluation(
    context: &Context,
    args: &CompareArgs,
    path: &Path,
    pipeline: Option<&str>,
    option: &str,
) -> Result<Observed, Exit> {
    let evaluation: Evaluation = evaluate::read_evaluation(context, path)?;
    let column = find_column(context, path, &evaluation.columns, pipeline, option)?;
    let mut side = Observed::new(path.display().to_string(), column.name(), column.judges.clone());
    let cells: Vec<&CellResult> = evaluation.cells.iter().filter(|cell| column.holds(&cell.key)).collect();
    if args.by == CompareBy::Classes {
        side.runs = cells.len();
        let cells: Vec<CellResult> = cells.into_iter().cloned().collect();
        return by_action(context, side, &cells);
    }
    for cell in cells {
        let folder = path.join(cell.key.folder());
        if !folder.join("run.json").exists() && cell.count(TaskOutcome::Unfinished) == cell.tasks.len() {
            // The cell has not started.
            add_cells(context, &mut side, std::slice::from_ref(cell), None)?;
        } else if let Err(failure) = cell_with_record(context, &mut side, cell, &folder) {
            if failure.code == "record.report-changed" {
                return Err(context.print_failure(&failure));
            }
            side.notes
                .push(format!("{}: no costs and no samples from its record: {failure}", folder.display()));
            add_cells(context, &mut side, std::slice::from_ref(cell), None)?;
        }
    }
    Ok(side)
}

/// The side with replies for actions instead of tasks.
fn by_action(context: &Context, side: Observed, cells: &[CellResult]) -> Result<Observed, Exit> {
    side.by_action(cells).map_err(|failure| {
        context.print_failure(&failure);
        Exit::Undecided
    })
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

fn add_cells(
    context: &Context,
    side: &mut Observed,
    cells: &[CellResult],
    run: Option<RunParts<'_>>,
) -> Result<(), Exit> {
    side.add(cells, run).map_err(|failure| context.print_failure(&failure))
}

fn read_run(
    context: &Context,
    args: &CompareArgs,
    path: &Path,
    pipeline: Option<&str>,
    option: &str,
) -> Result<Observed, Exit> {
    let opened =
        || RunFolder::open(path, Arc::default()).map_err(|e| context.print_failure(&Failure::from(e)));
    let run = opened()?;
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
        context.print_failure(&request("compare.pipeline", message).help(help));
        return Err(Exit::Usage);
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
    let report = match read_report(context, &run).map_err(|failure| context.print_failure(&failure))? {
        Some(report) => report,
        None => replay_run(context, &Arc::new(opened()?), args.jobs)?.0.report,
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
    if args.by == CompareBy::Classes {
        side.runs = 1;
        let cells = add_classes(&run, &judges, cells).map_err(|failure| context.print_failure(&failure))?;
        return by_action(context, side, &cells);
    }
    add_cells(context, &mut side, &cells, Some(RunParts { manifest, journal: &run, report: Some(&report) }))?;
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
