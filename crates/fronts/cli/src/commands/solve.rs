//! `planforge solve`: a plan from a text alone.

use crate::args::{OverrideArgs, ProgressArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::{print_result, verdict_sentence};
use clap::Args;
use planforge_app::solve::{SolveRequest, SolveResult, solve};
use std::path::PathBuf;

/// Plan a task that is described in words.
///
/// A model writes the PDDL, which is repaired until it has a plan. Nothing but that PDDL judges the plan, and the first line says so. The text,
/// the PDDL, the plan and the run are kept in a folder, which is a suite.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge solve robot.txt --model openai:gpt-5
  planforge solve \"There are three rooms in a row. The robot is in the first ...\"
  planforge solve delivery.txt --domain vans.pddl
  planforge solve delivery.txt --rules rules.txt --out tuesday")]
pub(crate) struct SolveArgs {
    /// A file with the task in words, or the words themselves.
    text: String,
    /// A domain in PDDL: the model then writes the problem alone.
    #[arg(long, value_name = "FILE")]
    domain: Option<PathBuf>,
    /// A file with the rules in words, if the text does not contain them.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The folder to make. Left out: the name of the text's file without its ending, or `task`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: OverrideArgs,
    /// Take every reply from this cassette or run folder; send no request.
    #[arg(long, value_name = "CASSETTE")]
    replay: Option<PathBuf>,
    /// Also write the replies into a cassette file.
    #[arg(long, value_name = "CASSETTE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    progress: ProgressArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(context: &Context, args: &SolveArgs) -> Exit {
    let context = &context.with_progress(args.progress.display());
    let request = SolveRequest {
        text: args.text.clone(),
        domain: args.domain.clone(),
        rules: args.rules.clone(),
        folder: args.out.clone(),
        model: args.overrides.model(),
        set: args.overrides.set(),
        replay: args.replay.clone(),
        record: args.record.clone(),
    };
    context.show(solve(&context.app, &request), |result| print(context, args, &result))
}

fn print(context: &Context, args: &SolveArgs, result: &SolveResult) -> Exit {
    match &result.words {
        _ if args.json => context.output.json(result),
        Some(words) => {
            let words = words.lines().map(planforge_app::diagnostics::render::escape).collect::<Vec<_>>();
            context.output.result(&format!(
                "{}\n{}\n",
                verdict_sentence(&result.run.report),
                words.join("\n")
            ));
        }
        None => print_result(context, &result.run, false),
    }
    let folder = result.folder.display();
    if result.words.is_some() {
        context
            .output
            .note(&format!("the PDDL and the plan are in {folder}/answer, the run is in {folder}/runs"));
    } else {
        context.output.note(&format!("the text and the run are in {folder}"));
    }
    if result.lacks_model() && args.overrides.is_of_file() {
        context.output.note(
            "name a model with --model, such as openai:NAME, anthropic:NAME or local:FILE.gguf; `planforge demo` needs none",
        );
    }
    result.status()
}
