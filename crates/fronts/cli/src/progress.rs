//! Progress: a bar on a terminal, or lines for a log file. If standard error is a file or a pipe, the bar is
//! hidden.

use crate::output::{Output, ProgressDisplay};
use crate::pending::{PendingWork, seconds};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use planforge_app::diagnostics::render::escape;
use planforge_app::record::Event as RecordEvent;
use planforge_app::{CallStep, Event, Events, Progress, Work};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The bars on the terminal. Cells of an evaluation run side by side: their bars share it.
fn bars() -> &'static MultiProgress {
    static BARS: OnceLock<MultiProgress> = OnceLock::new();
    BARS.get_or_init(MultiProgress::new)
}

/// A bar that counts.
fn counting(output: &Output, total: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
    let bar = if output.terminal { bars().add(bar) } else { bar };
    // The template is a constant apart from one word of ours; a wrong one leaves the default bar.
    let template =
        format!("{{spinner}} {{prefix}}[{{bar:30}}] {{pos}}/{{len}} {what}, {{elapsed}} {{wide_msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Interval at which a bar is redrawn.
const REDRAW: Duration = Duration::from_millis(250);

/// The progress of a run: tasks done, and pending requests and calls.
struct RunBar {
    shown: Arc<RunDisplay>,
    /// Ends the printing thread.
    stop: Option<Sender<()>>,
    printer: Option<JoinHandle<()>>,
}

struct RunDisplay {
    bar: ProgressBar,
    title: String,
    total: usize,
    done: AtomicUsize,
    start: Instant,
    waiting: PendingWork,
    /// The latest message: a stage that started, a failed attempt, the progress of a call.
    last: Mutex<String>,
}

impl RunBar {
    /// Over so many tasks, with a title before it where there are several runs.
    fn new(output: &Output, tasks: usize, title: &str) -> Self {
        let bar = match output.progress {
            ProgressDisplay::Bar => counting(output, tasks, "tasks"),
            ProgressDisplay::Lines(_) | ProgressDisplay::Nothing => ProgressBar::hidden(),
        };
        if !title.is_empty() {
            bar.set_prefix(format!("{} ", escape(title)));
        }
        let shown = Arc::new(RunDisplay {
            bar,
            title: title.to_owned(),
            total: tasks,
            done: AtomicUsize::new(0),
            start: Instant::now(),
            waiting: PendingWork::default(),
            last: Mutex::default(),
        });
        let every = match output.progress {
            ProgressDisplay::Bar if output.terminal => Some(REDRAW),
            ProgressDisplay::Lines(every) => Some(every),
            ProgressDisplay::Bar | ProgressDisplay::Nothing => None,
        };
        let Some(every) = every else { return Self { shown, stop: None, printer: None } };
        let (stop, stopped) = mpsc::channel();
        let (telling, output) = (Arc::clone(&shown), output.clone());
        let printer = std::thread::spawn(move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                telling.print(&output);
            }
        });
        Self { shown, stop: Some(stop), printer: Some(printer) }
    }

    /// Removes the bar.
    fn finish(mut self) {
        drop(self.stop.take());
        if let Some(printer) = self.printer.take() {
            // It ends at once, and a panic in it is a panic that was printed.
            drop(printer.join());
        }
        self.shown.bar.finish_and_clear();
    }
}

impl RunDisplay {
    /// Shows a step of the runner.
    fn observe(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Event(RecordEvent::StageStarted { task, stage, .. }) => {
                self.set_message_line(format!("{}: {}", escape(task), escape(stage)));
            }
            Progress::Event(RecordEvent::Retry { attempt, wait_ms, failure, .. }) => {
                self.set_message_line(format!(
                    "attempt {attempt} failed ({}), next in {:.1} s",
                    escape(&failure.message),
                    *wait_ms as f64 / 1000.0
                ))
            }
            Progress::Event(RecordEvent::TaskFinished { .. }) => {
                self.done.fetch_add(1, Ordering::Relaxed);
                self.bar.inc(1);
            }
            Progress::Event(_) => {}
            Progress::Work { .. } => self.waiting.record_call(progress, Instant::now()),
            Progress::Call { done, total, what, .. } => self.set_message_line(match total {
                0 => format!("{} ({done})", escape(what)),
                _ => format!("{} ({done} of {total})", escape(what)),
            }),
        }
    }

    /// Shows a step of a request.
    fn record_step(&self, step: &CallStep<'_>) {
        self.waiting.record_step(step, Instant::now());
    }

    fn set_message_line(&self, what: String) {
        self.bar.set_message(what.clone());
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    /// Shows the pending requests and calls, or else the latest message.
    fn print(&self, output: &Output) {
        let now = Instant::now();
        let line = self.waiting.summary(now);
        let line = match line.is_empty() {
            true => self.last.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            false => line,
        };
        if output.progress == ProgressDisplay::Bar {
            self.bar.set_message(line);
            return;
        }
        let title = if self.title.is_empty() { String::new() } else { format!("{}: ", escape(&self.title)) };
        let done = self.done.load(Ordering::Relaxed);
        let elapsed = seconds(now.saturating_duration_since(self.start));
        let line = if line.is_empty() { String::new() } else { format!("; {line}") };
        output.note(&format!("{title}{done}/{} tasks, {elapsed}{line}", self.total));
    }
}

/// Prints the events of use cases on standard error.
pub(crate) struct EventPrinter {
    output: Output,
    runs: Mutex<BTreeMap<u64, RunBar>>,
    works: Mutex<BTreeMap<u64, ProgressBar>>,
}

impl EventPrinter {
    pub(crate) fn new(output: Output) -> Self {
        Self { output, runs: Mutex::default(), works: Mutex::default() }
    }

    fn run(&self, run: u64) -> Option<Arc<RunDisplay>> {
        lock(&self.runs).get(&run).map(|bar| Arc::clone(&bar.shown))
    }

    fn show_work(&self, work: &Work) {
        let mut works = lock(&self.works);
        if work.is_ended {
            if let Some(bar) = works.remove(&work.id) {
                bar.finish_and_clear();
            }
            return;
        }
        let bar = works.entry(work.id).or_insert_with(|| {
            counting(
                &self.output,
                usize::try_from(work.total.unwrap_or_default()).unwrap_or(usize::MAX),
                work.unit,
            )
        });
        if let Some(total) = work.total {
            bar.set_length(total);
        }
        bar.set_position(work.done);
        bar.set_message(escape(&work.message));
    }
}

impl Events for EventPrinter {
    fn receive(&self, event: &Event<'_>) {
        match event {
            Event::Findings { diagnostics, sources } => {
                bars().suspend(|| self.output.diagnostics(diagnostics, sources));
            }
            Event::Notice(notice) => bars().suspend(|| self.output.note(&notice.to_string())),
            Event::RunStarted { run, title, tasks, .. } => {
                lock(&self.runs).insert(*run, RunBar::new(&self.output, *tasks, title));
            }
            Event::Run { run, progress } => {
                if let Some(shown) = self.run(*run) {
                    shown.observe(progress);
                }
            }
            Event::Request { run, step } => {
                if let Some(shown) = self.run(*run) {
                    shown.record_step(step);
                }
            }
            Event::RunEnded { run } => {
                let bar = lock(&self.runs).remove(run);
                if let Some(bar) = bar {
                    bar.finish();
                }
            }
            Event::Work(work) => self.show_work(work),
            Event::Plan(_) | Event::Used { .. } => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
