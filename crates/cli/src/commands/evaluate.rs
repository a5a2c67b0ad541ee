//! `planforge evaluate`: suites x pipelines x models x seeds, one run folder for each cell and one table for
//! all; and `planforge evaluate merge`, which makes the table of cells that were run elsewhere.
//!
//! A cell with a `report.json` is finished and only read; one with just a `run.json` is resumed. So an
//! evaluation can be stopped at any moment, and nothing is paid for twice. On request, failed calls of
//! finished cells are retried.

use crate::args::DryRunArgs;
use crate::args::ProgressArgs;
use crate::args::positive;
use std::path::PathBuf;
mod cell;
mod columns;
mod dry_run;
mod ending;
mod levels;
mod matrix;
mod merge;
mod outcomes;
mod overrides;
mod schedule;
mod tables;
mod work;

use self::cell::Cell;
use self::columns::{ColumnFile, columns};
use self::ending::{print_ending, print_shard_ending};
use self::levels::with_level_suites;
use self::matrix::{claim, matrix, store, suites};
use self::outcomes::EvaluationOutcome;
use self::tables::publish;
use self::work::{EvaluationSetup, RunSettings};
use crate::batch::Batch;
use crate::context::Context;
use crate::exit::Exit;
use crate::files::{unwritable, write};
use crate::outcome;
use crate::pipeline::PluginsAndPrices;
use crate::tasks::tasks_of;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::matrix::{Filter, Matrix, Selection, Shard, UnmatchedFilter};
use planforge_evaluate::results::{CellResult, Evaluation};
use planforge_evaluate::sums::is_unchanged;
use planforge_evaluate::tables::junit;
use planforge_model_api::batch::Wave;
use planforge_pipeline::Suite;
use planforge_record::Redactor;
use std::path::Path;
use std::sync::Mutex;

/// Run pipelines over suites with several seeds and tabulate the results.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  planforge evaluate --suite examples/suites/garden --suite examples/suites/parcels \\
      --pipeline configs/pipelines/intrinsic.toml --pipeline configs/pipelines/llm-p.toml --seeds 42-45 --out evaluation
  planforge evaluate --suite examples/suites/garden --pipeline configs/pipelines/llm-p.toml --model openai:gpt-4o \\
      --model anthropic:claude-sonnet-4-6 --out evaluation
  planforge evaluate --matrix matrix.toml --out evaluation
  planforge evaluate --matrix matrix.toml --out evaluation --dry-run
  planforge evaluate --matrix configs/matrices/benchmark.toml --model anthropic:claude-sonnet-4-6 --layout methods --out benchmark
  planforge evaluate --resume --out evaluation
  planforge evaluate --resume --out large --layout accuracy --also small
  planforge evaluate --resume --out scaling --layout scaling --base bon --curves scaling/curves
  planforge evaluate --suite examples/suites/termes --pipeline configs/pipelines/bon-ivml.toml --seeds 1 --tasks 1 --out scaling \\
      --layout scaling --set stage.pddl.options.what=domain --set stage.pddl.options.parser=val \\
      --set 'stage.pddl.options.parser_command=[\"/opt/val/bin/Parser\"]'
  planforge evaluate --matrix matrix.toml --out evaluation --only model=small --only task=p0* --junit tasks.xml
  planforge evaluate --retry-errors --out evaluation
  planforge evaluate --matrix matrix.toml --out shared --resume --shard 3/8

Exits with 0 where every task of the cells that were to be run has a verdict; otherwise with what kept the first one from it: 20s for limits
and no decision, 30s for what broke. --fail-on negative also exits with 10 where a task is not solved, --fail-on failed counts what broke
alone. Interrupted: 29; something that stops the whole evaluation: 30s.")]
pub(crate) struct EvaluateCommandArgs {
    #[command(subcommand)]
    command: Option<EvaluateCommand>,
    #[command(flatten)]
    args: EvaluateArgs,
}

#[derive(Debug, Subcommand)]
enum EvaluateCommand {
    Merge(Box<merge::MergeArgs>),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("axes").args(["matrix", "suite"]).multiple(true))]
