//! `planforge study ew-correlation`.

use super::StudyFiles;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use planforge_app::study::{CorrelationSpec, WalkMetric, ew_correlation};

/// Walk score against the number of differing terms (exploration-walk paper, Fig. 2b and 4).
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study ew-correlation --suites examples/suites --out study/ew-correlation --quick"
)]
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
    /// The metric: the paper's or its code's.
    #[arg(long, value_enum, default_value_t = StudyMetric::ReferenceCode)]
    pub(crate) metric: StudyMetric,
    /// Evaluation limit: ground instances a task, and as many atoms.
    #[arg(long, value_name = "N")]
    pub(crate) max_instances: Option<usize>,
    /// The suites of the figure with few (Fig. 2b), at most six [default: the first].
    #[arg(long, value_name = "NAME", num_args = 1..=6)]
    pub(crate) shown: Vec<String>,
}

/// The metric of `study ew-correlation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StudyMetric {
    /// Ground actions that change nothing are illegal, a walk ends at a dead end.
    ReferenceCode,
    /// Definition 1: STRIPS semantics, walks of exactly their length.
    Definition,
}

pub(super) fn run(context: &Context, args: &EwCorrelationArgs) -> Exit {
    let full = CorrelationSpec::default();
    let (pairs, tasks) = if args.files.quick { (10, 1) } else { (full.pairs, full.tasks) };
    let spec = CorrelationSpec {
        seed: args.files.seed,
        most: args.most.unwrap_or(full.most),
        pairs: args.pairs.unwrap_or(pairs),
        tasks: args.tasks.unwrap_or(tasks),
        metric: match args.metric {
            StudyMetric::ReferenceCode => WalkMetric::ReferenceCode,
            StudyMetric::Definition => WalkMetric::Definition,
        },
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        ..full
    };
    let study = ew_correlation(&context.app, &args.files.request(), &spec, &args.shown);
    args.files.print(context, study, |study| study.table().text())
}
