//! The command line of `planforge compare`.

use clap::{Args, ValueEnum};
use planforge_evaluate::compare::{Cluster, PairBy, Question};
use std::path::PathBuf;

/// What counts as success.
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

/// How runs of a task find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparePairs {
    /// By their seed.
    Seed,
    /// In the order of their seeds, whatever these are.
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

/// What belongs together.
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

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A run folder, or the output folder of an evaluation.
    pub(crate) a: PathBuf,
    /// Another; it may be the same evaluation with another pipeline.
    pub(crate) b: PathBuf,
    /// The pipeline of A, where A is an evaluation of several.
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline_a: Option<String>,
    /// The pipeline of B, where B is an evaluation of several.
    #[arg(long, value_name = "NAME")]
    pub(crate) pipeline_b: Option<String>,
    /// What counts as success.
    #[arg(long, value_enum, default_value_t = CompareBy::Solved, value_name = "WHAT")]
    pub(crate) by: CompareBy,
    /// How runs of a task find each other.
    #[arg(long, value_enum, default_value_t = ComparePairs::Seed, value_name = "HOW")]
    pub(crate) pair_by: ComparePairs,
    /// What belongs together: tests flip it and the bootstrap draws it as a whole.
    #[arg(long, value_enum, default_value_t = CompareCluster::Task, value_name = "WHAT")]
    pub(crate) cluster: CompareCluster,
    /// The stage whose samples Pass@k and Best@k are about [default: the last one that drew several].
    #[arg(long, value_name = "LABEL")]
    pub(crate) samples_of: Option<String>,
    /// The verify stage that says whether a sample is right [default: the one that decides success].
    #[arg(long, value_name = "LABEL")]
    pub(crate) judge: Option<String>,
    /// The metric of Best@k, such as `ew.rating` [default: the walk score].
    #[arg(long, value_name = "LABEL.NAME", value_parser = metric)]
    pub(crate) metric: Option<String>,
    /// The values of k, such as `1,5,10` [default: 1, 2, 4, ... and the number of samples].
    #[arg(long, value_name = "K", value_delimiter = ',', value_parser = super::positive)]
    pub(crate) k: Vec<usize>,
    /// Confidence of intervals, above 0 and below 1.
    #[arg(long, default_value_t = 0.95, value_name = "SHARE", value_parser = confidence)]
    pub(crate) confidence: f64,
    /// Samples that the bootstrap draws.
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) resamples: u32,
    /// The bootstrap's seed.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// How many tasks to replay at a time, where a run's report is not kept beside it.
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

fn confidence(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| format!("`{text}` is not a share above 0 and below 1, such as 0.95"))
}

fn metric(text: &str) -> Result<String, String> {
    match text.split_once('.') {
        Some((label, name)) if !label.is_empty() && !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write LABEL.NAME, such as ew.rating".to_owned()),
    }
}
