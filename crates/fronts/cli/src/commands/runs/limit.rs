//! `planforge runs limit`: other limits for a run in progress.

use crate::args::run_argument;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::runs::set_limits;
use std::path::PathBuf;

/// Change the limits of a run in progress.
///
/// The keys are max_concurrency, requests_per_minute, max_calls, max_total_tokens and max_cost_usd of a model table. A cap can only be set
/// above what is used. The run applies the change within a second or so and notes it in its journal. A later resumption has the limits of
/// the pipeline file again.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge runs limit runs/20261121-101500-llm-p llm.main.max_concurrency=8"
)]
pub(crate) struct LimitArgs {
    /// The run folder.
    #[arg(value_parser = run_argument())]
    run: PathBuf,
    /// The new limits.
    #[arg(required = true, value_name = "llm.NAME.KEY=VALUE")]
    limits: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &LimitArgs) -> Exit {
    context.show(set_limits(&context.app, &args.run, &args.limits), |message| {
        context.output.result(&format!("{message}\n"));
        Exit::Good
    })
}
