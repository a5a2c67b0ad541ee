//! What a run would ask, without asking.

use clap::Args;

/// Options of commands that run pipelines.
#[derive(Debug, Args)]
pub(crate) struct DryRunArgs {
    /// Ask nobody and write nothing: say how many calls are paid for, can be made now and may be made at most, with estimates of tokens and
    /// of what they cost where prices are stated.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How many tokens an estimate takes a reply to have, where `max_tokens` is not less.
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "dry_run")]
    pub(crate) reply_tokens: u64,
}
