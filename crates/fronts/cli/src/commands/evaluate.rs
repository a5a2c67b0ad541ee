//! `planforge evaluate`: suites x pipelines x models x seeds, one run folder for each cell and one table for
//! all; and `planforge evaluate merge`, which makes the table of cells that were run elsewhere.

use crate::args::{DryRunArgs, ProgressArgs, positive};
use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::{WITHOUT_ANSWER, counts, fallback_line, print_estimate, print_pending};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use planforge_app::diagnostics::render::escape;
use planforge_app::evaluate::{
    AreReading, CellKey, CellResult, CellState, Classes, Column, EvaluateRequest, EvaluateResult,
    EvaluatedTables, Evaluation, EvaluationCounts, FailThreshold, Filter, Layout, MergeRequest, MissingReply,
    RecommendRequest, RecommendWish, Shard, TableRequest, TaskOutcome, estimate, evaluate, merge, recommend,
    wrapped,
};
use std::path::{Path, PathBuf};

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
    Merge(Box<MergeArgs>),
    Recommend(RecommendArgs),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("axes").args(["matrix", "suite"]).multiple(true))]
struct EvaluateArgs {
    /// A file that names suites, pipelines, models and seeds; `planforge explain evaluate.matrix` shows one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["suite", "pipeline", "seeds", "tasks", "overrides", "add_on"])]
    matrix: Option<PathBuf>,
    /// A suite folder: a row of the table. May be given several times.
    #[arg(long, value_name = "DIR", requires = "pipeline")]
    suite: Vec<PathBuf>,
    /// A pipeline file: a column of the table. May be given several times.
    #[arg(long, value_name = "FILE", requires = "suite")]
    pipeline: Vec<PathBuf>,
    /// The seeds of the runs, such as `42-45` or `1,2,7` [default: 42-45].
    #[arg(long, value_name = "SEEDS", requires = "suite")]
    seeds: Option<String>,
    /// At most so many tasks of each suite, the first by name; all where it is not given.
    #[arg(long, value_name = "N", requires = "suite", value_parser = positive)]
    tasks: Option<usize>,
    /// Override a key of every pipeline file, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "suite")]
    overrides: Vec<String>,
    /// Run every pipeline with this model in `[llm.main]`, as in `planforge run`, in the place of the models of --matrix. May be given several
    /// times: each is a column.
    #[arg(long = "model", value_name = "MODEL", requires = "axes")]
    models: Vec<String>,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml replace those of a suite, as in
    /// `planforge run`. Repeatable.
    #[arg(long, value_name = "DIR", requires = "suite")]
    add_on: Vec<PathBuf>,
    /// Folder for the tables and, in `cells/SUITE/PIPELINE[@MODEL]/SEED`, the run folders.
    #[arg(long, value_name = "DIR", required = true)]
    out: Option<PathBuf>,
    /// Resume the evaluation in the output folder. Finished cells are read, including their failures; the
    /// others are run or resumed. The matrix is read from there unless it is given; it may have grown.
    #[arg(long)]
    resume: bool,
    /// As --resume, and failed calls of finished cells are retried. Everything else comes from their records.
    #[arg(long)]
    retry_errors: bool,
    /// Run only these cells and tasks: suite=, pipeline=, model=, seed= or task=, and values separated by
    /// commas; `*` and `?` are wildcards. The table stays complete and shows the others as not run, or with
    /// their earlier results. Repeatable: values of one axis add up, axes restrict each other.
    #[arg(long, value_name = "AXIS=VALUES", value_parser = Filter::parse)]
    only: Vec<Filter>,
    /// Do not run these cells and tasks; written as --only.
    #[arg(long, value_name = "AXIS=VALUES", value_parser = Filter::parse)]
    except: Vec<Filter>,
    /// Run part I of N of the cells, for a scheduler that starts N processes on one shared folder: every N-th cell of the matrix, from the
    /// I-th on. It writes the run folders of its cells and no table; `planforge evaluate merge` makes those.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["curves", "figures", "also", "junit"])]
    shard: Option<Shard>,
    /// A file with replies to waiting requests, as in `planforge run`. It is copied to the output folder. May be given several times.
    #[arg(long, value_name = "FILE", requires = "resume", num_args = 1..)]
    answers: Vec<PathBuf>,
    /// Also write the replies of each cell into a cassette `SUITE.PIPELINE[@MODEL].SEED.jsonl` in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Take every reply from the cassettes in this folder, written by --record and possibly compressed by
    /// gzip; send no request. Cassettes of other pipelines over the same suite and seed are also searched.
    /// Repeatable: of two replies to a request, that of the first folder is used, and the difference is named.
    #[arg(long, value_name = "DIR")]
    replay: Vec<PathBuf>,
    #[command(flatten)]
    progress: ProgressArgs,
    #[command(flatten)]
    dry: DryRunArgs,
    #[command(flatten)]
    tables: TableArgs,
    #[command(flatten)]
    ending: ExitArgs,
    /// Tasks and samples in parallel, over all cells.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: u32,
    /// Cells in parallel, at most --jobs, which they share evenly. Each cell is a separate run, so limits of
    /// a model table for a run (max_concurrency, rates, caps) apply to each cell: N cells may send a server N
    /// times as many requests at a time.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    cells: u32,
}

