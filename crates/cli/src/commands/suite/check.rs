//! `planforge suite check`: everything wrong with suites, and a table of their tasks.

use crate::args::SuiteCheckArgs;
use crate::commands::Context;
use crate::exit::Exit;
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::Severity;
use planforge_diagnostics::render::escape;
use planforge_planning::{Budget, Poll, StopReason};
use planforge_suites::check::{Checked, Goal, Solved, TaskRow, check};
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Most bytes that the search for one plan may use.
const MEMORY: u64 = 4 << 30;

pub(crate) fn run(context: &Context, args: &SuiteCheckArgs) -> Exit {
    let interrupted = crate::session::interrupt_flag();
    let bar = crate::progress::counting(&context.output, args.suites.len(), "suites");
    let mut all = Vec::new();
    for folder in &args.suites {
        let mut fresh = || -> Box<dyn Budget> { Box::new(Clock::new(args.time_limit, &interrupted)) };
        let checked = match args.solve {
            true => check(folder, Some(&mut fresh)),
            false => check(folder, None),
        };
        bar.inc(1);
        if !args.json {
            bar.suspend(|| print(context, &checked));
        }
        all.push(checked);
        if interrupted.load(Ordering::Relaxed) {
            return Exit::Interrupted;
        }
    }
    bar.finish_and_clear();
    let exit = all.iter().map(|checked| exit_of(checked, args.strict)).max().unwrap_or(Exit::Good);
    if args.json {
        let suites: Vec<Report<'_>> = all.iter().map(Report::of).collect();
        context.output.json(&serde_json::json!({ "good": exit == Exit::Good, "suites": suites }));
    }
    exit
}

fn exit_of(checked: &Checked, strict: bool) -> Exit {
    let wrong = checked.count(Severity::Error) + if strict { checked.count(Severity::Warning) } else { 0 };
    match (checked.readable, wrong) {
        (false, _) => Exit::Input,
        (true, 0) => Exit::Good,
        (true, _) => Exit::Negative,
    }
}

/// The limits of one search.
struct Clock {
    deadline: Option<Instant>,
    interrupted: Arc<AtomicBool>,
    bytes: u64,
}

impl Clock {
    fn new(seconds: f64, interrupted: &Arc<AtomicBool>) -> Self {
        let deadline = Instant::now().checked_add(Duration::from_secs_f64(seconds));
        Self { deadline, interrupted: Arc::clone(interrupted), bytes: 0 }
    }
}

impl Budget for Clock {
    fn poll(&mut self) -> Poll {
        if self.interrupted.load(Ordering::Relaxed) {
            return Poll::Stop(StopReason::Cancelled);
        }
        match self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            true => Poll::Stop(StopReason::Time),
            false => Poll::Continue,
        }
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MEMORY { Poll::Stop(StopReason::Memory) } else { self.poll() }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    suite: &'a str,
    readable: bool,
    errors: usize,
    warnings: usize,
    tasks: &'a [TaskRow],
    diagnostics: Vec<ReportedDiagnostic>,
}

impl<'a> Report<'a> {
    fn of(checked: &'a Checked) -> Self {
        Self {
            suite: &checked.name,
            readable: checked.readable,
            errors: checked.count(Severity::Error),
            warnings: checked.count(Severity::Warning),
            tasks: &checked.tasks,
            diagnostics: checked
                .diagnostics
                .iter()
                .map(|d| ReportedDiagnostic::of(d, &checked.sources))
                .collect(),
        }
    }
}

fn print(context: &Context, checked: &Checked) {
    context.output.diagnostics(&checked.diagnostics, &checked.sources);
    if !checked.readable {
        return;
    }
    let solved = checked.tasks.iter().any(|row| row.solved.is_some());
    let width = checked.tasks.iter().map(|row| row.stem.chars().count()).max().unwrap_or(0).max(4);
    let mut out = format!(
        "{}: {} tasks, {} errors, {} warnings\n",
        escape(&checked.name),
        checked.tasks.len(),
        checked.count(Severity::Error),
        checked.count(Severity::Warning)
    );
    let plan = if solved { "  plan" } else { "" };
    let _ = writeln!(out, "  {:width$}  text  problem  objects  facts  goal   errors{plan}", "task");
    for row in &checked.tasks {
        let yes = |there: bool| if there { "yes" } else { "-" };
        let goal = match (row.problem, row.goal) {
            (false, _) => "-",
            (true, Goal::Open) => "open",
            (true, Goal::Holds) => "holds",
            (true, Goal::Unknown) => "?",
        };
        let plan = match &row.solved {
            None => String::new(),
            Some(Solved::Plan(steps)) => format!("  {steps} steps"),
            Some(Solved::Unsolvable) => "  none exists".to_owned(),
            Some(Solved::Undecided(_)) => "  not decided".to_owned(),
        };
        let _ = writeln!(
            out,
            "  {:width$}  {:4}  {:7}  {:>7}  {:>5}  {goal:5}  {:>6}{plan}",
            escape(&row.stem),
            yes(row.text),
            yes(row.problem),
            row.objects,
            row.facts,
            row.errors
        );
    }
    context.output.result(&out);
}
