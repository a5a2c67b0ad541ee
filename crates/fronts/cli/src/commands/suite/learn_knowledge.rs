//! `planforge suite learn-knowledge`: the rules of a knowledge file from pairs of texts and problems.

mod judge;
mod representations;

use super::inferred::InferredComparer;
use crate::args::positive_seconds;
use crate::context::Context;
use crate::exit::Exit;
use crate::files::refuse_part_of_run;
use crate::inference::Inferrer;
use crate::progress::counting;
use crate::tasks::add_on;
use clap::Args;
use judge::{Judge, KnowledgeReport, TaskRole};
use planforge_asp::learn::LearnLimits;
use planforge_contract::{Candidate, Failure, FailureClass, Given, TaskView, TranslateRequest};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pipeline::{Suite, load_leniently};
use planforge_translator_asp::{AspTranslatorOptions, LearnInput, LearnPair, LearnResult, Mode};
use representations::Representations;
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
    match learn(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn learn(context: &Context, args: &SuiteLearnKnowledgeArgs) -> Result<Exit, Exit> {
    let print = |failure: Failure| context.print_failure(&failure);
    if let Some(path) = &args.out {
        refuse_part_of_run(path).map_err(print)?;
    }
    let loaded = load_leniently(&args.suite);
    // Texts are not needed.
    let errors: Vec<Diagnostic> = loaded.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    context.output.diagnostics(&errors, &loaded.sources);
    let mut suites = vec![loaded.suite.filter(|_| errors.is_empty()).ok_or(Exit::Input)?];
    add_on(context, &args.add_on, &mut suites)?;
    let suite = suites.remove(0);
    let representations = Representations::of(context, &suite, args.replies.as_deref())?;
    let pairs = pairs(context, args, &suite, &representations)?;
    let options = AspTranslatorOptions { mode: Mode::Infer, ..AspTranslatorOptions::default() };
    let inferrer = Inferrer::new(context, &options).map_err(print)?;
    let bar = counting(&context.output, 0, "learning");
    let found = learned(context, args, &suite, pairs, &inferrer);
    bar.finish_and_clear();
    let (knowledge, result) = found.map_err(print)?;
    if let Some(path) = &args.out
        && let Err(error) = std::fs::write(path, &knowledge)
    {
        let message = format!("{} cannot be written: {error}", path.display());
        context
            .output
            .diagnostics(&[Diagnostic::error("cli.unwritable-file", message)], &SourceMap::default());
        return Err(Exit::System);
    }
    let judge = Judge { comparer: InferredComparer { context, suite: &suite, inferrer: &inferrer } };
    let bar = counting(&context.output, suite.tasks.len(), "tasks");
    let mut tasks = Vec::new();
    for task in &suite.tasks {
        let role = if args.from.contains(&task.stem) { TaskRole::Learned } else { TaskRole::HeldBack };
        let representation = representations.by_task.get(&task.stem).map(String::as_str);
        tasks.push(judge.task(task, role, representation, &knowledge, &result).map_err(print)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let report = KnowledgeReport {
        suite: suite.name.clone(),
        representations: representations.origin,
        knowledge,
        result,
        tasks,
    };
    match args.json {
        true => context.output.json(&report),
        false => context.output.result(&report.text()),
    }
    Ok(if report.all_held_back_are_equivalent() { Exit::Good } else { Exit::Negative })
}

/// The pairs to learn from.
fn pairs(
    context: &Context,
    args: &SuiteLearnKnowledgeArgs,
    suite: &Suite,
    representations: &Representations,
) -> Result<Vec<LearnPair>, Exit> {
    let mut pairs = Vec::new();
    for name in &args.from {
        let task = suite.tasks.iter().find(|task| task.stem == *name);
        let problem = task.and_then(|task| task.reference_problem.clone());
        let representation = representations.by_task.get(name).cloned();
        let (Some(problem), Some(representation)) = (problem, representation) else {
            let message = match task {
                None => format!("{} has no task `{name}`", args.suite.display()),
                Some(_) => format!("`{name}` has no reference problem or no representation"),
            };
            return Err(context.usage_error(&message, Some("name tasks with both with --from")));
        };
        pairs.push(LearnPair { name: name.clone(), representation, problem });
    }
    Ok(pairs)
}

fn learned(
    context: &Context,
    args: &SuiteLearnKnowledgeArgs,
    suite: &Suite,
    pairs: Vec<LearnPair>,
    inferrer: &Inferrer,
) -> Result<(String, LearnResult), Failure> {
    let limits = LearnLimits { max_conditions: args.max_conditions, max_candidates: args.max_candidates };
    let input = LearnInput { pairs, limits, time_s: args.time_limit };
    let document =
        |error: serde_json::Error| Failure::new(FailureClass::Plugin, "translate-asp.job", error.to_string());
    let request = TranslateRequest {
        task: TaskView {
            suite: suite.name.clone(),
            given: Given { domain: suite.reference_domain.clone(), problem: None },
            ..TaskView::default()
        },
        candidate: Candidate {
            texts: [("pairs", serde_json::to_string(&input).map_err(document)?)].into_iter().collect(),
            ..Candidate::default()
        },
        n: 1,
        ..TranslateRequest::default()
    };
    let patch = inferrer.call(context, &request)?;
    let text = |name: &str| patch.texts.named.get(name).cloned().unwrap_or_default();
    Ok((text("knowledge"), serde_json::from_str(&text("learned")).map_err(document)?))
}