/// Results for continuous integration: JUnit file and exit code.
#[derive(Debug, Args)]
struct ExitArgs {
    /// Also write the tasks as JUnit XML, a test suite for each cell: not solved is a failure, broken an error, undecided and unfinished are
    /// skipped.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// From when on the exit code is not 0.
    #[arg(long, value_enum, default_value_t = FailWord::Undecided, value_name = "WHAT")]
    fail_on: FailWord,
}

/// The outcome of a task from which on the exit code is not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailWord {
    /// A task that is not solved (10), undecided (20s) or broken (30s).
    Negative,
    /// A task that is undecided (20s) or broken (30s).
    Undecided,
    /// A task that broke (30s).
    Failed,
}

/// Contents and format of the tables.
#[derive(Debug, Args)]
struct TableArgs {
    /// The contents of the table.
    #[arg(long, value_enum, default_value_t = LayoutWord::Walks, value_name = "LAYOUT")]
    layout: LayoutWord,
    /// The verify stage that decides whether a problem is right [default: the last one of
    /// `verifier-equivalence`].
    #[arg(long, value_name = "LABEL")]
    accuracy_by: Option<String>,
    /// The method that the others are compared with (`--layout scaling`): differences in percentage points.
    #[arg(long, value_name = "METHOD")]
    base: Option<String>,
    /// Another name for a pipeline (`--layout scaling`, `plans` and `classes`). Pipelines of the same name
    /// share a row, for example bon.toml for domains from texts and its variant for domains from problems.
    /// Repeatable.
    #[arg(long, value_name = "PIPELINE=METHOD", value_parser = parse_method)]
    method: Vec<(String, String)>,
    /// Also write success over samples and over rounds (test-time-scaling paper, Fig. 3 to 5) into this folder: curves.csv, curves.json,
    /// curves_samples.svg and curves_rounds.svg; for tasks of a ladder also success over size by axis: ladder.csv, ladder.json and ladder.svg.
    #[arg(long, value_name = "DIR")]
    curves: Option<PathBuf>,
    /// Also draw result classes (domain-generators paper, Fig. 2 to 5) into this folder: fig2_classes.svg, fig2_different.svg, fig3_size.svg,
    /// fig4_descriptions.svg, fig5_are.svg and, where there are rounds, rounds.svg; with figures.csv, fig5_are.csv and figures.json.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// The verify stage whose result classes are counted; without this the last one of `verifier-classes` outside rounds.
    #[arg(long, value_name = "LABEL")]
    classes_by: Option<String>,
    /// The action reconstruction error in tables and figures of `--layout classes`. Files contain all three.
    #[arg(long, value_enum, default_value_t = AreWord::Position, value_name = "READING")]
    are: AreWord,
    /// A model's size in billions of parameters, for the figure over sizes [default: the size in the model's
    /// name, such as `7b`, `1.5B` or `350m`, or none]. Repeatable.
    #[arg(long, value_name = "MODEL=BILLIONS", value_parser = parse_model_size)]
    model_size: Vec<(String, f64)>,
    /// Print the tables as Markdown (not of `--layout walks`).
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Folder of another evaluation whose columns are added to the table (not with `--layout walks`), for
    /// example of another model. Repeatable.
    #[arg(long, value_name = "DIR")]
    also: Vec<PathBuf>,
    /// Print one JSON object instead of the tables.
    #[arg(long)]
    json: bool,
}

