//! What a use case sends while it works.

use crate::context::Context;
use crate::pipelines::prices::ListedPrice;
use crate::pipelines::programs::StartedProgram;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_llm::{CallStep, CallWatch};
use planforge_pipeline::{Progress, RunObserver};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Receives the events of use cases, on any thread.
pub trait Events: Send + Sync {
    /// Receives an event. Must return soon: the sender waits.
    fn receive(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Events for F {
    fn receive(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Something that happened.
#[derive(Debug)]
pub enum Event<'e> {
    /// Findings about what was read that do not end the use case.
    Findings {
        /// The findings, at least one.
        diagnostics: &'e [Diagnostic],
        /// The texts.
        sources: &'e SourceMap,
    },
    /// Something worth knowing.
    Notice(&'e Notice),
    /// A run of a pipeline started.
    RunStarted {
        /// Number of the run, unique in the process.
        run: u64,
        /// Name of the run among others; empty for a single one.
        title: &'e str,
        /// Number of tasks.
        tasks: usize,
    },
    /// The runner got on: a stage started, a task finished, a plugin was called.
    Run {
        /// Number of the run.
        run: u64,
        /// The step.
        progress: &'e Progress<'e>,
    },
    /// A request to a model got on.
    Request {
        /// Number of the run.
        run: u64,
        /// The step.
        step: &'e CallStep<'e>,
    },
    /// A run ended.
    RunEnded {
        /// Number of the run.
        run: u64,
    },
    /// Work that is counted got on, started or ended.
    Work(&'e Work),
}

/// The state of work that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Number of the work, unique in the process.
    pub id: u64,
    /// Name of the unit, plural: `tasks`.
    pub unit: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all; `None` if unknown.
    pub total: Option<u64>,
    /// The current unit, or an empty text.
    pub message: String,
    /// True after the last unit.
    pub is_ended: bool,
}

/// Something worth knowing that is not a finding in a text. Its display is one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A warning.
    Warning(String),
    /// The price of a model table comes from a list.
    PriceListed {
        /// Name of the table.
        table: String,
        /// The entry.
        price: Box<ListedPrice>,
    },
    /// The run starts a program or loads a library.
    ProgramStarted(Box<StartedProgram>),
    /// A replayed run takes its replies from this cassette and sends no request.
    RepliesFrom(PathBuf),
    /// A run's report differed from the recorded one and was replaced.
    ReportRestored(PathBuf),
    /// A file of tables, figures or curves was left out, or was written with a remark.
    Remark(String),
    /// A message of a batch service's client.
    BatchService(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warning(text) => write!(f, "warning: {text}"),
            Self::PriceListed { table, price } => write!(f, "[llm.{table}]: {}", price.line()),
            Self::ProgramStarted(program) => f.write_str(&program.line()),
            Self::RepliesFrom(cassette) => {
                write!(f, "the run takes its replies from {} and sends no request", cassette.display())
            }
            Self::ReportRestored(path) => write!(f, "{} was written anew from the journal", path.display()),
            Self::Remark(text) => f.write_str(text),
            Self::BatchService(text) => f.write_str(&planforge_diagnostics::render::escape(text)),
        }
    }
}

/// Numbers of runs and of counted work.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

fn next_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// Sends the progress of a run. Its end is sent when this is dropped.
pub(crate) struct RunProgress {
    context: Context,
    run: u64,
}

impl RunProgress {
    pub(crate) fn start(context: &Context, title: &str, tasks: usize) -> Self {
        let run = next_number();
        context.send(&Event::RunStarted { run, title, tasks });
        Self { context: context.clone(), run }
    }

    /// Receives events of the runner.
    pub(crate) fn observer(&self) -> RunObserver {
        let (context, run) = (self.context.clone(), self.run);
        Arc::new(move |progress| context.send(&Event::Run { run, progress }))
    }

    /// Receives the phases of model calls.
    pub(crate) fn watch(&self) -> CallWatch {
        let (context, run) = (self.context.clone(), self.run);
        Arc::new(move |step| context.send(&Event::Request { run, step }))
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.context.send(&Event::RunEnded { run: self.run });
    }
}

/// Sends the progress of counted work. Its end is sent when this is dropped.
pub(crate) struct WorkProgress {
    context: Context,
    work: std::sync::Mutex<Work>,
}

impl WorkProgress {
    pub(crate) fn start(context: &Context, unit: &'static str, total: Option<u64>) -> Self {
        let work = Work { id: next_number(), unit, done: 0, total, message: String::new(), is_ended: false };
        context.send(&Event::Work(&work));
        Self { context: context.clone(), work: std::sync::Mutex::new(work) }
    }

    fn update(&self, change: impl FnOnce(&mut Work)) {
        let mut work = self.work.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut work);
        self.context.send(&Event::Work(&work));
    }

    /// One more unit is done.
    pub(crate) fn advance(&self) {
        self.update(|work| work.done += 1);
    }

    /// So many units of so many are done.
    pub(crate) fn set(&self, done: u64, total: Option<u64>) {
        self.update(|work| (work.done, work.total) = (done, total));
    }

    /// The work turns to this unit.
    pub(crate) fn set_message(&self, message: impl Into<String>) {
        self.update(|work| work.message = message.into());
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        self.update(|work| work.is_ended = true);
    }
}
