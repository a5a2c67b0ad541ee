//! `planforge serve`: servers for agents and editors. The servers are fronts of their own; only this command knows them.

mod lsp;
mod mcp;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Serve planforge's tools to agents and editors.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  planforge serve lsp\n  planforge serve mcp")]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Lsp(lsp::LspArgs),
    Mcp(mcp::McpArgs),
}

pub(crate) fn run(context: &Context, args: &ServeArgs) -> Exit {
    match &args.command {
        ServeCommand::Lsp(args) => lsp::run(context, args),
        ServeCommand::Mcp(args) => mcp::run(context, args),
    }
}
