//! `planforge serve`: servers for agents and editors. The servers are fronts of their own; only this command knows them.

mod mcp;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::editor::{limits, pipeline_check};
use planforge_lsp::{ServeError, Services, serve_stdio};

/// Serve planforge's tools to agents and editors.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  planforge serve lsp\n  planforge serve mcp")]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: ServeCommand,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Lsp(LspArgs),
    Mcp(mcp::McpArgs),
}

pub(crate) fn run(context: &Context, args: &ServeArgs) -> Exit {
    match &args.command {
        ServeCommand::Lsp(args) => run_lsp(context, args),
        ServeCommand::Mcp(args) => mcp::run_mcp(context, args),
    }
}

/// Serve an editor on standard input and output: PDDL, pipelines, sentences and knowledge files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge serve lsp

An editor starts it. docs/how-to/edit-pddl.md has the settings for VS Code, Neovim and Helix.")]
pub(crate) struct LspArgs {}

pub(crate) fn run_lsp(context: &Context, _args: &LspArgs) -> Exit {
    context.show(pipeline_check(&context.app), |check_pipeline| {
        match serve_stdio(&Services { check_pipeline: &check_pipeline, limits: &limits }) {
            Ok(()) => Exit::Good,
            Err(error) => {
                context.output.note(&format!("error: {error}"));
                match error {
                    ServeError::Protocol(_) => Exit::Input,
                    ServeError::Io(_) => Exit::System,
                }
            }
        }
    })
}
