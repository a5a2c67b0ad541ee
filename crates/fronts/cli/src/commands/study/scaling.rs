//! `planforge study scaling`: samples, rounds and budgets with a simulated model.

use super::StudyFiles;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::study::{ScalingRequest, scaling};
use std::path::PathBuf;

/// Effect of samples, rounds and budgets, with a simulated model (test-time-scaling paper).
///
/// Fig. 3 to 5 of the paper. A spec lists sweeps: a pipeline file, one of its keys, and its values. Each
/// pipeline uses `provider-noisy-oracle` and ends with a verify stage labelled `final`. Success requires a
/// walk score of 1 and a domain that is not shown to differ from the reference on the task's problem; if a
/// stage is labelled `valid`, also a valid plan.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study scaling --spec examples/studies/scaling/study.toml --suites examples/suites \\\n    --out study/scaling --quick"
)]
pub(crate) struct ScalingArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// The sweeps: a TOML file; its pipeline files are relative to it.
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) spec: PathBuf,
    /// Seeds of each point and task, from --seed on [default: 10; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) seeds: Option<usize>,
    /// Tasks of each suite, the first by name [default: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
}

pub(super) fn run(context: &Context, args: &ScalingArgs) -> Exit {
    let request = ScalingRequest {
        files: args.files.request(),
        spec: args.spec.clone(),
        seeds: args.seeds.unwrap_or(if args.files.quick { 2 } else { 10 }) as u64,
        tasks: args.tasks.unwrap_or(1),
    };
    args.files.print(context, scaling(&context.app, &request), |study| study.table().text())
}