/// The contents of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayoutWord {
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

/// The action reconstruction error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AreWord {
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

/// Make the tables of an evaluation whose cells were run elsewhere.
///
/// The cells were run by shards into one shared folder, or into several folders. Runs nothing and sends no
/// request. Every cell of the matrix is in the tables; missing and unfinished ones are shown as not run and
/// listed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge evaluate merge shared
  planforge evaluate merge shared --layout accuracy --markdown --junit tasks.xml
  planforge evaluate merge part-1 part-2 --into whole

Exits as `planforge evaluate` does, and with 29 where a cell is missing or unfinished.")]
struct MergeArgs {
    /// Folders that `planforge evaluate --out` made: one that all shards wrote to, or several parts of one evaluation with --into.
    #[arg(required = true, value_name = "OUT")]
    out: Vec<PathBuf>,
    /// Folder for the copied cells of several folders, and for the tables.
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    #[command(flatten)]
    tables: TableArgs,
    #[command(flatten)]
    ending: ExitArgs,
}

/// Recommend a method from the results of an evaluation.
///
/// The first line is the method, with its tasks that are right, the 95 % interval, requests and money. Then follow the methods that are not shown
/// to differ (paired exact test, corrected for all pairs), those that are better and over the budget, and what the results cannot show. Tasks that did
/// not end or that nothing judged count neither for nor against a method. Without --need it is the method with the highest lower end of the interval; of
/// those that are as good, the cheapest. Runs nothing and sends no request.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  planforge evaluate recommend evaluation --budget 0.05USD --need 90%

Exits with 0 where a method is recommended; 10 where none reaches the need or is within the budget; 20 where no task was judged, or no method is
known to be within the budget.")]
struct RecommendArgs {
    /// Folder of an evaluation, finished or not.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The most that a task may cost on average, such as 2USD.
    #[arg(long, value_name = "USD", value_parser = parse_budget, allow_hyphen_values = true)]
    budget: Option<f64>,
    /// The share of tasks that has to be right, such as 90%: the cheapest method is recommended that is shown to reach it, else the best whose
    /// figure does.
    #[arg(long, value_name = "PERCENT", value_parser = parse_need, allow_hyphen_values = true)]
    need: Option<f64>,
    /// Print one JSON object instead of sentences.
    #[arg(long)]
    json: bool,
}

/// Parses `2USD`; the range is checked later.
fn parse_budget(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("USD").or_else(|| text.strip_prefix('$'));
    let number = number.ok_or("write US dollars, such as 2USD or 0.05USD")?.trim();
    number.parse().map_err(|_| format!("`{number}` is not a number"))
}

/// Parses `90%`; the range is checked later.
fn parse_need(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').ok_or("write per cent, such as 90%")?.trim();
    number.parse().map_err(|_| format!("`{number}` is not a number"))
}

