//! `planforge pddl infer`: an intermediate representation completed by the reasoner and compiled to a problem.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::derivation;
use crate::exit::Exit;
use clap::Args;
use planforge_app::contract::Inference;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::infer::{InferRequest, InferResult, infer};
use std::path::PathBuf;

/// Complete an intermediate representation and compile it to a problem (Translate-Infer-Compile).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl infer --suite examples/suites/blocks examples/suites/blocks/p_example.lp
  planforge pddl infer --domain domain.pddl --knowledge knowledge.lp task.lp --out task.pddl
  planforge pddl infer --suite examples/suites/blocks task.lp --explain
  planforge pddl infer --domain domain.pddl task.lp --json")]
pub(crate) struct InferArgs {
    /// The intermediate representation: facts and rules that state what a text states.
    pub(crate) ir: PathBuf,
    /// The domain.
    #[arg(long, value_name = "FILE", required_unless_present = "suite")]
    pub(crate) domain: Option<PathBuf>,
    /// Rules that complete representations of the domain.
    #[arg(long, value_name = "FILE")]
    pub(crate) knowledge: Option<PathBuf>,
    /// A suite folder: takes its domain.pddl and knowledge.lp, unless the options above name others.
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// A folder whose knowledge.lp replaces that of the suite: DIR/SUITE or DIR. Repeatable.
    #[arg(long, value_name = "DIR", requires = "suite")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Write the problem into this file instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also print the origin of each object, fact and number of the problem.
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Give up after this many seconds.
    #[arg(long, value_name = "S", default_value_t = 20.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    /// Give up when the child process that reasons holds more than this many megabytes.
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..=2048))]
    pub(crate) memory_limit: u32,
    /// Limit: answer sets compared if there are several. They must be the same problem up to the names of
    /// objects.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) models: u32,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &InferArgs) -> Exit {
    let request = InferRequest {
        representation: args.ir.clone().into(),
        domain: args.domain.clone().map(Into::into),
        knowledge: args.knowledge.clone().map(Into::into),
        suite: args.suite.clone(),
        add_ons: args.add_on.clone(),
        out: args.out.clone(),
        seconds: args.time_limit,
        memory_mb: args.memory_limit,
        models: args.models,
    };
    context.show(infer(&context.app, &request), |result| {
        match (&result.failure, args.json) {
            (_, true) => context.output.json(&result),
            // Without findings, the failure says what is wrong.
            (Some(failure), false) if result.findings.diagnostics.is_empty() => {
                context.output.failure(failure)
            }
            (_, false) => context.output.diagnostics(&result.findings.diagnostics, &result.findings.sources),
        }
        if !args.json {
            print_text(context, args, &result);
        }
        result.status
    })
}

/// The problem and its explanation, or the decision.
fn print_text(context: &Context, args: &InferArgs, result: &InferResult) {
    let report = &result.report;
    if let Some(message) = &report.message {
        context.output.result(&format!("{}: {}\n", report.decision, escape(message)));
        return;
    }
    let is_printed = args.out.is_none();
    if is_printed {
        context.output.result(report.problem.as_deref().unwrap_or_default());
    }
    if args.explain {
        let inference = report.inference.clone().unwrap_or_default();
        context.output.result(&explanation_text(&inference, is_printed));
    }
}

/// The origin of each part of the problem, and the lines without effect. With `is_after_problem`, the
/// problem is printed first.
fn explanation_text(inference: &Inference, is_after_problem: bool) -> String {
    let mut out = String::new();
    let mut gap = is_after_problem;
    for entry in &inference.entries {
        if std::mem::replace(&mut gap, true) {
            out.push('\n');
        }
        out.push_str(&derivation::tree(inference, entry));
    }
    out.push('\n');
    out.push_str(&derivation::idle(inference));
    out
}
