//! `planforge pddl validate`: a domain, a problem with it, or a plan with both.

use crate::args::{MemoryArgs, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::count_line;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::validate::{Atom, ValidateRequest, ValidateResult, ValidationReport, validate};
use std::path::PathBuf;

/// Check a domain, a problem, or a plan.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl validate domain.pddl
  planforge pddl validate domain.pddl p01.pddl
  planforge pddl validate domain.pddl p01.pddl p01.plan --json")]
pub(crate) struct ValidateArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: Option<PathBuf>,
    /// The plan file.
    pub(crate) plan: Option<PathBuf>,
    /// Print every state of the plan, not only what failed.
    #[arg(long, conflicts_with = "json")]
    pub(crate) trace: bool,
    /// Give up on the plan after this many seconds; it is then undecided.
    #[arg(long, value_name = "S", default_value_t = 300.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &ValidateArgs) -> Exit {
    let request = ValidateRequest {
        domain: args.domain.clone().into(),
        problem: args.problem.clone().map(Into::into),
        plan: args.plan.clone().map(Into::into),
        in_words: None,
        limits: args.memory.with_seconds(Some(args.time_limit)),
    };
    context.show(validate(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
            return result.status;
        }
        context.output.result(&(verdict_line(args, &result) + "\n"));
        if let (Some(report), true) = (&result.validation, args.trace) {
            context.output.result(&trace(report));
        }
        context.output.diagnostics(&result.findings.diagnostics, &result.findings.sources);
        result.status
    })
}

fn verdict_line(args: &ValidateArgs, result: &ValidateResult) -> String {
    let what = match (&args.problem, &args.plan) {
        (_, Some(_)) => "plan",
        (Some(_), None) => "domain and problem",
        (None, None) => "domain",
    };
    let executed = result.validation.as_ref();
    let cost = executed.filter(|r| r.is_valid()).map(|r| {
        let cost = r.cost.map(|c| format!(", cost {c}")).unwrap_or_default();
        format!(" ({} steps{cost})", r.steps)
    });
    let warnings = count_line(&result.findings.diagnostics).filter(|_| executed.is_none());
    let counts = warnings.map(|w| format!(" ({w})")).unwrap_or_default();
    match result.decision {
        "accepted" if executed.is_some() => format!("plan valid{}", cost.unwrap_or_default()),
        "accepted" => format!("{what} good{counts}"),
        "rejected" if executed.is_some() => "plan invalid".to_owned(),
        "rejected" => format!("{what} not usable{counts}"),
        _ => format!("{what} not judged"),
    }
}

/// The initial state and what each step changed.
fn trace(report: &ValidationReport) -> String {
    let atoms = |atoms: &[Atom], sign: &str| -> String {
        atoms.iter().map(|a| format!("    {sign}{}\n", report.symbols.atom(a))).collect()
    };
    let mut out = format!("initial state\n{}", atoms(&report.initial, ""));
    for step in &report.trace {
        out.push_str(&format!("step {}: {}\n", step.index + 1, report.symbols.step(&step.action)));
        out.push_str(&atoms(&step.deleted, "- "));
        out.push_str(&atoms(&step.added, "+ "));
        for (term, value) in &step.numbers {
            out.push_str(&format!("    {} = {value}\n", report.symbols.function_term(term)));
        }
    }
    if let Some(failing) = &report.failing_step {
        out.push_str(&format!("step {}: {} cannot be executed\n", failing.index + 1, escape(&failing.text)));
    }
    out
}