impl TableArgs {
    fn request(&self) -> TableRequest {
        TableRequest {
            layout: match self.layout {
                LayoutWord::Walks => Layout::Walks,
                LayoutWord::Accuracy => Layout::Accuracy,
                LayoutWord::Scaling => Layout::Scaling,
                LayoutWord::Plans => Layout::Plans,
                LayoutWord::Classes => Layout::Classes,
                LayoutWord::Methods => Layout::Methods,
            },
            accuracy_by: self.accuracy_by.clone(),
            base: self.base.clone(),
            methods: self.method.clone(),
            curves: self.curves.clone(),
            figures: self.figures.clone(),
            classes_by: self.classes_by.clone(),
            are: match self.are {
                AreWord::Name => AreReading::ByName,
                AreWord::Position => AreReading::ByPosition,
                AreWord::Least => AreReading::Least,
            },
            model_sizes: self.model_size.clone(),
            also: self.also.clone(),
        }
    }
}

impl ExitArgs {
    const fn threshold(&self) -> FailThreshold {
        match self.fail_on {
            FailWord::Negative => FailThreshold::Negative,
            FailWord::Undecided => FailThreshold::Undecided,
            FailWord::Failed => FailThreshold::Failed,
        }
    }
}

impl EvaluateArgs {
    fn request(&self, out: &Path) -> EvaluateRequest {
        EvaluateRequest {
            matrix: self.matrix.clone(),
            suites: self.suite.clone(),
            pipelines: self.pipeline.clone(),
            seeds: self.seeds.clone(),
            tasks: self.tasks,
            set: self.overrides.clone(),
            add_ons: self.add_on.clone(),
            models: self.models.clone(),
            out: out.to_owned(),
            resume: self.resume,
            retry_errors: self.retry_errors,
            only: self.only.clone(),
            except: self.except.clone(),
            shard: self.shard,
            answers: self.answers.clone(),
            record: self.record.clone(),
            replay: self.replay.clone(),
            tables: self.tables.request(),
            junit: self.ending.junit.clone(),
            fail_on: self.ending.threshold(),
            jobs: self.jobs as usize,
            cells: self.cells as usize,
        }
    }
}

pub(crate) fn run(context: &Context, args: &EvaluateCommandArgs) -> Exit {
    let args = match &args.command {
        Some(EvaluateCommand::Merge(args)) => return run_merge(context, args),
        Some(EvaluateCommand::Recommend(args)) => return run_recommend(context, args),
        None => &args.args,
    };
    // The parser requires it.
    let Some(out) = &args.out else { return Exit::Usage };
    let context = &context.with_progress(args.progress.display());
    let request = args.request(out);
    if args.dry.dry_run {
        return context.show(estimate(&context.app, &request, args.dry.assumptions(args.jobs)), |estimate| {
            print_estimate(context, &estimate, args.tables.json);
            Exit::Good
        });
    }
    context.show(evaluate(&context.app, &request), |result| {
        print(context, &args.tables, &result);
        result.status
    })
}

fn run_merge(context: &Context, args: &MergeArgs) -> Exit {
    let request = MergeRequest {
        out: args.out.clone(),
        into: args.into.clone(),
        tables: args.tables.request(),
        junit: args.ending.junit.clone(),
        fail_on: args.ending.threshold(),
    };
    context.show(merge(&context.app, &request), |result| {
        print_stop(context, &result);
        if let Some(tables) = &result.tables {
            print_tables(context, &args.tables, tables, &result.out);
        }
        print_failures(context, &result);
        list_unfinished(context, &result.unfinished, result.counts.cells);
        list_changed(context, &result.changed);
        result.status
    })
}

fn run_recommend(context: &Context, args: &RecommendArgs) -> Exit {
    let wish = RecommendWish { budget_usd: args.budget, need: args.need };
    let request = RecommendRequest { folder: args.folder.clone(), wish };
    context.show(recommend(&context.app, &request), |result| {
        match args.json {
            true => context.output.json(&result.recommendation),
            false => context.output.result(&wrapped(&result.recommendation.text())),
        }
        result.status
    })
}

