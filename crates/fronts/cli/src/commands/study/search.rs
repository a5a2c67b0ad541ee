//! `planforge study search`: pipelines against each other with a simulated model, at the same number of replies.

use super::StudyFiles;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::study::{SearchRequest, SearchStudy, search};
use std::path::PathBuf;

/// Compare search strategies at the same number of replies, with a simulated model.
///
/// Each strategy is a pipeline file that uses `provider-noisy-oracle` and ends with a verify stage labelled
/// `final`. Every strategy is run on the first tasks of the suites with the same seeds.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study search --strategies examples/studies/search/*.toml --suites examples/suites \\\n    --out study/search --quick"
)]
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

pub(super) fn run(context: &Context, args: &SearchArgs) -> Exit {
    let (seeds, tasks) = if args.files.quick { (2, 1) } else { (10, 1) };
    let request = SearchRequest {
        files: args.files.request(),
        strategies: args.strategies.clone(),
        seeds: args.seeds.map_or(seeds, |seeds| seeds as u64),
        tasks: args.tasks.unwrap_or(tasks),
    };
    args.files.print(context, search(&context.app, &request), |study| {
        format!("{}\n\n{}", solved_sentence(study), study.table().text())
    })
}

fn solved_sentence(study: &SearchStudy) -> String {
    let shares = study
        .strategies
        .iter()
        .map(|strategy| format!("{} {} of {}", escape(&strategy.name), strategy.solved, strategy.runs));
    format!("Runs solved: {}.", shares.collect::<Vec<_>>().join(", "))
}
