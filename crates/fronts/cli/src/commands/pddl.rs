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
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::plan::PreferenceResult;

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

/// A line for the preferences of a task, and one for each; none without preferences.
fn preferences(all: &[PreferenceResult]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let kept = all.iter().filter(|preference| preference.violations == 0).count();
    let noun = if all.len() == 1 { "preference" } else { "preferences" };
    let verb = if kept == 1 || all.len() == 1 { "is" } else { "are" };
    let each = all.iter().map(|preference| {
        let name = preference.name.as_deref();
        let name = name.map_or_else(|| "(without a name)".to_owned(), |name| escape(name).to_string());
        let times = match preference.violations {
            0 => return format!("  satisfied {name}"),
            1 => String::new(),
            many => format!(", {many} times"),
        };
        let cost = preference.cost.map(|cost| format!(", cost {cost}")).unwrap_or_default();
        format!("  violated  {name}{times}{cost}")
    });
    let first = format!("{kept} of {} {noun} {verb} satisfied", all.len());
    std::iter::once(first).chain(each).collect()
}
