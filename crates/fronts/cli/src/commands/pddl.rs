//! `planforge pddl`: work on PDDL files, without a language model.

mod equivalent;
mod ew;
mod fmt;
mod grammar;
mod graph;
mod infer;
mod picture;
mod plan;
mod tell;
mod validate;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Plan, validate, compare, format and draw PDDL files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl plan domain.pddl p01.pddl > p01.plan
  planforge pddl validate domain.pddl p01.pddl p01.plan
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl")]
pub(crate) struct PddlArgs {
    #[command(subcommand)]
    command: PddlCommand,
}

#[derive(Debug, Subcommand)]
enum PddlCommand {
    Plan(plan::PlanArgs),
    Validate(validate::ValidateArgs),
    Ew(Box<ew::EwArgs>),
    Equivalent(equivalent::EquivalentArgs),
    Fmt(fmt::FmtArgs),
    Graph(graph::GraphArgs),
    Picture(picture::PictureArgs),
    Tell(tell::TellArgs),
    Infer(infer::InferArgs),
    Grammar(grammar::GrammarArgs),
}

pub(crate) fn run(context: &Context, args: &PddlArgs) -> Exit {
    let exit = match &args.command {
        PddlCommand::Plan(args) => plan::run(context, args),
        PddlCommand::Validate(args) => validate::run(context, args),
        PddlCommand::Ew(args) => ew::run(context, args),
        PddlCommand::Equivalent(args) => equivalent::run(context, args),
        PddlCommand::Fmt(args) => fmt::run(context, args),
        PddlCommand::Graph(args) => graph::run(context, args),
        PddlCommand::Picture(args) => picture::run(context, args),
        PddlCommand::Tell(args) => tell::run(context, args),
        PddlCommand::Infer(args) => infer::run(context, args),
        PddlCommand::Grammar(args) => grammar::run(context, args),
    };
    match exit {
        Exit::TimeLimit => context.output.note("help: --time-limit raises the limit"),
        Exit::MemoryLimit => context.output.note("help: --memory-limit raises the limit"),
        _ => {}
    }
    exit
}
