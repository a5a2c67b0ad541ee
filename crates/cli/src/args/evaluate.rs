//! `planforge evaluate`.

use clap::{Args, ValueEnum};
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
    /// A file that names suites, pipelines and seeds; `planforge explain evaluate.matrix` shows one.
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
    /// Where the tables and, in `cells/SUITE/PIPELINE/SEED`, the run folders go.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Go on with the evaluation in the output folder: finished cells are read, interrupted ones are resumed. What is
    /// evaluated is taken from there where it is not given, and may have grown.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Also write the replies of each cell into a cassette `SUITE.PIPELINE.SEED.jsonl` in this folder.
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
    /// How many tasks and samples of a cell to work on at a time.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,
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
