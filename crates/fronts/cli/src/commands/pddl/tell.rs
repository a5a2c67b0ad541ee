//! `planforge pddl tell`: a plan, a refusal or a difference in sentences.

use crate::args::{MemoryArgs, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::Sentences;
use planforge_app::pddl::tell::{TellRequest, TellResult, TellSubject, tell};
use std::path::PathBuf;

/// Tell in sentences what a plan does, why it fails, or how two domains differ.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl tell domain.pddl p01.pddl p01.plan
  planforge pddl tell domain.pddl p01.pddl p01.plan --sentences words.toml
  planforge pddl tell domain.pddl --compare-with written.pddl")]
pub(crate) struct TellArgs {
    /// The domain file.
    domain: PathBuf,
    /// The problem file.
    #[arg(required_unless_present = "compare_with")]
    problem: Option<PathBuf>,
    /// The plan file.
    #[arg(required_unless_present = "compare_with")]
    plan: Option<PathBuf>,
    /// Tell the differences to this domain instead.
    #[arg(long, value_name = "DOMAIN", conflicts_with = "problem")]
    compare_with: Option<PathBuf>,
    /// The sentences for facts [default: sentences.toml beside the domain file, else the names].
    #[arg(long, value_name = "FILE")]
    sentences: Option<PathBuf>,
    /// Give up on the plan after this many seconds.
    #[arg(long, value_name = "S", default_value_t = 300.0, value_parser = positive_seconds)]
    time_limit: f64,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(context: &Context, args: &TellArgs) -> Exit {
    let subject = match (&args.compare_with, &args.problem, &args.plan) {
        (Some(other), ..) => TellSubject::Differences(other.clone().into()),
        (None, Some(problem), Some(plan)) => {
            TellSubject::Plan { problem: problem.clone().into(), plan: plan.clone().into() }
        }
        _ => return Exit::Usage,
    };
    let request = TellRequest {
        domain: args.domain.clone().into(),
        subject,
        sentences: args
            .sentences
            .clone()
            .map_or(Sentences::BesideDomain, |path| Sentences::Given(path.into())),
        limits: args.memory.with_seconds(Some(args.time_limit)),
    };
    context.show(tell(&context.app, &request), |result| {
        match &result {
            result if args.json => context.output.json(result),
            TellResult::Plan { told, .. } => {
                told.to_string().lines().for_each(|line| context.output.result(&(escape(line) + "\n")));
            }
            TellResult::Differences(told) if told.is_empty() => {
                context.output.result("The domains have the same content.\n");
            }
            TellResult::Differences(told) => {
                told.iter().for_each(|sentence| context.output.result(&(escape(sentence) + "\n")));
            }
        }
        result.status()
    })
}
