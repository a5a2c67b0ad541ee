//! `planforge plugins try-environment`: whether a program keeps to the environment protocol.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::plugins::{CheckReport, CheckedStatus, ProcessEnvironmentOptions, try_environment};
use planforge_app::table::{Align, Table};
use std::path::PathBuf;

/// Check a program against the environment protocol.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge plugins try-environment -- python3 examples/environments/jugs.py
  planforge plugins try-environment --task examples/suites/jugs/p02 --json -- python3 examples/environments/jugs.py")]
pub(crate) struct TryEnvironmentArgs {
    /// The task sent to the program [default: a task without a name].
    #[arg(long, value_name = "DIR/STEM")]
    pub(crate) task: Option<PathBuf>,
    /// Seconds that the program may take for one answer.
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = positive_seconds)]
    pub(crate) timeout: f64,
    /// Seconds for the first answer, which includes the program's start.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = positive_seconds)]
    pub(crate) start_timeout: f64,
    /// Megabytes of address space for the program; 0 for no limit.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    pub(crate) memory_limit: u64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// The program and its arguments; no shell reads them.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &TryEnvironmentArgs) -> Exit {
    let options = ProcessEnvironmentOptions {
        command: args.command.clone(),
        timeout_s: args.timeout,
        start_timeout_s: args.start_timeout,
        memory_mb: args.memory_limit,
        ..Default::default()
    };
    context.show(try_environment(&context.app, &options, args.task.as_deref()), |result| {
        match args.json {
            true => context.output.json(&result),
            false => context.output.result(&text(&result.report)),
        }
        result.status()
    })
}

/// The verdict, a table of the checks, and the times of answers.
fn text(report: &CheckReport) -> String {
    let failed = report.checks.iter().filter(|c| c.status == CheckedStatus::Fail).count();
    let verdict = match failed {
        0 => "The program keeps to the protocol.".to_owned(),
        1 => "The program does not keep to the protocol: 1 check failed.".to_owned(),
        n => format!("The program does not keep to the protocol: {n} checks failed."),
    };
    let mut table = Table::new(["status", "check", "detail"].map(|name| (name, Align::Left)));
    for check in &report.checks {
        let status = match check.status {
            CheckedStatus::Pass => "pass",
            CheckedStatus::Fail => "FAIL",
            CheckedStatus::Skipped => "skip",
        };
        table.row([status, &check.name, &escape(&check.detail)]);
    }
    let mut out = format!("{verdict}\n\n{}", table.text());
    if !report.answer_ms.is_empty() {
        let times = report.answer_ms.iter().map(|(method, ms)| format!("{method} {ms:.2} ms"));
        out.push_str(&format!("\nTime of one answer: {}\n", times.collect::<Vec<_>>().join(", ")));
    }
    out
}
