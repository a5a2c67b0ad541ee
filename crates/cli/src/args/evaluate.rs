//! `planforge evaluate`.

use clap::{Args, ValueEnum};
use planforge_evaluate::evaluation::{Filter, Shard};
use std::path::PathBuf;

/// What the table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// Tasks solved and walk score, the best of the seeds (exploration-walk paper, Table 2).
    Walks,
    /// Problems that are the reference problem, averaged over the seeds (translate-infer-compile paper, Tables 1 and 2); beside it
    /// valid PDDL and tasks solved.
    Accuracy,
    /// Domains written, by method and by what is asked for: VAL's Parser accepts, planforge's reader accepts, the walk score is 1, the
    /// domain is the reference, the plan is valid (test-time-scaling paper, Table 2); beside it replies, walk score and cost.
    Scaling,
    /// Plan accuracy by domain, models that plan by themselves beside methods that write PDDL, and how plans fail (test-time-scaling
    /// paper, Table 5 and section 4.6).
    Plans,
    /// What became of actions that were written one by one: class shares by model, method and description class, by domain and action,
    /// and after each round (domain-generators paper, Table 1); beside it reconstruction errors and the exact comparison.
    Classes,
}

/// Which action reconstruction error is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AreReading {
    /// A variable is the one of the same name: the paper's definition read literally.
    Name,
    /// A parameter is the one at the same place, as the paper's code counts.
    Position,
    /// The least over bijections between parameters of the same type.
    Least,
}

#[derive(Debug, Args)]
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
    #[arg(long, value_name = "N", requires = "suite", value_parser = super::positive)]
    pub(crate) tasks: Option<usize>,
    /// Override a key of every pipeline file, as in `planforge run`.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "suite")]
    pub(crate) overrides: Vec<String>,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml stand in for those of a suite, as in `planforge run`. May be given
    /// several times.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Where the tables and, in `cells/SUITE/PIPELINE[@MODEL]/SEED`, the run folders go.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Go on with the evaluation in the output folder: finished cells are read, also where something broke in them; the others are run or
    /// resumed. What is evaluated is taken from there where it is not given, and may have grown.
    #[arg(long)]
    pub(crate) resume: bool,
    /// As --resume, and finished cells in which something broke are run again: what broke is asked for again, all else comes from their
    /// records.
    #[arg(long)]
    pub(crate) retry_errors: bool,
    /// Run these cells and tasks alone: suite=, pipeline=, model=, seed= or task= and values with commas between them; `*` and `?` are
    /// wildcards. The table stays whole and shows the others as not run, or as what they came to before. May be given several times: values
    /// of one axis add up, axes narrow each other.
    #[arg(long, value_name = "AXIS=VALUES", value_parser = Filter::parse)]
    pub(crate) only: Vec<Filter>,
    /// Do not run these cells and tasks; written as --only.
    #[arg(long, value_name = "AXIS=VALUES", value_parser = Filter::parse)]
    pub(crate) except: Vec<Filter>,
    /// Run part I of N of the cells, for a scheduler that starts N processes on one shared folder: every N-th cell of the matrix, from the
    /// I-th on. It writes the run folders of its cells and no table; `planforge merge` makes those.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["curves", "figures", "also", "junit"])]
    pub(crate) shard: Option<Shard>,
    /// A file of answers to questions that wait, as in `planforge run`; it is kept in the output folder. May be given several times.
    #[arg(long, value_name = "FILE", requires = "resume", num_args = 1..)]
    pub(crate) answers: Vec<PathBuf>,
    /// Also write the replies of each cell into a cassette `SUITE.PIPELINE[@MODEL].SEED.jsonl` in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Answer every question to a model from the cassettes in this folder, which --record made and gzip may have compressed; ask
    /// nobody. Cassettes of other pipelines over the same suite and seed are looked into as well.
    #[arg(long, value_name = "DIR")]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) progress: super::ProgressArgs,
    #[command(flatten)]
    pub(crate) dry: super::DryRunArgs,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) ending: EndArgs,
    /// How many tasks and samples to work on at a time, over all cells that run side by side.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// How many cells to run side by side, at most as many as --jobs, which they share evenly. A cell is a run of its own, so what a
    /// pipeline file says of a model for a run (max_concurrency, rates, budgets) holds for each of them: N cells side by side may ask a
    /// server N times as much at a time.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) cells: u32,
}

