//! `planforge runs`: what recorded runs hold.

mod explain;
mod export;
mod limit;
mod list;
mod rounds;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// List and inspect recorded runs, and change limits of a run.
///
/// Without a command, lists the runs from the newest. Where a command asks for a run, `last` names the newest one in `runs`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  planforge runs
  planforge runs rounds runs/20261121-101500-bon-ivml
  planforge runs explain runs/20261121-101500-tic-ic \"(clean shot5)\"
  planforge runs export runs/20261121-101500-llm-p --out trace.json"
)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    #[command(flatten)]
    list: list::ListArgs,
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
        None => list::run(context, &args.list),
        Some(RunsCommand::Rounds(args)) => rounds::run(context, args),
        Some(RunsCommand::Explain(args)) => explain::run(context, args),
        Some(RunsCommand::Export(args)) => export::run(context, args),
        Some(RunsCommand::Limit(args)) => limit::run(context, args),
    }
}
