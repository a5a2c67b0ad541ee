//! `planforge serve`: servers for agents and editors.

mod backend;
mod mcp;
mod run;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Serve planforge's tools to agents and editors.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge serve mcp")]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Mcp(mcp::McpArgs),
}

pub(crate) fn run(context: &Context, args: &ServeArgs) -> Exit {
    match &args.command {
        ServeCommand::Mcp(args) => mcp::run(context, args),
    }
}
