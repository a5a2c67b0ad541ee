//! Pipelines against each other with a simulated model, at the same number of replies.

use super::strategies::{FINAL, Strategy, strategy, suites};
use super::{StudyFiles, StudyResult, run_on_threads, write_artefacts};
use crate::context::Context;
use crate::error::Error;
use planforge_contract::{Decision, Failure, FailureClass};
use planforge_evaluate::study::search::{SearchRun, SearchStudy};
use planforge_evaluate::study::{Watch, run_all};
use planforge_pipeline::RunTask;
use planforge_record::{Event, Journal};
use serde_json::Value;
use std::path::PathBuf;

/// A comparison of search strategies at the same number of replies.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// Suites and output.
    pub files: StudyFiles,
    /// Pipeline files with a simulated model and a last stage labelled `final`; the others are compared with the first.
    pub strategies: Vec<PathBuf>,
    /// Seeds of each strategy and task, from the study's seed on.
    pub seeds: u64,
    /// Tasks of each suite, the first by name.
    pub tasks: usize,
}

/// Runs every strategy on the first tasks of the suites with the same seeds.
///
/// # Errors
/// Pipelines that do not fit, suites that cannot be read, files that cannot be written.
pub fn search(context: &Context, request: &SearchRequest) -> Result<StudyResult<SearchStudy>, Error> {
    let files = &request.files;
    let suites = suites(context, (&files.suites, &files.only), request.tasks)?;
    let mut strategies = Vec::new();
    for path in &request.strategies {
        strategies.push(strategy(context, &context.path(path), &[], &suites)?);
    }
    let mut work = Vec::new();
    for strategy in &strategies {
        for task in &strategy.tasks {
            work.extend((0..request.seeds).map(|index| (strategy, task, files.seed + index)));
        }
    }
    let runs = run_on_threads(context, files.jobs, |threads, watch| {
        run_all(&work, threads, watch, |(strategy, task, seed)| run_strategy(strategy, task, *seed, watch))
    })?;
    let runs = runs.into_iter().collect::<Result<Vec<SearchRun>, Failure>>()?;
    let names: Vec<String> = strategies.iter().map(|s| s.name.clone()).collect();
    let study = SearchStudy::new(planforge_provider_noisy_oracle::MODEL, &names, runs, files.seed);
    let artefacts = study.artefacts()?;
    Ok(StudyResult { study, written: write_artefacts(&context.path(&files.out), &artefacts)? })
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
