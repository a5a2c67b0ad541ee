//! `planforge replay`: a recorded run again, without network or key.

use crate::args::run_argument;
use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::print_result;
use clap::Args;
use planforge_app::run::{ReplayRequest, replay};
use std::path::PathBuf;

/// Repeat a recorded run without network or key: same verdicts, or the missing replies.
///
/// Changes nothing on disk, except that a report.json that differs from the recorded one is replaced.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge replay runs/20261121-101500-llm-p")]
pub(crate) struct ReplayArgs {
    /// The run folder.
    #[arg(value_parser = run_argument())]
    pub(crate) run: PathBuf,
    /// Tasks and samples in parallel.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &ReplayArgs) -> Exit {
    let request = ReplayRequest { run: args.run.clone(), jobs: args.jobs };
    context.show(replay(&context.app, &request), |result| {
        print_result(context, &result, args.json);
        result.status(false)
    })
}
