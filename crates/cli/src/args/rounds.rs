//! The command line of `planforge rounds`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RoundsArgs {
    /// A run folder.
    pub(crate) run: PathBuf,
    /// Look at this task alone: `blocks.p01`, or `p01`.
    #[arg(long)]
    pub(crate) task: Option<String>,
    /// Look at this action alone.
    #[arg(long, value_name = "NAME")]
    pub(crate) action: Option<String>,
    /// Print one JSON object instead of text.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print a Markdown table: what the text says of an action, the action before, the critique and the action after.
    #[arg(long)]
    pub(crate) markdown: bool,
}
