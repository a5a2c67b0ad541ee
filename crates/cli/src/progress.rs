//! Progress: a bar on a terminal, or lines for a log file. If standard error is a file or a pipe, the bar is
//! hidden.

mod waiting;

use crate::output::{Output, ProgressDisplay};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use planforge_diagnostics::render::escape;
use planforge_evaluate::study::Watch;
use planforge_llm::CallWatch;
use planforge_pipeline::{Progress, RunObserver};
use planforge_record::Event;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use waiting::{PendingWork, seconds};

/// A bar that counts.
pub(crate) fn counting(output: &Output, total: usize, what: &str) -> ProgressBar {
    // Cells of an evaluation run side by side: their bars share the terminal.
    static BARS: OnceLock<MultiProgress> = OnceLock::new();
    let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
    let bar = if output.terminal { BARS.get_or_init(MultiProgress::new).add(bar) } else { bar };
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
pub(crate) struct RunBar {
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
    pub(crate) fn new(output: &Output, tasks: usize, title: &str) -> Self {
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

    /// Receives events of the runner.
    pub(crate) fn observer(&self) -> RunObserver {
        let shown = Arc::clone(&self.shown);
        Arc::new(move |progress| match progress {
            Progress::Event(Event::StageStarted { task, stage, .. }) => {
                shown.set_message_line(format!("{}: {}", escape(task), escape(stage)));
            }
            Progress::Event(Event::Retry { attempt, wait_ms, failure, .. }) => {
                shown.set_message_line(format!(
                    "attempt {attempt} failed ({}), next in {:.1} s",
                    escape(&failure.message),
                    *wait_ms as f64 / 1000.0
                ))
            }
            Progress::Event(Event::TaskFinished { .. }) => {
                shown.done.fetch_add(1, Ordering::Relaxed);
                shown.bar.inc(1);
            }
            Progress::Event(_) => {}
            Progress::Work { .. } => shown.waiting.record_call(progress, Instant::now()),
            Progress::Call { done, total, what, .. } => shown.set_message_line(match total {
                0 => format!("{} ({done})", escape(what)),
                _ => format!("{} ({done} of {total})", escape(what)),
            }),
        })
    }

    /// Receives the phases of model calls.
    pub(crate) fn watch(&self) -> CallWatch {
        let shown = Arc::clone(&self.shown);
        Arc::new(move |step| shown.waiting.record_step(step, Instant::now()))
    }

    /// Removes the bar.
    pub(crate) fn finish(mut self) {
        drop(self.stop.take());
        if let Some(printer) = self.printer.take() {
            // It ends at once, and a panic in it is a panic that was printed.
            drop(printer.join());
        }
        self.shown.bar.finish_and_clear();
    }
}

impl RunDisplay {
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

/// The bar of a study: units of work done.
pub(crate) struct StudyBar {
    bar: ProgressBar,
    ended: Arc<AtomicBool>,
}

impl StudyBar {
    /// Starts a thread that redraws the bar, if standard error is a terminal.
    pub(crate) fn new(output: &Output, watch: Arc<Watch>) -> Self {
        let target =
            if output.terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("[{bar:30}] {pos}/{len}, {elapsed}, {eta} to go") {
            bar.set_style(style.progress_chars("=> "));
        }
        let ended = Arc::new(AtomicBool::new(!output.terminal));
        let (shown, stop) = (bar.clone(), Arc::clone(&ended));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let (done, total) = watch.progress();
                shown.set_length(total);
                shown.set_position(done);
                std::thread::sleep(Duration::from_millis(200));
            }
        });
        Self { bar, ended }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}
