//! `planforge suite generate`: tasks from a seed.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::suite::{GenerateRequest, counted, generate};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Generate tasks from a seed with the suite's generator.jinja.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite generate examples/suites/grippers
  planforge suite generate examples/suites/grippers --tasks 10 --seed 7 --out /tmp/grippers")]
pub(crate) struct SuiteGenerateArgs {
    /// The suite's folder, with domain.nl, domain.pddl and generator.jinja.
    pub(crate) suite: PathBuf,
    /// Number of tasks. Without this and the next two options, `[generate]` of suite.toml counts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) tasks: Option<u32>,
    /// The seed of all of them.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// The number of the first task; sizes grow with it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub(crate) from: Option<u32>,
    /// Also make the in-context example, with a plan.
    #[arg(long)]
    pub(crate) example: bool,
    /// Write a separate suite into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Limit: search nodes for solving a task; harder draws are skipped.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub(crate) nodes: u64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteGenerateArgs) -> Exit {
    let request = GenerateRequest {
        suite: args.suite.clone(),
        tasks: args.tasks,
        seed: args.seed,
        from: args.from,
        example: args.example,
        out: args.out.clone(),
        force: args.force,
        nodes: args.nodes,
    };
    context.show(generate(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return Exit::Good;
        }
        let mut out = format!("{}: {} from seed {}\n", result.folder, counted(&result.files), result.seed);
        for task in &result.tasks {
            let redrawn = match task.redrawn.last() {
                None => String::new(),
                Some(why) => format!(", draw {} (before it: {})", task.redrawn.len() + 1, escape(why)),
            };
            let _ = writeln!(out, "{}: a plan of {} steps{redrawn}", task.stem, task.plan_steps);
        }
        context.output.result(&out);
        Exit::Good
    })
}
