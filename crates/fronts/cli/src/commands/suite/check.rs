//! `planforge suite check`: everything wrong with suites, and a table of their tasks.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use crate::limits::WorkLimits;
use clap::Args;
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::Severity;
use planforge_diagnostics::render::escape;
use planforge_evaluate::{Align, Table};
use planforge_planning::ResourceLimits;
use planforge_suites::check::{Checked, Goal, PipelineNeeds, Solved, TaskRow, check};
use planforge_suites::paraphrase::Paraphraser;
use serde::Serialize;
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
    let overall = WorkLimits::new(None);
    let bar = crate::progress::counting(&context.output, args.suites.len(), "suites");
    let mut all = Vec::new();
    for folder in &args.suites {
        let mut fresh = || -> Box<dyn ResourceLimits> { Box::new(WorkLimits::new(Some(args.time_limit))) };
        let mut checked = check(folder, &args.add_on, &mut fresh, args.solve);
        let level_texts = match check_levels(context, &mut checked) {
            Ok(texts) => texts,
            Err(exit) => return exit,
        };
        bar.inc(1);
        if !args.json {
            bar.suspend(|| print(context, &checked, level_texts));
        }
        all.push((checked, level_texts));
        if overall.is_interrupted() {
            break;
        }
    }
    bar.finish_and_clear();
    let exit = match overall.is_interrupted() {
        true => Exit::Interrupted,
        false => all.iter().map(|(checked, _)| exit_of(checked, args.strict)).max().unwrap_or(Exit::Good),
    };
    if args.json {
        let suites: Vec<Report<'_>> =
            all.iter().map(|(checked, texts)| Report::of(checked, *texts)).collect();
        context.output.json(&serde_json::json!({ "good": exit == Exit::Good, "suites": suites }));
    }
    exit
}

/// Proves the texts of all levels of the suite, and returns their number.
fn check_levels(context: &Context, checked: &mut Checked) -> Result<usize, Exit> {
    if checked.count(Severity::Error) > 0 {
        return Ok(0);
    }
    let Some(suite) = checked.suite.as_ref().filter(|suite| suite.wordings.is_some()) else { return Ok(0) };
    // Without a reference domain there is nothing to prove.
    let Ok(paraphraser) = Paraphraser::new(suite, super::template_renderer(context)?) else { return Ok(0) };
    let levels: Vec<u8> = paraphraser.levels().collect();
    if levels.is_empty() {
        return Ok(0);
    }
    let proven = super::levels::prove(context, suite, &paraphraser, &levels, 1, &mut checked.sources)?;
    checked.diagnostics.extend(proven.diagnostics);
    Ok(proven.texts.len())
}

fn exit_of(checked: &Checked, strict: bool) -> Exit {
    let wrong = checked.count(Severity::Error) + if strict { checked.count(Severity::Warning) } else { 0 };
    match (checked.suite.is_some(), wrong) {
        (false, _) => Exit::Input,
        (true, 0) => Exit::Good,
        (true, _) => Exit::Negative,
    }
}

#[derive(Serialize)]
struct Report<'a> {
    suite: &'a str,
    readable: bool,
    errors: usize,
    warnings: usize,
    tasks: &'a [TaskRow],
    /// Texts of levels whose proofs were tried.
    level_texts: usize,
    /// The shipped pipelines with what the suite lacks for them.
    pipelines: &'a [PipelineNeeds],
    diagnostics: Vec<ReportedDiagnostic>,
}

impl<'a> Report<'a> {
    fn of(checked: &'a Checked, level_texts: usize) -> Self {
        Self {
            suite: &checked.name,
            readable: checked.suite.is_some(),
            errors: checked.count(Severity::Error),
            warnings: checked.count(Severity::Warning),
            tasks: &checked.tasks,
            level_texts,
            pipelines: &checked.pipelines,
            diagnostics: checked
                .diagnostics
                .iter()
                .map(|d| ReportedDiagnostic::of(d, &checked.sources))
                .collect(),
        }
    }
}

fn print(context: &Context, checked: &Checked, level_texts: usize) {
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
    if level_texts > 0 && checked.count(Severity::Error) == 0 {
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
