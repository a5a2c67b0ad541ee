//! `planforge runs export`: a run as OpenTelemetry spans.

use crate::context::Context;
use crate::exit::Exit;
use crate::files::refuse_part_of_run;
use crate::run_names::run_argument;
use clap::Args;
use planforge_contract::{Failure, FailureClass};
use planforge_record::RunFolder;
use planforge_report::otlp::{WrittenTrace, write_otlp};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    match export(context, args) {
        Ok(written) => {
            let (spans, requests) = (written.spans, written.requests);
            context.output.note(&format!(
                "{spans} spans, {requests} of them requests to models; trace {}",
                written.trace_id
            ));
            Exit::Good
        }
        Err(failure) => context.print_failure(&failure),
    }
}

fn export(context: &Context, args: &ExportArgs) -> Result<WrittenTrace, Failure> {
    let folder = RunFolder::open(&args.run, Arc::default())?;
    let Some(path) = &args.out else {
        let mut bytes = Vec::new();
        let written = write_otlp(&folder, args.content, &mut bytes)?;
        context.output.result(&String::from_utf8_lossy(&bytes));
        return Ok(written);
    };
    refuse_part_of_run(path)?;
    let unwritable = |error: &dyn std::fmt::Display| {
        let message = format!("{} cannot be written: {error}", path.display());
        Failure::new(FailureClass::System, "report.io", message)
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(|e| unwritable(&e))?;
    let written = write_otlp(&folder, args.content, &mut BufWriter::new(&mut file))?;
    file.flush().map_err(|e| unwritable(&e))?;
    file.persist(path).map_err(|e| unwritable(&e.error))?;
    Ok(written)
}