/// Prints the tables and how to go on.
fn print(context: &Context, args: &TableArgs, result: &EvaluateResult) {
    print_stop(context, result);
    let out = result.out.display();
    let command = match result.shard {
        Some(shard) => format!("planforge evaluate --resume --shard {shard} --out {out}"),
        None => format!("planforge evaluate --resume --out {out}"),
    };
    let print_pending = || {
        if let (Some(wave), Some((folder, answers))) = (&result.pending, &result.batch) {
            print_pending(context, wave, (folder, answers), &command);
        }
    };
    let EvaluationCounts { cells, selected, selected_open, open, .. } = result.counts;
    if let Some(shard) = result.shard {
        print_failures(context, result);
        context.output.note(&format!(
            "shard {shard}: {selected} of {cells} cells, {selected_open} of them not finished; `planforge evaluate merge {out}` makes the tables"
        ));
        print_pending();
        return;
    }
    if let Some(tables) = &result.tables {
        print_tables(context, args, tables, &result.out);
    }
    print_pending();
    print_failures(context, result);
    list_missing_replies(context, &result.missing_replies);
    list_changed(context, &result.changed);
    let left_out = cells - selected;
    if result.status == Exit::Interrupted {
        context.output.note(&format!("interrupted; go on with `planforge evaluate --resume --out {out}`"));
    } else if left_out > 0 {
        context.output.note(&format!(
            "{} not selected; {open} of {} not finished",
            many_are(left_out as u64, "cell"),
            many_are(cells as u64, "cell")
        ));
    }
}

/// Prints the error that stopped the evaluation.
fn print_stop(context: &Context, result: &EvaluateResult) {
    if let Some(error) = &result.stopped {
        context.print_error(error);
    }
}

/// Prints the chosen table, and where the files are.
fn print_tables(context: &Context, args: &TableArgs, tables: &EvaluatedTables, out: &Path) {
    print_table(context, args, tables);
    for moved in &tables.fallbacks {
        context.output.note(&fallback_line(moved));
    }
    context.output.note(&format!("tables and run folders are in {}", out.display()));
    if !args.json {
        context.output.note(&format!("`planforge report {}` shows it as one HTML file", out.display()));
    }
}

fn print_table(context: &Context, args: &TableArgs, tables: &EvaluatedTables) {
    let output = &context.output;
    if args.json {
        output.json(tables);
        return;
    }
    let others = &tables.others;
    if args.markdown {
        match tables.layout {
            Layout::Walks => output.result(&wrapped(&tables.evaluation.text())),
            Layout::Accuracy => output.result(&others.accuracy.markdown()),
            Layout::Scaling => output.result(&others.scaling.markdown()),
            Layout::Plans => output.result(&others.plans.markdown()),
            Layout::Classes => output.result(&others.classes.markdown()),
            Layout::Methods => output.result(&others.methods.markdown()),
        }
        return;
    }
    let sentence = match tables.layout {
        Layout::Classes => classes_sentence(&others.classes),
        // Its text begins with the sentences of the methods.
        Layout::Methods => String::new(),
        _ => solved_sentence(&tables.evaluation),
    };
    if let (Some(ranking), true) = (&tables.ranking, tables.layout != Layout::Classes) {
        output.result(&wrapped(&format!("{}\n\n", ranking.text())));
    }
    output.result(&wrapped(&sentence));
    output.result(&wrapped(&match tables.layout {
        Layout::Walks => tables.evaluation.text(),
        Layout::Accuracy => others.accuracy.text(),
        Layout::Scaling => others.scaling.text(),
        Layout::Plans => others.plans.text(),
        Layout::Classes => others.classes.text(),
        Layout::Methods => others.methods.text(),
    }));
}

