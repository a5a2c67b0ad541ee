//! `planforge pddl validate`: a domain, a problem with it, or a plan with both.

use super::preferences;
use crate::args::{MemoryArgs, positive_seconds};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::count_line;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::pddl::validate::{
    Atom, Phase, ValidateRequest, ValidateResult, ValidationReport, gantt_text, validate, write_gantt,
};
use std::path::{Path, PathBuf};

/// Check a domain, a problem, or a plan.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge pddl validate domain.pddl
  planforge pddl validate domain.pddl p01.pddl
  planforge pddl validate domain.pddl p01.pddl p01.plan --json
  planforge pddl validate domain.pddl p01.pddl p01.plan --gantt p01.svg")]
pub(crate) struct ValidateArgs {
    /// The domain file.
    pub(crate) domain: PathBuf,
    /// The problem file.
    pub(crate) problem: Option<PathBuf>,
    /// The plan file.
    pub(crate) plan: Option<PathBuf>,
    /// Print the initial state and the changes of every step.
    #[arg(long, conflicts_with = "json")]
    pub(crate) trace: bool,
    /// Least time between actions of which one changes what the other needs, in a plan with times; durations may differ from their
    /// bounds by as much. Planners print times with three digits.
    #[arg(long, value_name = "T", default_value_t = 0.001, value_parser = epsilon, requires = "plan")]
    pub(crate) epsilon: f64,
    /// Write the Gantt chart of a plan with times: .svg, or text into any other file; `-` prints it.
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub(crate) gantt: Option<PathBuf>,
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
        epsilon: Some(args.epsilon),
        limits: args.memory.with_seconds(Some(args.time_limit)),
    };
    context.show(validate(&context.app, &request), |result| {
        let drawn = match args.gantt.as_deref() {
            Some(path) if path == Path::new("-") => gantt_text(&result).map(Some),
            Some(path) => write_gantt(&context.app, &result, path).map(|()| None),
            None => Ok(None),
        };
        if args.json {
            context.output.json(&result);
        } else {
            show(context, args, &result, drawn.as_ref().ok().and_then(Option::as_deref));
        }
        match drawn {
            // Any other verdict says why the plan was not executed.
            Err(error) if result.status == Exit::Good || error.status != Exit::Usage => {
                result.status.max(context.print_error(&error))
            }
            _ => result.status,
        }
    })
}

fn show(context: &Context, args: &ValidateArgs, result: &ValidateResult, chart: Option<&str>) {
    context.output.result(&(verdict_line(args, result) + "\n"));
    if let Some(report) = &result.validation {
        preferences(&report.preferences).iter().for_each(|line| context.output.result(&format!("{line}\n")));
        if args.trace {
            context.output.result(&trace(report));
        }
    }
    context.output.result(chart.unwrap_or_default());
    context.output.diagnostics(&result.findings.diagnostics, &result.findings.sources);
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
        let times = r
            .schedule
            .as_ref()
            .map(|schedule| format!(", makespan {}, epsilon {}", schedule.makespan, schedule.epsilon));
        format!(" ({} steps{cost}{})", r.steps, times.unwrap_or_default())
    });
    let warnings = count_line(&result.findings.diagnostics).filter(|_| executed.is_none());
    let counts = warnings.map(|w| format!(" ({w})")).unwrap_or_default();
    match result.decision {
        "accepted" if executed.is_some() => format!("plan valid{}", cost.unwrap_or_default()),
        "accepted" => format!("{what} good{counts}"),
        "rejected" if executed.is_some() => {
            format!("plan invalid{}", executed.map(reason).unwrap_or_default())
        }
        "rejected" => format!("{what} not usable{counts}"),
        _ => format!("{what} not judged"),
    }
}

fn epsilon(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time >= 0.0 && time.is_finite() => Ok(time),
        _ => Err(format!("`{text}` is not a time from 0 on")),
    }
}

/// The first error of a plan that was executed by its times, and the epsilon that it was judged with.
fn reason(report: &ValidationReport) -> String {
    let Some(schedule) = &report.schedule else { return String::new() };
    let first = report.diagnostics.iter().find(|finding| finding.is_error());
    let why = first.map(|finding| format!(": {}", escape(&finding.message))).unwrap_or_default();
    format!(" (epsilon {}){why}", schedule.epsilon)
}

/// The initial state and what each step changed.
fn trace(report: &ValidationReport) -> String {
    let atoms = |atoms: &[Atom], sign: &str| -> String {
        atoms.iter().map(|a| format!("    {sign}{}\n", report.symbols.atom(a))).collect()
    };
    let mut out = format!("initial state\n{}", atoms(&report.initial, ""));
    let mut timed = report.schedule.iter().flat_map(|schedule| &schedule.timed).peekable();
    for step in &report.trace {
        let moment = match step.moment {
            None => String::new(),
            Some((time, Phase::Whole)) => format!(", at {time}"),
            Some((time, Phase::Start)) => format!(", start at {time}"),
            Some((time, Phase::End)) => format!(", end at {time}"),
        };
        let time = step.moment.map(|(time, _)| time);
        while let Some(literal) = timed
            .next_if(|literal| time.is_some_and(|time| time.compare(literal.time).is_some_and(|o| o.is_ge())))
        {
            out.push_str(&format!("at {}: {}\n", literal.time, literal.text));
        }
        out.push_str(&format!("step {}: {}{moment}\n", step.index + 1, report.symbols.step(&step.action)));
        out.push_str(&atoms(&step.deleted, "- "));
        out.push_str(&atoms(&step.added, "+ "));
        for (term, value) in &step.numbers {
            out.push_str(&format!("    {} = {value}\n", report.symbols.function_term(term)));
        }
    }
    let judged = report.is_valid() || report.diagnostics.iter().any(|finding| finding.is_error());
    if judged && report.failing_step.is_none() {
        for literal in timed {
            out.push_str(&format!("at {}: {}\n", literal.time, literal.text));
        }
    }
    if let Some(failing) = &report.failing_step {
        out.push_str(&format!("step {}: {} cannot be executed\n", failing.index + 1, escape(&failing.text)));
    }
    out
}
