//! `planforge runs`: what recorded runs hold.

mod rounds;

use crate::args::run_argument;
use crate::context::Context;
use crate::derivation;
use crate::exit::Exit;
use crate::outcome::{WITHOUT_ANSWER, counts};
use clap::{Args, Subcommand, ValueEnum};
use planforge_app::contract::ProblemSection;
use planforge_app::diagnostics::render::escape;
use planforge_app::runs::explain::{ExplainRequest, ExplainResult, Inferred, explain, section_name};
use planforge_app::runs::{ListedRun, RUNS, export, export_bytes, list, set_limits};
use planforge_app::table::{Align, Table};
use std::path::PathBuf;

/// List and inspect recorded runs, and change limits of a run.
///
/// Without a command, lists the runs from the newest. Where a command asks for a run, `last` names the newest one in `runs`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  planforge runs
  planforge runs rounds runs/20261121-101500-bon-ivml
  planforge runs explain runs/20261121-101500-tic-ic \"(clean shot5)\"
  planforge runs export runs/20261121-101500-llm-p --out trace.json"
)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum RunsCommand {
    Rounds(rounds::RoundsArgs),
    Explain(ExplainFactArgs),
    Export(ExportArgs),
    Limit(LimitArgs),
}

pub(crate) fn run(context: &Context, args: &RunsArgs) -> Exit {
    match &args.command {
        None => run_list(context, &args.list),
        Some(RunsCommand::Rounds(args)) => rounds::run(context, args),
        Some(RunsCommand::Explain(args)) => run_explain(context, args),
        Some(RunsCommand::Export(args)) => run_export(context, args),
        Some(RunsCommand::Limit(args)) => run_limit(context, args),
    }
}

/// Write a run as OpenTelemetry spans (OTLP JSON): run, tasks, stages, requests to models.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge runs export runs/20261121-101500-llm-p --out trace.json
  planforge runs export runs/20261121-101500-llm-p | curl -H 'Content-Type: application/json' --data-binary @- http://127.0.0.1:4318/v1/traces")]
pub(crate) struct ExportArgs {
    /// A run folder.
    #[arg(value_parser = run_argument())]
    run: PathBuf,
    /// The file to write; standard output if there is none.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Add the prompts and the replies.
    #[arg(long)]
    content: bool,
}

pub(crate) fn run_export(context: &Context, args: &ExportArgs) -> Exit {
    let written = match &args.out {
        Some(path) => export(&context.app, &args.run, path, args.content),
        None => export_bytes(&context.app, &args.run, args.content).map(|(written, bytes)| {
            context.output.result(&String::from_utf8_lossy(&bytes));
            written
        }),
    };
    context.show(written, |written| {
        let (spans, requests) = (written.spans, written.requests);
        let line =
            format!("{spans} spans, {requests} of them requests to models; trace {}", written.trace_id);
        context.output.note(&line);
        Exit::Good
    })
}

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

pub(crate) fn run_limit(context: &Context, args: &LimitArgs) -> Exit {
    context.show(set_limits(&context.app, &args.run, &args.limits), |message| {
        context.output.result(&format!("{message}\n"));
        Exit::Good
    })
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folder of the runs to list.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    runs: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

fn run_list(context: &Context, args: &ListArgs) -> Exit {
    let list = list(&context.app, &args.runs);
    if args.json {
        context.output.json(&list);
    } else if list.runs.is_empty() {
        context.output.result(&format!("There are no runs in {}.\n", args.runs.display()));
    } else {
        let mut table = Table::new(["run", "date", "pipeline", "result"].map(|name| (name, Align::Left)));
        list.runs.iter().for_each(|run| {
            // To the minute: `2026-11-24 04:10`.
            let date = run.created_at.chars().take(16).collect::<String>().replace('T', " ");
            table.row([run.run.clone(), date, run.pipeline.clone(), result(run)])
        });
        context.output.result(&table.text());
    }
    Exit::Good
}

fn result(run: &ListedRun) -> String {
    match (run.solved, run.in_progress) {
        (_, true) => "in progress".to_owned(),
        (Some(solved), false) => {
            let others = counts(&run.outcomes, &WITHOUT_ANSWER);
            let others = others.map_or_else(String::new, |others| format!(", {others}"));
            format!("{solved} of {} solved{others}", run.tasks)
        }
        (None, false) => "unfinished".to_owned(),
    }
}

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

pub(crate) fn run_explain(context: &Context, args: &ExplainFactArgs) -> Exit {
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
