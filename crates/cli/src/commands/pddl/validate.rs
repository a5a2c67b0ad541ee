//! `planforge pddl validate`: a domain, a problem with it, or a plan with both.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::{Exit, of_stop};
use crate::inputs::Inputs;
use crate::limits::WorkLimits;
use crate::output::count_line;
use clap::Args;
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::render::escape;
use planforge_planning::{ValidationDecision, ValidationReport};
use planforge_plugin_common::judging::reports::ValidateReport;
use std::path::Path;
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
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The exit code, its name in JSON, and the validation of a plan, if there is one.
struct Outcome {
    exit: Exit,
    decision: &'static str,
    report: Option<ValidationReport>,
}

pub(crate) fn run(context: &Context, args: &ValidateArgs) -> Exit {
    let mut inputs = Inputs::read(&args.domain, args.problem.as_deref());
    let outcome = match (&args.problem, &args.plan) {
        (Some(_), Some(plan)) => judge_plan(&mut inputs, plan, args.time_limit),
        (Some(_), None) => judge_task(&mut inputs),
        _ => from_reading(&inputs),
    };
    if args.json {
        context.output.json(&json(&inputs, &outcome));
    } else {
        context.output.diagnostics(&inputs.texts.diagnostics, &inputs.texts.sources);
        context.output.result(&(verdict_line(args, &outcome, &inputs) + "\n"));
        if let Some(report) = &outcome.report
            && args.trace
        {
            context.output.result(&trace(report));
        }
    }
    outcome.exit
}

fn from_reading(inputs: &Inputs) -> Outcome {
    let exit = inputs.exit();
    let decision = match exit {
        Exit::Good => "accepted",
        Exit::Negative => "rejected",
        _ => "undecided",
    };
    Outcome { exit, decision, report: None }
}

/// A domain and a problem are good if planning and plan validation accept them.
fn judge_task(inputs: &mut Inputs) -> Outcome {
    if !inputs.unreadable {
        inputs.texts.check_task();
    }
    from_reading(inputs)
}

fn judge_plan(inputs: &mut Inputs, path: &Path, time_limit: f64) -> Outcome {
    let (source, text) = inputs.load_plan(path);
    // A file that cannot be read says nothing about the plan.
    let Some(text) = text.filter(|_| !inputs.unreadable) else { return from_reading(inputs) };
    let mut limits = WorkLimits::new(Some(time_limit));
    let Some(report) = inputs.texts.validate_plan(source, &text, &mut limits) else {
        return from_reading(inputs);
    };
    let (exit, decision) = match &report.decision {
        ValidationDecision::Valid => (Exit::Good, "accepted"),
        ValidationDecision::Invalid => (Exit::Negative, "rejected"),
        ValidationDecision::Unsupported(_) => (Exit::Undecided, "undecided"),
        ValidationDecision::LimitReached(reason) => (of_stop(*reason), "undecided"),
    };
    Outcome { exit, decision, report: Some(report) }
}

fn verdict_line(args: &ValidateArgs, outcome: &Outcome, inputs: &Inputs) -> String {
    let what = match (&args.problem, &args.plan) {
        (_, Some(_)) => "plan",
        (Some(_), None) => "domain and problem",
        (None, None) => "domain",
    };
    let cost = outcome.report.as_ref().filter(|r| r.is_valid()).map(|r| {
        let cost = r.cost.map(|c| format!(", cost {c}")).unwrap_or_default();
        format!(" ({} steps{cost})", r.steps)
    });
    let warnings = count_line(&inputs.texts.diagnostics).filter(|_| outcome.report.is_none());
    let counts = warnings.map(|w| format!(" ({w})")).unwrap_or_default();
    match outcome.decision {
        "accepted" if outcome.report.is_some() => format!("plan valid{}", cost.unwrap_or_default()),
        "accepted" => format!("{what} good{counts}"),
        "rejected" if outcome.report.is_some() => "plan invalid".to_owned(),
        "rejected" => format!("{what} not usable{counts}"),
        _ => format!("{what} not judged"),
    }
}

fn json(inputs: &Inputs, outcome: &Outcome) -> ValidateReport {
    ValidateReport {
        valid: outcome.decision == "accepted",
        decision: outcome.decision.to_owned(),
        diagnostics: inputs
            .texts
            .diagnostics
            .iter()
            .map(|d| ReportedDiagnostic::of(d, &inputs.texts.sources))
            .collect(),
        cost: outcome.report.as_ref().filter(|r| r.is_valid()).and_then(|r| r.cost),
    }
}

/// The initial state and what each step changed.
fn trace(report: &ValidationReport) -> String {
    let atoms = |atoms: &[planforge_planning::task::Atom], sign: &str| -> String {
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
