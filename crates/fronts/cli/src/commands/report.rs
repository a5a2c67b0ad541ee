//! `planforge report`: one self-contained HTML file from runs and evaluations.

use crate::args::run_argument;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::report::report;
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
    context.show(report(&context.app, &args.folders, &args.out), |written| {
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
    })
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