pub(crate) struct EvaluateArgs {
    /// A file that names suites, pipelines, models and seeds; `planforge explain evaluate.matrix` shows one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "pipeline", "seeds", "tasks", "overrides", "add_on"])]
    pub(crate) matrix: Option<PathBuf>,
    /// A suite folder: a row of the table. May be given several times.
    #[arg(long, value_name = "DIR", requires = "pipeline")]
    pub(crate) suite: Vec<PathBuf>,
    /// A pipeline file: a column of the table. May be given several times.
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub(crate) pipeline: Vec<PathBuf>,
    /// The seeds of the runs, such as `42-45` or `1,2,7` [default: 42-45].
    #[arg(long, value_name = "SEEDS", requires = "suite")]
    pub(crate) seeds: Option<String>,
    /// At most so many tasks of each suite, the first by name; all where it is not given.
    #[arg(long, value_name = "N", requires = "suite", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Override a key of every pipeline file, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "suite")]
    pub(crate) overrides: Vec<String>,
    /// Run every pipeline with this model in `[llm.main]`, as in `planforge run`, in the place of the models of --matrix. May be given several
    /// times: each is a column.
    #[arg(long = "model", value_name = "MODEL", requires = "axes")]
    pub(crate) models: Vec<String>,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml replace those of a suite, as in
    /// `planforge run`. Repeatable.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Folder for the tables and, in `cells/SUITE/PIPELINE[@MODEL]/SEED`, the run folders.
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) out: Option<PathBuf>,
    /// Resume the evaluation in the output folder. Finished cells are read, including their failures; the
    /// others are run or resumed. The matrix is read from there unless it is given; it may have grown.
    #[arg(long)]
    pub(crate) resume: bool,
    /// As --resume, and failed calls of finished cells are retried. Everything else comes from their records.
    #[arg(long)]
    pub(crate) retry_errors: bool,
    /// Run only these cells and tasks: suite=, pipeline=, model=, seed= or task=, and values separated by
    /// commas; `*` and `?` are wildcards. The table stays complete and shows the others as not run, or with
    /// their earlier results. Repeatable: values of one axis add up, axes restrict each other.
    #[arg(long, value_name = "AXIS=VALUES", value_parser = Filter::parse)]
    pub(crate) only: Vec<Filter>,
    /// Do not run these cells and tasks; written as --only.
    #[arg(long, value_name = "AXIS=VALUES", value_parser = Filter::parse)]
    pub(crate) except: Vec<Filter>,
    /// Run part I of N of the cells, for a scheduler that starts N processes on one shared folder: every N-th cell of the matrix, from the
    /// I-th on. It writes the run folders of its cells and no table; `planforge evaluate merge` makes those.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["curves", "figures", "also", "junit"])]
    pub(crate) shard: Option<Shard>,
    /// A file with replies to waiting requests, as in `planforge run`. It is copied to the output folder. May be given several times.
    #[arg(long, value_name = "FILE", requires = "resume", num_args = 1..)]
    pub(crate) answers: Vec<PathBuf>,
    /// Also write the replies of each cell into a cassette `SUITE.PIPELINE[@MODEL].SEED.jsonl` in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Take every reply from the cassettes in this folder, written by --record and possibly compressed by
    /// gzip; send no request. Cassettes of other pipelines over the same suite and seed are also searched.
    #[arg(long, value_name = "DIR")]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) ending: ExitArgs,
    /// Tasks and samples in parallel, over all cells.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Cells in parallel, at most --jobs, which they share evenly. Each cell is a separate run, so limits of
    /// a model table for a run (max_concurrency, rates, caps) apply to each cell: N cells may send a server N
    /// times as many requests at a time.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) cells: u32,
}

/// Results for continuous integration: JUnit file and exit code.
#[derive(Debug, Args)]
pub(crate) struct ExitArgs {
    /// Also write the tasks as JUnit XML, a test suite for each cell: not solved is a failure, broken an error, undecided and unfinished are
    /// skipped.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// From when on the exit code is not 0.
    #[arg(long, value_enum, default_value_t = FailThreshold::Undecided, value_name = "WHAT")]
    pub(crate) fail_on: FailThreshold,
}

/// The outcome of a task from which on the exit code is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailThreshold {
    /// A task that is not solved (10), undecided (20s) or broken (30s).
    Negative,
    /// A task that is undecided (20s) or broken (30s).
    Undecided,
    /// A task that broke (30s).
    Failed,
}

