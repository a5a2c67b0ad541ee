//! `planforge models`: language models, as `--model` and pipeline files name them.

mod check;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Try a language model before a run uses it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge models check openai:gpt-4o
  planforge models check main --pipeline configs/pipelines/llm-p.toml --json")]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    Check(check::CheckModelArgs),
}

pub(crate) fn run(context: &Context, args: &ModelsArgs) -> Exit {
    match &args.command {
        ModelsCommand::Check(args) => check::run(context, args),
    }
}
