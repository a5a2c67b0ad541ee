//! `planforge suite check`: everything wrong with suites, and a table of their tasks.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::Severity;
use planforge_app::diagnostics::render::escape;
use planforge_app::suite::{Goal, PipelineNeeds, Solved, SuiteCheckRequest, SuiteReport, check_suites};
use planforge_app::table::{Align, Table};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Report all mistakes in suites: PDDL, texts, templates, sentences, tasks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite check examples/suites/*
  planforge suite check my-suite --solve --time-limit 10 --json")]
pub(crate) struct SuiteCheckArgs {
    /// Folders of suites in the layout of planforge, LLM+P or the exploration-walk data, or with PDDL alone.
    #[arg(required = true)]
    pub(crate) suites: Vec<PathBuf>,
    /// A folder whose knowledge.lp, p_example.lp and sentences.toml replace those of the suites: DIR/SUITE or
    /// DIR.
    #[arg(long, value_name = "DIR")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Also search for a plan of every task.
    #[arg(long)]
    pub(crate) solve: bool,
    /// Seconds that the validation of one plan, or the search for one, may take.
    #[arg(long, value_name = "S", default_value_t = 30.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    /// Exit with 10 on warnings too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteCheckArgs) -> Exit {
    let request = SuiteCheckRequest {
        suites: args.suites.clone(),
        add_ons: args.add_on.clone(),
        solve: args.solve,
        seconds: args.time_limit,
        strict: args.strict,
    };
    let each = |report: &SuiteReport| {
        if !args.json {
            print(context, report);
        }
    };
    context.show(check_suites(&context.app, &request, each), |result| {
        if args.json {
            context.output.json(&result);
        }
        result.status
    })
}

fn print(context: &Context, report: &SuiteReport) {
    let SuiteReport { checked, level_texts, read_texts } = report;
    context.output.diagnostics(&checked.diagnostics, &checked.sources);
    if checked.suite.is_none() {
        return;
    }
    let solved = checked.tasks.iter().any(|row| row.solved.is_some());
    let columns = [
        ("task", Align::Left),
        ("text", Align::Left),
        ("problem", Align::Left),
        ("objects", Align::Right),
        ("facts", Align::Right),
        ("goal", Align::Left),
        ("errors", Align::Right),
    ];
    let mut table = Table::new(columns.into_iter().chain(solved.then_some(("plan", Align::Left))));
    for row in &checked.tasks {
        let yes = |there: bool| if there { "yes" } else { "-" }.to_owned();
        let goal = match (row.problem, row.goal) {
            (false, _) => "-",
            (true, Goal::Open) => "open",
            (true, Goal::Holds) => "holds",
            (true, Goal::Unknown) => "?",
        };
        let plan = match &row.solved {
            None => String::new(),
            Some(Solved::Plan(steps)) => format!("{steps} steps"),
            Some(Solved::Unsolvable) => "none exists".to_owned(),
            Some(Solved::Undecided(_)) => "not decided".to_owned(),
        };
        table.row([
            escape(&row.stem).to_string(),
            yes(row.text),
            yes(row.problem),
            row.objects.to_string(),
            row.facts.to_string(),
            goal.to_owned(),
            row.errors.to_string(),
            plan,
        ]);
    }
    let mut out = format!(
        "{}: {} tasks, {} errors, {} warnings\n\n{}\n",
        escape(&checked.name),
        checked.tasks.len(),
        checked.count(Severity::Error),
        checked.count(Severity::Warning),
        table.text()
    );
    push_pipelines(&mut out, &checked.pipelines);
    if *read_texts > 0 && checked.count(Severity::Error) == 0 {
        let _ = writeln!(out, "  texts: {read_texts} were read, and each states its problem");
    }
    if *level_texts > 0 && checked.count(Severity::Error) == 0 {
        let _ = writeln!(
            out,
            "  levels: {level_texts} texts imply their problems and need each relevant sentence"
        );
    }
    context.output.result(&out);
}

/// The shipped pipelines that the suite can serve, and what the others miss.
fn push_pipelines(out: &mut String, needs: &[PipelineNeeds]) {
    let served: Vec<&str> =
        needs.iter().filter(|own| own.missing.is_empty()).flat_map(|own| own.pipelines).copied().collect();
    if !served.is_empty() {
        let _ = writeln!(out, "  pipelines: {}", served.join(", "));
    }
    for own in needs {
        let names = own.pipelines.join(", ");
        match own.missing.is_empty() {
            false => {
                let _ = writeln!(out, "  not {names}: missing {}", escape(&own.missing.join("; ")));
            }
            true => own.without.iter().for_each(|without| {
                let _ = writeln!(out, "  {names} without {}", escape(without));
            }),
        }
    }
}