/// Tasks solved by each pipeline over all seeds, those without an answer, and unfinished cells.
fn solved_sentence(evaluation: &Evaluation) -> String {
    let share = |column: &Column| {
        let cells = evaluation.cells.iter().filter(|cell| column.holds(&cell.key));
        let outcomes: Vec<TaskOutcome> =
            cells.flat_map(|cell| &cell.tasks).map(|task| task.outcome).collect();
        let solved = outcomes.iter().filter(|outcome| **outcome == TaskOutcome::Solved).count();
        let open = counts(&outcomes, &WITHOUT_ANSWER).map_or_else(String::new, |open| format!(" ({open})"));
        let judged = outcomes.iter().filter(|outcome| outcome.is_judged()).count();
        format!("{} {solved} of {judged}{open}", escape(&column.name()))
    };
    let shares: Vec<String> = evaluation.columns.iter().map(share).collect();
    let open = evaluation.cells.iter().filter(|cell| cell.state == CellState::Unfinished).count();
    let open = match open {
        0 => String::new(),
        n => format!("; {n} of {} cells not finished", evaluation.cells.len()),
    };
    format!("Tasks solved: {}{open}.\n\n", shares.join(", "))
}

fn classes_sentence(classes: &Classes) -> String {
    let replies: u64 = classes.columns.iter().map(|column| column.replies).sum();
    let columns = classes.columns.len();
    let noun = if columns == 1 { "column" } else { "columns" };
    format!("Classified replies: {replies} in {columns} {noun}.\n\n")
}

/// Prints the number of failures and how to retry them.
fn print_failures(context: &Context, result: &EvaluateResult) {
    let EvaluationCounts { failed_tasks, failed_calls, .. } = result.counts;
    let failed = match (failed_tasks, failed_calls) {
        (0, 0) => return,
        (0, calls) => format!("{} got no answer", many(calls, "call")),
        (tasks, 0) => format!("{} failed", many(tasks as u64, "task")),
        (tasks, calls) => {
            format!(
                "{} failed, and {} of others got no answer",
                many(tasks as u64, "task"),
                many(calls, "call")
            )
        }
    };
    context.output.note(&format!(
        "{failed}; `planforge evaluate --retry-errors --out {}` asks again for what failed",
        result.out.display()
    ));
}

/// Names the cells whose results are left out, because their inputs changed.
fn list_changed(context: &Context, changed: &[CellKey]) {
    let cells = many(changed.len() as u64, "cell");
    let title = format!("warning: the tables leave out the results of {cells} with other inputs:");
    list(context, &title, changed.iter().map(cell_line), "tasks.csv");
}

/// Names the tasks whose replies are not in the recording.
fn list_missing_replies(context: &Context, missing: &[MissingReply]) {
    let title = format!("warning: the recording lacks a reply of {}:", many(missing.len() as u64, "task"));
    let line = |MissingReply { cell, task, stage }: &MissingReply| {
        format!("{}.{task} {} {} at `{stage}`", cell.suite, cell.column(), cell.seed)
    };
    list(context, &title, missing.iter().map(line), "tasks.csv");
}

fn cell_line(key: &CellKey) -> String {
    format!("{} {} {}", key.suite, key.column(), key.seed)
}

/// A title and the first lines below it; nothing without a line. `file` has all of them.
fn list(context: &Context, title: &str, lines: impl ExactSizeIterator<Item = String>, file: &str) {
    let more = lines.len().saturating_sub(NAMED);
    for (number, line) in lines.take(NAMED).enumerate() {
        if number == 0 {
            context.output.note(title);
        }
        context.output.note(&format!("  {line}"));
    }
    if more > 0 {
        context.output.note(&format!("  and {more} more; {file} has them all"));
    }
}

/// Cells and tasks named in a message.
const NAMED: usize = 20;

/// The cells that are missing or unfinished.
fn list_unfinished(context: &Context, cells: &[CellResult], total: usize) {
    let all = many_are(total as u64, "cell");
    let title = format!("warning: {} of {all} missing or unfinished:", cells.len());
    list(context, &title, cells.iter().map(|cell| cell_line(&cell.key)), "cells.csv");
}

fn many(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn many_are(n: u64, what: &str) -> String {
    format!("{} {}", many(n, what), if n == 1 { "is" } else { "are" })
}
