//! A progress bar on a terminal; nothing where standard error is a file or a pipe.

use crate::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use planforge_contract::Event;
use planforge_diagnostics::render::escape;
use planforge_evaluate::study::Watch;
use planforge_pipeline::{Progress, RunObserver};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A bar that counts.
pub(crate) fn counting(output: &Output, total: usize, what: &str) -> ProgressBar {
    let target = if output.terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(total as u64), target);
    // The template is a constant apart from one word of ours; a wrong one leaves the default bar.
    let template =
        format!("{{spinner}} {{prefix}}[{{bar:30}}] {{pos}}/{{len}} {what}, {{elapsed}} {{wide_msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The bar of a run: tasks done, and what is being done.
pub(crate) struct RunBar {
    bar: ProgressBar,
}

impl RunBar {
    /// A bar over so many tasks, with a title before it where there are several runs.
    pub(crate) fn new(output: &Output, tasks: usize, title: &str) -> Self {
        let bar = counting(output, tasks, "tasks");
        if !title.is_empty() {
            bar.set_prefix(format!("{} ", escape(title)));
        }
        Self { bar }
    }

    /// What the runner tells.
    pub(crate) fn observer(&self) -> RunObserver {
        let bar = self.bar.clone();
        Arc::new(move |progress| match progress {
            Progress::Event(Event::StageStarted { task, stage, .. }) => {
                bar.set_message(format!("{}: {}", escape(task), escape(stage)));
            }
            Progress::Event(Event::Retry { attempt, wait_ms, failure, .. }) => bar.set_message(format!(
                "attempt {attempt} failed ({}), next in {:.1} s",
                escape(&failure.message),
                *wait_ms as f64 / 1000.0
            )),
            Progress::Event(Event::TaskFinished { .. }) => bar.inc(1),
            Progress::Event(_) => {}
            Progress::Call { done, total, what, .. } => bar.set_message(match total {
                0 => format!("{} ({done})", escape(what)),
                _ => format!("{} ({done} of {total})", escape(what)),
            }),
        })
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The bar of a study: units of work done.
pub(crate) struct StudyBar {
    bar: ProgressBar,
    ended: Arc<AtomicBool>,
}

impl StudyBar {
    /// A bar that follows a study from a thread of its own, where there is a terminal to draw it on.
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

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}