/// Contents and format of the tables.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// The contents of the table.
    #[arg(long, value_enum, default_value_t = Layout::Walks, value_name = "LAYOUT")]
    pub(crate) layout: Layout,
    /// The verify stage that decides whether a problem is right [default: the last one of
    /// `verifier-equivalence`].
    #[arg(long, value_name = "LABEL")]
    pub(crate) accuracy_by: Option<String>,
    /// The method that the others are compared with (`--layout scaling`): differences in percentage points.
    #[arg(long, value_name = "METHOD")]
    pub(crate) base: Option<String>,
    /// Another name for a pipeline (`--layout scaling`, `plans` and `classes`). Pipelines of the same name
    /// share a row, for example bon.toml for domains from texts and its variant for domains from problems.
    /// Repeatable.
    #[arg(long, value_name = "PIPELINE=METHOD", value_parser = parse_method)]
    pub(crate) method: Vec<(String, String)>,
    /// Also write success over samples and over rounds (test-time-scaling paper, Fig. 3 to 5) into this folder: curves.csv, curves.json,
    /// curves_samples.svg and curves_rounds.svg.
    #[arg(long, value_name = "DIR")]
    pub(crate) curves: Option<PathBuf>,
    /// Also draw result classes (domain-generators paper, Fig. 2 to 5) into this folder: fig2_classes.svg, fig2_different.svg, fig3_size.svg,
    /// fig4_descriptions.svg, fig5_are.svg and, where there are rounds, rounds.svg; with figures.csv, fig5_are.csv and figures.json.
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
    /// The verify stage whose result classes are counted; without this the last one of `verifier-classes` outside rounds.
    #[arg(long, value_name = "LABEL")]
    pub(crate) classes_by: Option<String>,
    /// The action reconstruction error in tables and figures of `--layout classes`. Files contain all three.
    #[arg(long, value_enum, default_value_t = AreReading::Position, value_name = "READING")]
    pub(crate) are: AreReading,
    /// A model's size in billions of parameters, for the figure over sizes [default: the size in the model's
    /// name, such as `7b`, `1.5B` or `350m`, or none]. Repeatable.
    #[arg(long, value_name = "MODEL=BILLIONS", value_parser = parse_model_size)]
    pub(crate) model_size: Vec<(String, f64)>,
    /// Print the tables as Markdown (not of `--layout walks`).
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Folder of another evaluation whose columns are added to the table (not with `--layout walks`), for
    /// example of another model. Repeatable.
    #[arg(long, value_name = "DIR")]
    pub(crate) also: Vec<PathBuf>,
    /// Print one JSON object instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The contents of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// Tasks solved and walk score, the best of the seeds (exploration-walk paper, Table 2).
    Walks,
    /// Problems equal to the reference problem, averaged over the seeds (translate-infer-compile paper,
    /// Tables 1 and 2), with valid PDDL and tasks solved.
    Accuracy,
    /// Domains written, by method and by criterion: VAL's Parser accepts, planforge's reader accepts, the
    /// walk score is 1, the domain equals the reference, the plan is valid (test-time-scaling paper, Table
    /// 2); with replies, walk score and cost.
    Scaling,
    /// Plan accuracy by domain: models that plan and methods that write PDDL, and the reasons why plans fail
    /// (test-time-scaling paper, Table 5 and section 4.6).
    Plans,
    /// Result classes of actions written one by one: shares by model, method and description class, by domain
    /// and action, and after each round (domain-generators paper, Table 1); with reconstruction errors and
    /// the exact comparison.
    Classes,
    /// One sentence for each method: tasks solved with interval, calls, tokens and cost; then null baselines, and tasks solved by the level of
    /// texts and by size.
    Methods,
}

impl Layout {
    /// The name of its files.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Walks => "table",
            Self::Accuracy => "accuracy",
            Self::Scaling => "scaling",
            Self::Plans => "plans",
            Self::Classes => "classes",
            Self::Methods => "methods",
        }
    }
}

/// The action reconstruction error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AreReading {
    /// A variable is the one of the same name: the paper's definition read literally.
    Name,
    /// A parameter is the one at the same place, as the paper's code counts.
    Position,
    /// The minimum over bijections between parameters of the same type.
    Least,
}

/// `gpt-x=200`. The last `=` counts, for a model's name may hold others.
fn parse_model_size(text: &str) -> Result<(String, f64), String> {
    let (model, size) = text.rsplit_once('=').ok_or("write MODEL=BILLIONS, such as my-model=7")?;
    let size: f64 = size.trim().parse().map_err(|_| format!("`{}` is not a number", size.trim()))?;
    match (model.trim(), size.is_finite() && size > 0.0) {
        ("", _) => Err("the model may not be empty".to_owned()),
        (_, false) => Err("a size is above 0".to_owned()),
        (model, true) => Ok((model.to_owned(), size)),
    }
}

