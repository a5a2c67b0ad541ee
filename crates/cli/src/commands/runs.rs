//! `planforge runs`: what recorded runs hold.

mod explain;
mod export;
mod limit;
mod rounds;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Inspect recorded runs: rounds, inferred facts, traces. Change limits of a run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge runs rounds runs/20261121-101500-bon-ivml
  planforge runs explain runs/20261121-101500-tic-ic \"(clean shot5)\"
  planforge runs export runs/20261121-101500-llm-p --out trace.json")]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: RunsCommand,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    Rounds(rounds::RoundsArgs),
    Explain(explain::ExplainFactArgs),
    Export(export::ExportArgs),
    Limit(limit::LimitArgs),
}

pub(crate) fn run(context: &Context, args: &RunsArgs) -> Exit {
    match &args.command {
        RunsCommand::Rounds(args) => rounds::run(context, args),
        RunsCommand::Explain(args) => explain::run(context, args),
        RunsCommand::Export(args) => export::run(context, args),
        RunsCommand::Limit(args) => limit::run(context, args),
    }
}
