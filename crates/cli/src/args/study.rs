//! `planforge study ...`.

use super::positive;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// Which study.
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// How often no plan is found after random omissions (exploration-walk paper, Fig. 2a).
    #[command(
        after_help = "Example:\n  planforge study omissions --suites examples/suites --out study/omissions --quick"
    )]
    Omissions(OmissionsArgs),
    /// How the walk score of two damaged domains falls with the number of terms in which they differ (Fig. 2b and Fig. 4).
    #[command(
        after_help = "Example:\n  planforge study ew-correlation --suites examples/suites --out study/ew-correlation --quick"
    )]
    EwCorrelation(EwCorrelationArgs),
    /// Search strategies against each other at the same number of replies, with a simulated model.
    ///
    /// Each strategy is a pipeline file that asks `provider-noisy-oracle` and ends with a verify stage labelled `final`. Every strategy
    /// is run on the first tasks of the suites with the same seeds.
    #[command(
        after_help = "Example:\n  planforge study search --strategies examples/studies/search/*.toml --suites examples/suites \\\n    --out study/search --quick"
    )]
    Search(SearchArgs),
    /// What more samples, more rounds and a larger budget bring (test-time-scaling paper, Fig. 3 to 5), with a simulated model.
    ///
    /// A spec lists sweeps: a pipeline file, one of its keys, and the values that it takes. Each pipeline asks `provider-noisy-oracle` and
    /// ends with a verify stage labelled `final`; where it has one labelled `valid` too, success takes a valid plan. Success takes, beside the
    /// walk score, that the domain is not shown to differ from the reference on the task's problem.
    #[command(
        after_help = "Example:\n  planforge study scaling --spec examples/studies/scaling/study.toml --suites examples/suites \\\n    --out study/scaling --quick"
    )]
    Scaling(ScalingArgs),
}

/// What every study takes.
#[derive(Debug, Args)]
pub(crate) struct StudyFiles {
    /// Suites: folders with domain.pddl and problems, or folders of such folders.
    #[arg(long, value_name = "DIR", num_args = 1.., required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// Only the suites of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Where the files go; made where it is missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A smaller study, under two minutes; options given beside it count.
    #[arg(long)]
    pub(crate) quick: bool,
    /// What every random choice derives from.
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Threads; all cores where it is not given. It changes the time and nothing else.
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Option<u32>,
    /// Print the study as one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OmissionsArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The largest number of terms removed [default: 10].
    #[arg(long, value_name = "K")]
    pub(crate) most: Option<usize>,
    /// Damaged domains for each number of terms [default: 100; quick: 10].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) draws: Option<usize>,
    /// Problems of each suite, the first by name [default: 5; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Evaluation limit: search nodes a task.
    #[arg(long, value_name = "N")]
    pub(crate) max_nodes: Option<u64>,
    /// Evaluation limit: ground instances a task, and as many atoms.
    #[arg(long, value_name = "N")]
    pub(crate) max_instances: Option<usize>,
    /// A removal may take all terms of a precondition or effect; otherwise it leaves one.
    #[arg(long)]
    pub(crate) empty_lists: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EwCorrelationArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The largest difference in terms [default: 12].
    #[arg(long, value_name = "D", value_parser = positive)]
    pub(crate) most: Option<usize>,
    /// Pairs for each difference [default: 100; quick: 10].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) pairs: Option<usize>,
    /// Problems of each suite, the first by name [default: 5; quick: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Which metric, where the paper and its own code differ.
    #[arg(long, value_enum, default_value_t = StudyMetric::ReferenceCode)]
    pub(crate) metric: StudyMetric,
    /// Evaluation limit: ground instances a task, and as many atoms.
    #[arg(long, value_name = "N")]
    pub(crate) max_instances: Option<usize>,
    /// The suites of the figure with few (Fig. 2b), at most six [default: the first].
    #[arg(long, value_name = "NAME", num_args = 1..=6)]
    pub(crate) shown: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// Pipeline files; the others are compared with the first.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) strategies: Vec<PathBuf>,
    /// Seeds of each strategy and task, from --seed on [default: 10; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) seeds: Option<usize>,
    /// Tasks of each suite, the first by name [default: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ScalingArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The sweeps: a TOML file; its pipeline files are relative to it.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) spec: PathBuf,
    /// Seeds of each point and task, from --seed on [default: 10; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) seeds: Option<usize>,
    /// Tasks of each suite, the first by name [default: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
}

/// The metric of `study ew-correlation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StudyMetric {
    /// Ground actions that change nothing are illegal, a walk ends at a dead end.
    ReferenceCode,
    /// Definition 1: STRIPS semantics, walks of exactly their length.
    Definition,
}
