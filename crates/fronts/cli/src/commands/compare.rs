//! `planforge compare`: two runs or evaluations on the same tasks.

use crate::args::{positive, run_argument};
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use planforge_app::compare::{Cluster, CompareRequest, PairBy, Question, Settings, compare, status};
use planforge_app::evaluate::wrapped;
use std::path::PathBuf;

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

pub(crate) fn run(context: &Context, args: &CompareArgs) -> Exit {
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
    let request = CompareRequest {
        a: args.a.clone(),
        b: args.b.clone(),
        pipeline_a: args.pipeline_a.clone(),
        pipeline_b: args.pipeline_b.clone(),
        settings,
        jobs: args.jobs,
    };
    context.show(compare(&context.app, &request), |comparison| {
        let output = &context.output;
        match (args.json, args.csv, args.markdown) {
            (true, ..) => output.json(&comparison),
            (_, true, _) => output.result(&comparison.csv()),
            (.., true) => output.result(&comparison.markdown()),
            _ => output.result(&wrapped(&comparison.text())),
        }
        status(&comparison)
    })
}
