//! `planforge batch`: sends the requests of a parked run to a batch service, and downloads the answers.

use crate::args::run_argument;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use planforge_app::batch::{BatchLine, BatchResult, fetch, status, submit};
use planforge_app::diagnostics::render::escape;
use std::path::PathBuf;

/// Send the waiting requests of a run to a batch service and download the answers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge batch submit runs/20261121-101500-llm-p
  planforge batch status runs/20261121-101500-llm-p
  planforge batch fetch runs/20261121-101500-llm-p --wait
  planforge run --resume runs/20261121-101500-llm-p

Exits with 26 while answers are awaited, with 34 if the service refuses.")]
pub(crate) struct BatchArgs {
    #[command(subcommand)]
    command: BatchCommand,
}

#[derive(Debug, Subcommand)]
enum BatchCommand {
    /// Send every request file that was not sent and has requests without a reply. No file is sent twice.
    Submit(FolderArgs),
    /// Show each request file with its batch, as the service describes it.
    Status(FolderArgs),
    /// Download the answers of batches that have ended.
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
struct FolderArgs {
    /// A run folder, or the folder of an evaluation.
    #[arg(value_name = "RUN", value_parser = run_argument())]
    folder: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct FetchArgs {
    #[command(flatten)]
    folder: FolderArgs,
    /// Wait until every batch has ended.
    #[arg(long)]
    wait: bool,
}

pub(crate) fn run(context: &Context, args: &BatchArgs) -> Exit {
    let (folder, result) = match &args.command {
        BatchCommand::Submit(args) => (args, submit(&context.app, &args.folder)),
        BatchCommand::Status(args) => (args, status(&context.app, &args.folder)),
        BatchCommand::Fetch(args) => (&args.folder, fetch(&context.app, &args.folder.folder, args.wait)),
    };
    context.show(result, |result| print(context, folder, &result))
}

/// Prints the batches and the next command.
fn print(context: &Context, args: &FolderArgs, result: &BatchResult) -> Exit {
    if args.json {
        context.output.json(result);
    } else {
        let text: String = result.batches.iter().map(|line| text(line) + "\n").collect();
        context.output.result(&text);
    }
    result.failures().for_each(|failure| context.output.failure(failure));
    context.output.note(&format!("next: `{}`", result.next));
    result.status()
}

/// One line of text about a request file, and further ones about the results.
fn text(line: &BatchLine) -> String {
    let requests =
        if line.requests == 1 { "1 request".to_owned() } else { format!("{} requests", line.requests) };
    let mut text = format!("{}: {requests}, ", line.file);
    match (&line.service, &line.batch) {
        (None, _) if line.open == 0 => text += "answered",
        (None, _) => text += &format!("not submitted ({} without an answer)", line.open),
        (Some(service), None) => text += &format!("the submission to {} was interrupted", service.name()),
        (Some(service), Some(batch)) => {
            text += &format!("{} batch {}", service.name(), escape(batch));
            match &line.progress {
                Some(progress) => text += &format!(": {}", escape(&progress.text())),
                None if line.fetched => text += ": fetched",
                None => {}
            }
        }
    }
    for error in line.progress.iter().flat_map(|progress| &progress.errors) {
        text += &format!("\n  the service refused the batch: {}", escape(error));
    }
    if let Some(results) = &line.results {
        text += &format!("\n  {} replies", results.replies);
        for (class, count) in &results.failed {
            text += &format!(", {count} errors `{class}`");
        }
        if results.missing > 0 {
            text += &format!(", {} without a result", results.missing);
        }
        text += &format!(": {}", results.answers.display());
        let (unknown, first) = &results.unknown;
        if *unknown > 0 {
            text += &format!(
                "\n  {unknown} results belong to unknown requests, such as `{}`",
                escape(&first.join("`, `"))
            );
        }
    }
    text
}