/// Parses `PIPELINE=METHOD`.
fn parse_method(text: &str) -> Result<(String, String), String> {
    let (pipeline, method) = text.split_once('=').ok_or("write PIPELINE=METHOD, such as bon-prob=bon")?;
    match (pipeline.trim(), method.trim()) {
        ("", _) | (_, "") => Err("neither the pipeline nor the method may be empty".to_owned()),
        (pipeline, method) => Ok((pipeline.to_owned(), method.to_owned())),
    }
}

/// The matrix, in the output folder.
const MATRIX: &str = "matrix.json";
/// The results, in the output folder.
pub(crate) const EVALUATION: &str = "evaluation.json";

/// The results of an evaluation, if they are those that it wrote.
pub(crate) fn read_evaluation(context: &Context, folder: &Path) -> Result<Evaluation, Exit> {
    let path = folder.join(EVALUATION);
    let text = context.read_text(&path)?;
    let unchanged = is_unchanged(folder, EVALUATION, text.as_bytes());
    if !unchanged.map_err(|failure| context.print_failure(&failure))? {
        let shown = path.display();
        context.output.note_once(&format!(
            "warning: {shown} was written by a version of planforge that recorded no hash of it, so changes to it cannot be noticed; \
             `planforge evaluate merge {}` writes it with one",
            folder.display()
        ));
    }
    context.parse_json(&path, &text)
}

