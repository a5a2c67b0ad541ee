//! `planforge runs limit`: other limits for a run in progress.

use crate::changes::{CHANGED, NOT_CHANGED, limits_file, parse_limits};
use crate::context::Context;
use crate::exit::Exit;
use crate::files::unwritable;
use crate::run_names::run_argument;
use clap::Args;
use planforge_contract::Failure;
use planforge_record::{Event, RecordError, RunFolder};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time within which the running process answers; it looks once a second.
const WAIT: Duration = Duration::from_secs(30);

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
    match set_limits(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn set_limits(context: &Context, args: &LimitArgs) -> Result<Exit, Exit> {
    let failed = |error: RecordError| context.print_failure(&Failure::from(error));
    let run = RunFolder::open(&args.run, Arc::default()).map_err(failed)?;
    let limits = parse_limits(context, &args.limits, &run.manifest().models)?;
    let refuse_ended = || {
        let message = format!("{}: the run is not in progress", args.run.display());
        let help = format!(
            "`planforge run --resume {} --set {}` goes on with other limits",
            args.run.display(),
            args.limits.join(" --set ")
        );
        context.usage_error(message, Some(&help))
    };
    let is_in_progress = || RunFolder::is_in_progress(&args.run).map_err(failed);
    if !is_in_progress()? {
        return Err(refuse_ended());
    }
    let file = limits_file(&args.run);
    let before = answers(&run).len();
    let new = file.with_extension("new");
    let written = std::fs::write(&new, serde_json::Value::Object(limits).to_string());
    written
        .and_then(|()| std::fs::rename(&new, &file))
        .map_err(|error| unwritable(context, &file, &error))?;
    let end = Instant::now() + WAIT;
    while file.exists() && Instant::now() < end && is_in_progress()? {
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(std::fs::remove_file(&file));
    let run = RunFolder::open(&args.run, Arc::default()).map_err(failed)?;
    match answers(&run).get(before) {
        Some((message, true)) => {
            context.output.result(&format!("{message}\n"));
            Ok(Exit::Good)
        }
        Some((message, false)) => Err(context.usage_error(message.clone(), None)),
        None => Err(refuse_ended()),
    }
}

/// The lines of the journal about limits, and whether they were changed.
fn answers(run: &RunFolder) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    run.each_event(|event| {
        if let Event::Log { plugin, message, .. } = event
            && plugin == "planforge"
            && (message.starts_with(CHANGED) || message.starts_with(NOT_CHANGED))
        {
            found.push((message.clone(), message.starts_with(CHANGED)));
        }
    });
    found
}
