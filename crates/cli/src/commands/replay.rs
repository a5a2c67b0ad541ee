//! `planforge replay`: a recorded run again, without network or key.

use crate::context::Context;
use crate::exit::Exit;
use crate::exit::of_report;
use crate::outcome::print_outcome;
use crate::recorded_run::{replay_run, restore_report};
use crate::run_names::run_argument;
use clap::Args;
use planforge_contract::Failure;
use planforge_record::RunFolder;
use std::path::PathBuf;
use std::sync::Arc;

/// Repeat a recorded run without network or key: same verdicts, or the missing replies.
///
/// Changes nothing on disk, except that a report.json that differs from the recorded one is replaced.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge replay runs/20261121-101500-llm-p")]
pub(crate) struct ReplayArgs {
    /// The run folder.
    #[arg(value_parser = run_argument())]
    pub(crate) run: PathBuf,
    /// Tasks and samples in parallel.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &ReplayArgs) -> Exit {
    let folder = match RunFolder::open(&args.run, Arc::default()) {
        Ok(folder) => Arc::new(folder),
        Err(error) => return context.print_failure(&Failure::from(error)),
    };
    match replay_run(context, &folder, args.jobs) {
        Ok((ended, tasks)) => {
            if let Err(exit) = restore_report(context, &folder, &ended.report) {
                return exit;
            }
            print_outcome(context, &ended, &tasks, args.json, None);
            of_report(&ended.report, false)
        }
        Err(exit) => exit,
    }
}