pub(crate) fn run(context: &Context, args: &EvaluateCommandArgs) -> Exit {
    let args = match &args.command {
        Some(EvaluateCommand::Merge(args)) => return merge::run(context, args),
        None => &args.args,
    };
    // The parser requires it.
    let Some(out) = &args.out else { return Exit::Usage };
    let context = &context.with_progress(args.progress.display());
    match run_matrix(context, args, out) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn run_matrix(context: &Context, args: &EvaluateArgs, out: &Path) -> Result<Exit, Exit> {
    let matrix = matrix(context, args, out)?;
    let plugins = PluginsAndPrices::new(context)?;
    let columns = columns(context, &args.tables, &matrix, &plugins)?;
    if let Some(replay) = args.replay.as_ref().filter(|path| !path.is_dir()) {
        let message = format!("--replay: {} is not a folder", replay.display());
        return Err(context
            .usage_error(message, Some("name the folder of `--record`, which has a file for each cell")));
    }
    let scratch = args.dry.dry_run.then(tempfile::tempdir).transpose();
    let scratch = scratch.map_err(|error| unwritable(context, out, &error))?;
    let matrix = with_level_suites(context, matrix, out, scratch.as_ref().map(tempfile::TempDir::path))?;
    let suites = suites(context, &matrix, &columns)?;
    let redactor = Redactor::new(columns.iter().flat_map(|column| &column.secrets));
    // A dry run keeps no file, and changes nothing on disk.
    let given = if args.dry.dry_run { &[][..] } else { &args.answers };
    // Shards share no file, so each has its own batch files.
    let of_shard = |Shard { part, of }| out.join("shards").join(format!("{part}-of-{of}"));
    let questions = args.shard.map_or_else(|| out.to_owned(), of_shard);
    let batch = Batch::collect_answers(context, &questions, given, &redactor)?;
    let work = EvaluationSetup {
        context,
        out,
        matrix: &matrix,
        plugins: &plugins,
        suites: &suites,
        columns: &columns,
        selection: Selection { only: args.only.clone(), except: args.except.clone(), shard: args.shard },
        running: Some(RunSettings {
            record: args.record.as_ref(),
            replay: args.replay.as_ref(),
            retry: args.retry_errors,
            jobs: args.jobs as usize,
            side_by_side: args.cells as usize,
            batch: &batch,
            pending: Mutex::default(),
        }),
        fail_on: args.ending.fail_on,
    };
    for column in &columns {
        // Before anything is run: a suite that lacks what a pipeline is given is found now.
        let checked = work.check(column, matrix.seeds.first().copied().unwrap_or_default())?;
        tasks_of(context, &checked, suites.clone())?;
    }
    check_selection(context, &work)?;
    if args.dry.dry_run {
        let facts = work.facts()?;
        crate::dry_run::print(context, &facts, &args.dry, args.tables.json);
        return Ok(Exit::Good);
    }
    let plan = work.plan();
    store_matrix(context, args, out, &matrix, &plan)?;
    let outcomes = work.outcomes(&plan);
    let exit = outcomes.exit();
    let waits = write_pending(context, &work, &outcomes, (&batch, &redactor))?;
    if let Some(shard) = args.shard {
        let how = format!("planforge evaluate --resume --shard {shard} --out {}", out.display());
        print_shard_ending(context, out, shard, &outcomes);
        waits.iter().for_each(|wave| batch.print_pending(context, wave, &how));
        return Ok(exit);
    }
    let cells = outcomes.cells.iter().map(|outcome| outcome.result.clone()).collect();
    write_results(
        context,
        out,
        (&args.tables, &args.ending),
        (&matrix, &columns, &suites),
        (cells, waits.as_ref()),
    )?;
    if let Some(wave) = &waits {
        batch.print_pending(context, wave, &format!("planforge evaluate --resume --out {}", out.display()));
    }
    print_ending(context, out, &outcomes, exit);
    Ok(exit)
}

/// Writes the matrix. A shard may find that of another shard, but its own cells only when it resumes.
fn store_matrix(
    context: &Context,
    args: &EvaluateArgs,
    out: &Path,
    matrix: &Matrix,
    plan: &[Cell<'_>],
) -> Result<(), Exit> {
    let Some(shard) = args.shard else { return store(context, out, matrix) };
    claim(context, out, matrix)?;
    let started = plan.iter().find(|cell| cell.selected && cell.folder().join("run.json").exists());
    match started.filter(|_| !args.resume && !args.retry_errors) {
        Some(cell) => {
            let folder = cell.folder();
            let help = format!("continue with --resume --shard {shard}");
            Err(context.usage_error(format!("{} already exists", folder.display()), Some(&help)))
        }
        None => Ok(()),
    }
}

/// Writes pending requests to batch files. After an interruption the list would be incomplete, so none is
/// written.
fn write_pending(
    context: &Context,
    work: &EvaluationSetup<'_>,
    outcomes: &EvaluationOutcome,
    (batch, redactor): (&Batch, &Redactor),
) -> Result<Option<Wave>, Exit> {
    let Some(running) = work.running.as_ref().filter(|_| outcomes.exit() != Exit::Interrupted) else {
        return Ok(None);
    };
    let wave = batch.write_requests(context, &running.pending(), redactor)?;
    Ok(Some(wave).filter(|wave| wave.pending > 0))
}

/// Everything that is made of the cells: tables, figures, JUnit.
fn write_results(
    context: &Context,
    out: &Path,
    (tables, ending): (&TableArgs, &ExitArgs),
    (matrix, columns, suites): (&Matrix, &[ColumnFile], &[Suite]),
    (cells, waits): (Vec<CellResult>, Option<&Wave>),
) -> Result<(), Exit> {
    let judges = columns.iter().map(|column| (column.name.clone(), column.judges.clone())).collect();
    let evaluation = Evaluation::new(matrix.seeds.clone(), &judges, cells).with_baselines(suites);
    if let Some(file) = &ending.junit {
        let text = junit(&evaluation.cells).map_err(|failure| context.print_failure(&failure))?;
        write(context, file, text.as_bytes())?;
    }
    publish(context, out, tables, &evaluation, waits)?;
    for moved in evaluation.fallbacks() {
        context.output.note(&outcome::fallback_line(&moved));
    }
    context.output.note(&format!("tables and run folders are in {}", out.display()));
    if !tables.json {
        context.output.note(&format!("`planforge report {}` shows it as one HTML file", out.display()));
    }
    Ok(())
}

/// Filters that match nothing, or leave nothing, are mistakes.
fn check_selection(context: &Context, work: &EvaluationSetup<'_>) -> Result<(), Exit> {
    let mut found: Vec<Diagnostic> =
        work.selection.mistakes(&work.axes()).iter().map(UnmatchedFilter::diagnostic).collect();
    let whole = Selection { shard: None, ..work.selection.clone() };
    let nothing = || !work.plan().iter().any(|cell| whole.takes_cell(0, &cell.key) && cell.has_tasks());
    if found.is_empty() && !whole.is_whole() && nothing() {
        let message = "the filters together leave no cell of the matrix".to_owned();
        found.push(
            Diagnostic::error("evaluate.filter", message).help("axes narrow each other: leave one out"),
        );
    }
    if found.is_empty() {
        return Ok(());
    }
    context.output.diagnostics(&found, &SourceMap::default());
    Err(Exit::Usage)
}
