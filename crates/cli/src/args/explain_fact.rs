//! The command line of `planforge explain-fact`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ExplainFactArgs {
    /// A run folder, or a file that `planforge infer --json` wrote.
    pub(crate) run: PathBuf,
    /// The fact, `(clean shot5)`, or the object, `shot5` or `shot5 - shot`. Case and spacing do not count; the reasoner's form,
    /// `init(clean(shot5))`, is taken too. Without it: every part of the problem, or with --idle only
    /// the lines without effect.
    pub(crate) fact: Option<String>,
    /// Look at this task alone: `blocks.p01`, or `p01`.
    #[arg(long)]
    pub(crate) task: Option<String>,
    /// Look in this part of the problem alone.
    #[arg(long, value_enum)]
    pub(crate) section: Option<Section>,
    /// List the lines that have no effect, and why.
    #[arg(long)]
    pub(crate) idle: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// The objects.
    Objects,
    /// The initial state.
    Init,
    /// The goal.
    Goal,
    /// The metric.
    Metric,
}
