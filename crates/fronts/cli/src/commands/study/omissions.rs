//! `planforge study omissions`.

use super::StudyFiles;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::study::{OmissionsSpec, omissions};

/// Share of tasks without a plan after random omissions (exploration-walk paper, Fig. 2a).
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study omissions --suites examples/suites --out study/omissions --quick"
)]
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

pub(super) fn run(context: &Context, args: &OmissionsArgs) -> Exit {
    let full = OmissionsSpec::default();
    let (draws, tasks) = if args.files.quick { (10, 2) } else { (full.draws, full.tasks) };
    let spec = OmissionsSpec {
        seed: args.files.seed,
        most: args.most.unwrap_or(full.most),
        draws: args.draws.unwrap_or(draws),
        tasks: args.tasks.unwrap_or(tasks),
        keep_one: !args.empty_lists,
        max_nodes: args.max_nodes.unwrap_or(full.max_nodes),
        max_instances: args.max_instances.unwrap_or(full.max_instances),
        max_bytes: full.max_bytes,
    };
    let study = omissions(&context.app, &args.files.request(), &spec);
    args.files.print(context, study, |study| study.table().text())
}
