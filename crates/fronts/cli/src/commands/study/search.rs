//! `planforge study search`: pipelines against each other with a simulated model, at the same number of replies.

use super::StudyFiles;
use super::run_with_progress;
use super::strategy::FINAL;
use super::strategy::Strategy;
use super::strategy::strategy;
use super::strategy::suites;
use super::write_artefacts;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_contract::{Decision, Failure, FailureClass};
use planforge_diagnostics::render::escape;
use planforge_evaluate::study::search::{SearchRun, SearchStudy};
use planforge_evaluate::study::{Watch, run_all};
use planforge_pipeline::RunTask;
use planforge_record::{Event, Journal};
use serde_json::Value;
use std::path::PathBuf;

/// Compare search strategies at the same number of replies, with a simulated model.
///
/// Each strategy is a pipeline file that uses `provider-noisy-oracle` and ends with a verify stage labelled
/// `final`. Every strategy is run on the first tasks of the suites with the same seeds.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  planforge study search --strategies examples/studies/search/*.toml --suites examples/suites \\\n    --out study/search --quick"
)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) files: StudyFiles,
    /// Pipeline files; the others are compared with the first.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) strategies: Vec<PathBuf>,
    /// Seeds of each strategy and task, from --seed on [default: 10; quick: 2].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) seeds: Option<usize>,
    /// Tasks of each suite, the first by name [default: 1].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
}

pub(crate) fn run(context: &Context, args: &SearchArgs) -> Result<(), Exit> {
    let files = &args.files;
    let (seeds, tasks) = if files.quick { (2, 1) } else { (10, 1) };
    let (seeds, tasks) = (args.seeds.unwrap_or(seeds) as u64, args.tasks.unwrap_or(tasks));
    let suites = suites(context, files, tasks)?;
    let mut strategies = Vec::new();
    for path in &args.strategies {
        strategies.push(strategy(context, path, &[], &suites)?);
    }
    let mut work = Vec::new();
    for strategy in &strategies {
        for task in &strategy.tasks {
            work.extend((0..seeds).map(|index| (strategy, task, files.seed + index)));
        }
    }
    let runs = run_with_progress(context, files, |threads, watch| {
        run_all(&work, threads, watch, |(strategy, task, seed)| run_strategy(strategy, task, *seed, watch))
    })?;
    let runs = runs.into_iter().collect::<Result<Vec<SearchRun>, Failure>>();
    let runs = runs.map_err(|failure| context.print_failure(&failure))?;
    let names: Vec<String> = strategies.iter().map(|s| s.name.clone()).collect();
    let study = SearchStudy::new(planforge_provider_noisy_oracle::MODEL, &names, runs, files.seed);
    let artefacts = study.artefacts().map_err(|failure| context.print_failure(&failure))?;
    if files.json {
        context.output.json(&study);
    } else {
        context.output.result(&format!("{}\n\n{}", solved_sentence(&study), study.table().text()));
    }
    write_artefacts(context, &files.out, &artefacts)
}

fn solved_sentence(study: &SearchStudy) -> String {
    let shares = study
        .strategies
        .iter()
        .map(|strategy| format!("{} {} of {}", escape(&strategy.name), strategy.solved, strategy.runs));
    format!("Runs solved: {}.", shares.collect::<Vec<_>>().join(", "))
}

fn run_strategy(strategy: &Strategy, task: &RunTask, seed: u64, watch: &Watch) -> Result<SearchRun, Failure> {
    let (report, journal) = strategy.execute(task, seed, watch)?;
    let ended = report.tasks.first();
    let judged = ended.and_then(|t| t.candidate.as_ref()).and_then(|c| c.assessments.get(FINAL));
    let effort = Effort::of(journal.as_ref())?;
    Ok(SearchRun {
        strategy: strategy.name.clone(),
        suite: task.view.suite.clone(),
        task: task.view.task.clone(),
        seed,
        verdict: ended.and_then(|t| t.verdict.as_ref()).map_or("none", |v| v.name()).to_owned(),
        solved: judged.is_some_and(|a| a.decision == Decision::Accepted),
        score: judged.and_then(|a| a.metrics.get("score")).copied().unwrap_or(0.0),
        replies: effort.replies,
        requests: effort.requests,
        walks: effort.walks,
    })
}

/// The effort of a run according to its record.
#[derive(Default)]
struct Effort {
    replies: u64,
    requests: u64,
    walks: u64,
}

impl Effort {
    fn of(journal: &dyn Journal) -> Result<Self, Failure> {
        let mut effort = Self::default();
        let document = |id: &str| -> Result<Value, Failure> {
            let bytes = journal.get(id).map_err(Failure::from)?;
            serde_json::from_slice(&bytes)
                .map_err(|e| Failure::new(FailureClass::System, "record.corrupt", e.to_string()))
        };
        for event in journal.events() {
            match event {
                Event::Completion { result: Some(result), .. } => {
                    effort.requests += 1;
                    let replies = document(&result)?;
                    effort.replies += replies["replies"].as_array().map_or(0, Vec::len) as u64;
                }
                Event::Assessed { stage, assessment, .. } if stage != FINAL => {
                    effort.walks += document(&assessment)?["metrics"]["walks"].as_f64().unwrap_or(0.0) as u64;
                }
                _ => {}
            }
        }
        Ok(effort)
    }
}
