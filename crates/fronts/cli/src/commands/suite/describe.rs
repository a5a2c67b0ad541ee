//! `planforge suite describe`: texts from PDDL (exploration-walk paper, Appendix C).

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::suite::{DescribeRequest, counted, describe};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Let a model write the missing texts of a suite: domain, facts, tasks.
#[derive(Debug, Args)]
#[command(
    after_help = "The pipeline file says which model; in-context examples are planforge's own suites, or those that --example names.

Examples:
  planforge suite describe my-suite --pipeline configs/pipelines/describe.toml --set llm.main.model=gpt-4o
  planforge suite describe my-suite --pipeline describe.toml --example examples/suites/hiking --out /tmp/texts"
)]
pub(crate) struct SuiteDescribeArgs {
    /// The suite's folder, with domain.pddl and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The pipeline file: stages of `translator-describe`, such as configs/pipelines/describe.toml.
    #[arg(long, value_name = "FILE")]
    pub(crate) pipeline: PathBuf,
    /// A suite whose texts are shown as an in-context example, instead of planforge's own. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) example: Vec<PathBuf>,
    /// Override a key of the pipeline file, such as `llm.main.model=gpt-4o`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// Write the texts into this folder instead.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Rewrite existing texts too.
    #[arg(long)]
    pub(crate) force: bool,
    /// Take every reply from this cassette or run folder; send no request. Repeatable.
    #[arg(long, value_name = "CASSETTE")]
    pub(crate) replay: Vec<PathBuf>,
    /// Folder for run folders.
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Tasks in parallel.
    #[arg(long, short, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteDescribeArgs) -> Exit {
    let request = DescribeRequest {
        suite: args.suite.clone(),
        pipeline: args.pipeline.clone(),
        examples: args.example.clone(),
        set: args.overrides.clone(),
        out: args.out.clone(),
        force: args.force,
        replay: args.replay.clone(),
        runs: args.runs.clone(),
        jobs: args.jobs,
    };
    context.show(describe(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return result.status();
        }
        let files = &result.files;
        let what = if files.is_empty() { "nothing to write".to_owned() } else { counted(files) };
        let mut out = format!("{}: {what}\n", result.suite);
        if !result.without_text.is_empty() {
            let _ = writeln!(out, "still without a text: {}", result.without_text.join(", "));
        }
        for entry in files {
            let _ = writeln!(out, "{}", entry.file);
        }
        context.output.result(&out);
        result.status()
    })
}
