//! `planforge suite learn-knowledge`: the rules of a knowledge file from pairs of texts and problems.

use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::diagnostics::render::escape;
use planforge_app::suite::{
    Comparison, KnowledgeReport, LearnRequest, TaskResult, TaskRole, learn_knowledge,
};
use planforge_app::table::{Align, Table};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Learn the rules of knowledge.lp from pairs of texts and problems, and judge them on the other tasks.
///
/// The text of a pair is given as its intermediate representation. Rules of up to `--max-conditions` conditions are tried until the
/// representations of the pairs give their reference problems. Then the problems of all tasks are inferred with the learned rules
/// and compared with the references, up to the names of objects.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite learn-knowledge examples/suites/blocks
  planforge suite learn-knowledge my-suite --from p01,p03 --replies runs/2026-11-22-tic --out knowledge.lp --json")]
pub(crate) struct SuiteLearnKnowledgeArgs {
    /// The suite's folder, with reference problems.
    pub(crate) suite: PathBuf,
    /// The tasks to learn from.
    #[arg(long, value_name = "TASKS", value_delimiter = ',', default_value = "p01,p02")]
    pub(crate) from: Vec<String>,
    /// Representations of the texts: a run folder or cassette of translator-asp, or a folder of files TASK.lp. Without it the
    /// reference problems, without the predicates of which the suite's p_example.lp states no single facts.
    #[arg(long, value_name = "PATH")]
    pub(crate) replies: Option<PathBuf>,
    /// A folder whose knowledge.lp and p_example.lp replace those of the suite: DIR/SUITE or DIR. Repeatable.
    #[arg(long, value_name = "DIR")]
    pub(crate) add_on: Vec<PathBuf>,
    /// Most conditions of a rule, apart from the types of its variables.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=4))]
    pub(crate) max_conditions: u32,
    /// Limit: rules tried for one predicate.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_candidates: u32,
    /// Seconds for the search; afterwards the rules found so far are judged.
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = positive_seconds)]
    pub(crate) time_limit: f64,
    /// Write the learned knowledge file here.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &SuiteLearnKnowledgeArgs) -> Exit {
    let request = LearnRequest {
        suite: args.suite.clone(),
        from: args.from.clone(),
        replies: args.replies.clone(),
        add_ons: args.add_on.clone(),
        max_conditions: args.max_conditions,
        max_candidates: args.max_candidates,
        seconds: args.time_limit,
        out: args.out.clone(),
    };
    context.show(learn_knowledge(&context.app, &request), |report| {
        match args.json {
            true => context.output.json(&report),
            false => context.output.result(&text(&report)),
        }
        report.status()
    })
}

/// A report as text.
fn text(report: &KnowledgeReport) -> String {
    let good = |of: fn(&TaskResult) -> &Option<Comparison>| {
        report.held_back().filter(|task| *of(task) == Some(Comparison::Equivalent)).count()
    };
    let own_file = match report.tasks.iter().any(|task| task.own_file.is_some()) {
        true => format!(", {} with the suite's knowledge file", good(|task| &task.own_file)),
        false => String::new(),
    };
    let mut out = format!(
        "{}: {} of {} held-back tasks are equivalent to their reference with the learned rules, {} without rules{own_file}\n",
        escape(&report.suite),
        good(|task| &task.learned),
        report.held_back().count(),
        good(|task| &task.without_rules),
    );
    let _ = writeln!(out, "representations: {}\n\n{}", report.representations, report.knowledge);
    let words =
        |comparison: &Option<Comparison>| comparison.as_ref().map_or("-", Comparison::word).to_owned();
    let columns = ["task", "role", "without rules", "learned rules", "suite's file"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for task in &report.tasks {
        let role = if task.role == TaskRole::Learned { "learned from" } else { "held back" };
        table.row([
            escape(&task.task).to_string(),
            role.to_owned(),
            words(&task.without_rules),
            words(&task.learned),
            words(&task.own_file),
        ]);
    }
    out.push_str(&table.text());
    push_failures(report, &mut out);
    out
}

fn push_failures(report: &KnowledgeReport, out: &mut String) {
    let learned = &report.result.learned;
    for task in &report.tasks {
        if let Some(Comparison::Different(why) | Comparison::Refused(why)) = &task.learned {
            let _ = writeln!(out, "\n{}: {}", escape(&task.task), escape(why));
        }
    }
    for pair in &report.result.pairs {
        if let Some(why) = &pair.refused {
            let _ = writeln!(out, "\n{} was not used: {}", escape(&pair.name), escape(why));
        }
        if !pair.contradicted.is_empty() {
            let first = escape(&pair.contradicted[0]);
            let count = pair.contradicted.len();
            let _ = writeln!(
                out,
                "\n{}: {count} facts of its representation are not in the reference, such as {first}",
                escape(&pair.name)
            );
        }
    }
    for open in &learned.unexplained {
        let _ = writeln!(
            out,
            "\nno rules for {}: {} facts missing, {} of them explained; for example {}",
            open.conclusion, open.missing, open.explained, open.fact
        );
    }
    for cut in &learned.cut {
        let _ = writeln!(out, "\nnot tried: {cut}");
    }
    let _ = writeln!(out, "\n{} rules tried", learned.candidates);
}
