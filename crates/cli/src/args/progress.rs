//! How the progress of runs is shown.

use crate::output::Shows;
use clap::{Args, ValueEnum};
use std::time::Duration;

/// Options of commands that run pipelines.
#[derive(Debug, Args)]
pub(crate) struct ProgressArgs {
    /// How progress is shown on standard error, with what is being waited for.
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ProgressWord::Bar)]
    progress: ProgressWord,
    /// Seconds between two lines of `--progress plain`.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    progress_every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProgressWord {
    /// A bar on a terminal, nothing elsewhere.
    Bar,
    /// A line every so often, for the log file of a run that nobody watches.
    Plain,
    /// Nothing.
    None,
}

impl ProgressArgs {
    /// What was asked for.
    pub(crate) const fn shows(&self) -> Shows {
        match self.progress {
            ProgressWord::Bar => Shows::Bar,
            ProgressWord::Plain => Shows::Lines(Duration::from_secs(self.progress_every)),
            ProgressWord::None => Shows::Nothing,
        }
    }
}
