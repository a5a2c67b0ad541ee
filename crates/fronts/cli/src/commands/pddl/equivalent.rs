//! `planforge pddl equivalent`: two problems up to the names of their objects, or two domains by their behaviour.

mod domain;
mod problem;

use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};

/// Compare two problems up to the names of their objects, or two domains by their behaviour.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl equivalent problem reference.pddl written.pddl --domain domain.pddl
  planforge pddl equivalent problem reference.pddl written.pddl --domain domain.pddl --level goals
  planforge pddl equivalent problem a.pddl b.pddl --domain domain.pddl --json
  planforge pddl equivalent domain domain.pddl written.pddl --problems p01.pddl p02.pddl")]
pub(crate) struct EquivalentArgs {
    #[command(subcommand)]
    command: EquivalentCommand,
}

#[derive(Debug, Subcommand)]
enum EquivalentCommand {
    Problem(problem::EquivalentProblemArgs),
    Domain(domain::EquivalentDomainArgs),
}

pub(crate) fn run(context: &Context, args: &EquivalentArgs) -> Exit {
    match &args.command {
        EquivalentCommand::Problem(args) => problem::run(context, args),
        EquivalentCommand::Domain(args) => domain::run(context, args),
    }
}
