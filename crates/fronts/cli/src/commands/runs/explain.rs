//! `planforge runs explain`: the lines and rules behind a part of an inferred problem.

use crate::args::run_argument;
use crate::context::Context;
use crate::derivation;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use planforge_app::contract::ProblemSection;
use planforge_app::diagnostics::render::escape;
use planforge_app::runs::explain::{ExplainRequest, ExplainResult, Inferred, explain, section_name};
use std::path::PathBuf;

/// Explain a fact, object or goal of an inferred problem by the lines and rules behind it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge runs explain runs/20261121-101500-tic-ic \"(clean shot5)\"
  planforge runs explain runs/20261121-101500-tic-ic shot5 --task p01 --section objects
  planforge runs explain p01.json --idle

Exits with 10 where no inferred problem has it, and then names the nearest.")]
pub(crate) struct ExplainFactArgs {
    /// A run folder, or a file that `planforge pddl infer --json` wrote.
    #[arg(value_parser = run_argument())]
    pub(crate) run: PathBuf,
    /// The fact, `(clean shot5)`, or the object, `shot5` or `shot5 - shot`. Case and spacing are ignored; the
    /// reasoner's form, `init(clean(shot5))`, is accepted too [default: every part of the problem, or with
    /// --idle the lines without effect].
    pub(crate) fact: Option<String>,
    /// Only this task: `blocks.p01`, or `p01`.
    #[arg(long)]
    pub(crate) task: Option<String>,
    /// Only this part of the problem.
    #[arg(long, value_enum)]
    pub(crate) section: Option<Section>,
    /// List the lines that have no effect, and why.
    #[arg(long)]
    pub(crate) idle: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A part of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// The objects.
    Objects,
    /// The initial state.
    Init,
    /// The goal.
    Goal,
    /// The metric.
    Metric,
}

impl From<Section> for ProblemSection {
    fn from(section: Section) -> Self {
        match section {
            Section::Objects => Self::Objects,
            Section::Init => Self::Init,
            Section::Goal => Self::Goal,
            Section::Metric => Self::Metric,
        }
    }
}

pub(crate) fn run(context: &Context, args: &ExplainFactArgs) -> Exit {
    let request = ExplainRequest {
        run: args.run.clone(),
        fact: args.fact.clone(),
        task: args.task.clone(),
        section: args.section.map(Into::into),
        idle: args.idle,
    };
    context.show(explain(&context.app, &request), |result| {
        if args.json {
            context.output.json(&result);
        }
        match (&result.nearest, &args.fact) {
            (Some(nearest), Some(fact)) => print_nearest(context, args, fact, nearest),
            _ if args.json => {}
            _ => context.output.result(&text(&result, args.idle)),
        }
        result.status()
    })
}

fn print_nearest(context: &Context, args: &ExplainFactArgs, fact: &str, nearest: &[String]) {
    let of = args.section.map(|section| format!(" in :{}", section_name(section.into()))).unwrap_or_default();
    context.output.note(&format!("error: no inferred problem has `{}`{of}", escape(fact)));
    if !nearest.is_empty() {
        let nearest: Vec<String> = nearest.iter().map(|near| format!("`{}`", escape(near))).collect();
        context.output.note(&format!("help: the nearest are {}", nearest.join(", ")));
    }
}

fn text(result: &ExplainResult, idle: bool) -> String {
    let mut out = String::new();
    let mut last: Option<&Inferred> = None;
    for (inferred, entry) in result.parts() {
        if last.is_none_or(|last| !std::ptr::eq(last, inferred)) {
            out.push_str(&heading(inferred));
            last = Some(inferred);
        }
        out.push_str(&derivation::tree(&inferred.inference, entry));
    }
    if idle {
        for inferred in &result.problems {
            if result.problems.len() > 1 || last.is_none() {
                out.push_str(&heading(inferred));
            }
            out.push_str(&derivation::idle(&inferred.inference));
        }
    }
    out
}

/// The heading of a problem; empty for a file, which contains one.
fn heading(inferred: &Inferred) -> String {
    match inferred.candidates.as_slice() {
        [] => String::new(),
        [one] => format!("=== {}\n", escape(one)),
        [one, rest @ ..] => format!("=== {} and {} more with the same problem\n", escape(one), rest.len()),
    }
}
