//! `planforge runs export`: a run as OpenTelemetry spans.

use crate::args::run_argument;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::runs::{export, export_bytes};
use std::path::PathBuf;

/// Write a run as OpenTelemetry spans (OTLP JSON): run, tasks, stages, requests to models.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge runs export runs/20261121-101500-llm-p --out trace.json
  planforge runs export runs/20261121-101500-llm-p | curl -H 'Content-Type: application/json' --data-binary @- http://127.0.0.1:4318/v1/traces")]
pub(crate) struct ExportArgs {
    /// A run folder.
    #[arg(value_parser = run_argument())]
    run: PathBuf,
    /// The file to write; standard output if there is none.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Add the prompts and the replies.
    #[arg(long)]
    content: bool,
}

pub(crate) fn run(context: &Context, args: &ExportArgs) -> Exit {
    let written = match &args.out {
        Some(path) => export(&context.app, &args.run, path, args.content),
        None => export_bytes(&context.app, &args.run, args.content).map(|(written, bytes)| {
            context.output.result(&String::from_utf8_lossy(&bytes));
            written
        }),
    };
    context.show(written, |written| {
        let (spans, requests) = (written.spans, written.requests);
        let line =
            format!("{spans} spans, {requests} of them requests to models; trace {}", written.trace_id);
        context.output.note(&line);
        Exit::Good
    })
}
