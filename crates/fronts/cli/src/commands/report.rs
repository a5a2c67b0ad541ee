//! `planforge report`: one self-contained HTML file from runs and evaluations.

use crate::context::Context;
use crate::exit::Exit;
use crate::files::refuse_part_of_run;
use crate::progress::counting;
use crate::run_names::run_argument;
use clap::Args;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::render::escape;
use planforge_report::Written;
use std::io::BufWriter;
use std::path::Path;
use std::path::PathBuf;

/// Write one self-contained HTML file about runs and evaluations.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge report runs/20261121-101500-llm-p --out report.html
  planforge report evaluation --out evaluation.html
  planforge report runs/A runs/B --out both.html              # the same task side by side")]
pub(crate) struct ReportArgs {
    /// Folders of runs or evaluations, finished or not.
    #[arg(value_name = "DIR", required = true, value_parser = run_argument())]
    pub(crate) folders: Vec<PathBuf>,
    /// The HTML file to write; one that is there is replaced once the new one is whole.
    #[arg(long, default_value = "report.html", value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Print one JSON object with the contents of the report.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &ReportArgs) -> Exit {
    if let Err(failure) = refuse_part_of_run(&args.out) {
        return context.print_failure(&failure);
    }
    let written = match write_report(context, args) {
        Ok(written) => written,
        Err(failure) if failure.class == FailureClass::Request => {
            context.print_failure(&failure);
            return Exit::Input;
        }
        Err(failure) => return context.print_failure(&failure),
    };
    for warning in &written.warnings {
        context.output.note(&format!("warning: {}", escape(warning)));
    }
    let out = args.out.display();
    if args.json {
        context.output.json(&written);
    } else {
        context.output.result(&format!(
            "{out}: {}, {}, {}, {}; {}\n",
            counted(written.runs, "run"),
            counted(written.tasks, "task"),
            counted(written.candidates, "candidate"),
            counted(written.calls, "call"),
            size(written.bytes)
        ));
    }
    Exit::Good
}

fn write_report(context: &Context, args: &ReportArgs) -> Result<Written, Failure> {
    let folder = args.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unwritable = |error: &dyn std::fmt::Display| {
        let message = format!("{} cannot be written: {error}", args.out.display());
        Failure::new(FailureClass::System, "report.io", message)
    };
    let bar = counting(&context.output, 0, "runs");
    let mut progress = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let file = tempfile::NamedTempFile::new_in(folder).map_err(|e| unwritable(&e))?;
    let mut out = BufWriter::new(file);
    let written = planforge_report::write(&args.folders, &mut out, &mut progress);
    bar.finish_and_clear();
    let written = written?;
    let file = out.into_inner().map_err(|e| unwritable(&e))?;
    readable(file.as_file()).map_err(|e| unwritable(&e))?;
    file.persist(&args.out).map_err(|e| unwritable(&e.error))?;
    Ok(written)
}

/// Gives the report the permissions of a normal new file; temporary files are private to their owner.
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
