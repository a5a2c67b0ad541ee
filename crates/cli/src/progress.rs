//! A progress bar on a terminal; nothing where standard error is a file or a pipe.

use crate::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use planforge_contract::Event;
use planforge_diagnostics::render::escape;
use planforge_pipeline::{Progress, RunObserver};
use std::sync::Arc;
use std::time::Duration;

/// The bar of a run: tasks done, and what is being done.
pub(crate) struct RunBar {
    bar: ProgressBar,
}

impl RunBar {
    /// A bar over so many tasks.
    pub(crate) fn new(output: &Output, tasks: usize) -> Self {
        let target =
            if output.terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(tasks as u64), target);
        // The template is a constant; a wrong one leaves the default bar.
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} [{bar:30}] {pos}/{len} tasks, {elapsed} {wide_msg}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
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