/// How an evaluation ends for whoever started it.
#[derive(Debug, Args)]
pub(crate) struct EndArgs {
    /// Also write the tasks as JUnit XML, a test suite for each cell: not solved is a failure, broken an error, undecided and unfinished are
    /// skipped.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// From when on the exit code is not 0.
    #[arg(long, value_enum, default_value_t = Fails::Undecided, value_name = "WHAT")]
    pub(crate) fail_on: Fails,
}

/// What an evaluation must not have to exit with 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fails {
    /// A task that is not solved (10), undecided (20s) or broken (30s).
    Negative,
    /// A task that is undecided (20s) or broken (30s).
    Undecided,
    /// A task that broke (30s).
    Failed,
}

/// What tables show and how they are printed.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// What the table shows.
    #[arg(long, value_enum, default_value_t = Layout::Walks, value_name = "LAYOUT")]
    pub(crate) layout: Layout,
    /// The verify stage that says whether a problem is right; without this the last one of `verifier-equivalence`.
    #[arg(long, value_name = "LABEL")]
    pub(crate) accuracy_by: Option<String>,
    /// The method that the others are compared with (`--layout scaling`): differences in percentage points.
    #[arg(long, value_name = "METHOD")]
    pub(crate) base: Option<String>,
    /// Another name for a pipeline (`--layout scaling`, `plans` and `classes`). Pipelines of one name stand in one row: bon.toml for domains from texts
    /// and its twin for domains from problems, for example. May be given several times.
    #[arg(long, value_name = "PIPELINE=METHOD", value_parser = named)]
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
    /// Which action reconstruction error tables and figures of `--layout classes` show. Files have all three.
    #[arg(long, value_enum, default_value_t = AreReading::Position, value_name = "READING")]
    pub(crate) are: AreReading,
    /// A model's size in billions of parameters, for the figure over sizes. Without it the model's name says it (`7b`, `1.5B`, `350m`) or
    /// nothing does. May be given several times.
    #[arg(long, value_name = "MODEL=BILLIONS", value_parser = sized)]
    pub(crate) model_size: Vec<(String, f64)>,
    /// Print the tables as Markdown (not of `--layout walks`).
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Another evaluation's folder, whose columns stand beside these in the table (not of `--layout walks`): another model, for example. May be given
    /// several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) also: Vec<PathBuf>,
    /// Print one JSON object instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `planforge merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders that `planforge evaluate --out` made: one that all shards wrote to, or several parts of one evaluation with --into.
    #[arg(required = true, value_name = "OUT")]
    pub(crate) out: Vec<PathBuf>,
    /// Where the cells of several folders are copied to, and the tables go.
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) ending: EndArgs,
}

/// `gpt-x=200`. The last `=` counts, for a model's name may hold others.
fn sized(text: &str) -> Result<(String, f64), String> {
    let (model, size) = text.rsplit_once('=').ok_or("write MODEL=BILLIONS, such as my-model=7")?;
    let size: f64 = size.trim().parse().map_err(|_| format!("`{}` is no number", size.trim()))?;
    match (model.trim(), size.is_finite() && size > 0.0) {
        ("", _) => Err("the model may not be empty".to_owned()),
        (_, false) => Err("a size is above 0".to_owned()),
        (model, true) => Ok((model.to_owned(), size)),
    }
}

/// `bon-prob=bon`.
fn named(text: &str) -> Result<(String, String), String> {
    let (pipeline, method) = text.split_once('=').ok_or("write PIPELINE=METHOD, such as bon-prob=bon")?;
    match (pipeline.trim(), method.trim()) {
        ("", _) | (_, "") => Err("neither the pipeline nor the method may be empty".to_owned()),
        (pipeline, method) => Ok((pipeline.to_owned(), method.to_owned())),
    }
}
