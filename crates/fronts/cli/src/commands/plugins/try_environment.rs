//! `planforge plugins try-environment`: whether a program keeps to the environment protocol.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use crate::interrupt::interrupt_flag;
use crate::progress::counting;
use clap::Args;
use indicatif::ProgressBar;
use planforge_contract::EnvironmentOpen;
use planforge_contract::api::{Host, LogLevel};
use planforge_diagnostics::render::escape;
use planforge_environment_process::{CheckReport, ProcessEnvironmentOptions, Status, check};
use planforge_evaluate::{Align, Table};
use planforge_pipeline::load_task;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    let task = match args.task.as_deref().map_or(Ok(EnvironmentOpen::default()), |t| open(context, t)) {
        Ok(task) => task,
        Err(exit) => return exit,
    };
    let options = ProcessEnvironmentOptions {
        command: args.command.clone(),
        timeout_s: args.timeout,
        start_timeout_s: args.start_timeout,
        memory_mb: args.memory_limit,
        ..Default::default()
    };
    let bar = counting(&context.output, 0, "checks");
    let watch = CheckHost { interrupted: interrupt_flag(), bar: bar.clone() };
    let report = check(&options, &task, &watch);
    bar.finish_and_clear();
    match report {
        Err(failure) => context.print_failure(&failure),
        Ok(report) => {
            if args.json {
                context.output.json(&json(&report));
            } else {
                context.output.result(&text(&report));
            }
            if report.conforms() { Exit::Good } else { Exit::Negative }
        }
    }
}

/// The task's names for the program. It does not get the reference.
fn open(context: &Context, path: &Path) -> Result<EnvironmentOpen, Exit> {
    let loaded = load_task(path);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let Some(suite) = loaded.suite else { return Err(Exit::Input) };
    let task = suite.tasks.first().map(|t| t.stem.clone()).unwrap_or_default();
    Ok(EnvironmentOpen { suite: suite.name, task, sentences: suite.sentences, ..EnvironmentOpen::default() })
}

fn json(report: &CheckReport) -> serde_json::Value {
    serde_json::json!({
        "conforms": report.conforms(),
        "command": report.command,
        "checks": report.checks,
        "start_ms": report.start_ms,
        "answer_ms": report.answer_ms.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
    })
}

/// The verdict, a table of the checks, and the times of answers.
fn text(report: &CheckReport) -> String {
    let failed = report.checks.iter().filter(|c| c.status == Status::Fail).count();
    let verdict = match failed {
        0 => "The program keeps to the protocol.".to_owned(),
        1 => "The program does not keep to the protocol: 1 check failed.".to_owned(),
        n => format!("The program does not keep to the protocol: {n} checks failed."),
    };
    let mut table = Table::new(["status", "check", "detail"].map(|name| (name, Align::Left)));
    for check in &report.checks {
        let status = match check.status {
            Status::Pass => "pass",
            Status::Fail => "FAIL",
            Status::Skipped => "skip",
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

/// The host of a check: a progress bar and the interrupt flag.
struct CheckHost {
    interrupted: Arc<AtomicBool>,
    bar: ProgressBar,
}

impl Host for CheckHost {
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.bar.set_message(format!("{what} ({done} of {total})"));
    }
    fn cancelled(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}
