//! Functions that run pipelines: a text in words, tasks, evaluations.

use crate::call::{Surroundings, answer, call};
use crate::port::Answer;
use crate::requests::{SourceArgument, model_choice};
use planforge_app::Error;
use planforge_app::check::{self as checking, CheckRequest};
use planforge_app::contract::Failure;
use planforge_app::evaluate::{
    self as evaluating, EvaluateRequest, FailThreshold, Filter, RecommendRequest, RecommendWish, TableRequest,
};
use planforge_app::record::TaskVerdict;
use planforge_app::run::{self as running, PipelineSource, ResumeRequest, RunRequest, RunResult, RunStorage};
use planforge_app::solve::{self as solving, Answers, SolveEnd, SolveRequest, SolveResult};
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Answers to open points: a completed `questions.toml`, or answers by the point's id.
#[derive(FromPyObject)]
enum AnswersArgument {
    ById(BTreeMap<String, String>),
    File(PathBuf),
}

/// Arguments of [`solve`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SolveArguments {
    text: Option<SourceArgument>,
    continued: Option<PathBuf>,
    say: Option<String>,
    domain: Option<SourceArgument>,
    rules: Option<SourceArgument>,
    folder: Option<PathBuf>,
    models: Vec<String>,
    readings: Option<u32>,
    questions: usize,
    ask: bool,
    answers: Option<AnswersArgument>,
    set: Vec<String>,
    replay: Option<PathBuf>,
    record: Option<PathBuf>,
}

/// Solves a task in words.
#[pyfunction]
pub(crate) fn solve(py: Python<'_>, request: SolveArguments, surroundings: Surroundings) -> PyResult<Answer> {
    let request = SolveRequest {
        text: request.text.map(Into::into),
        continued: request.continued,
        say: request.say,
        domain: request.domain.map(Into::into),
        rules: request.rules.map(Into::into),
        folder: request.folder,
        models: request.models.iter().map(|model| model_choice(model)).collect(),
        readings: request.readings,
        questions: request.questions,
        ask: request.ask,
        answers: request.answers.map(|answers| match answers {
            AnswersArgument::ById(answers) => Answers::ById(answers),
            AnswersArgument::File(path) => Answers::File(path),
        }),
        set: request.set,
        replay: request.replay,
        record: request.record,
    };
    call(py, surroundings, move |context| {
        let result = solving::solve(context, &request)?;
        match broken(&result) {
            Some(failure) => {
                let folder = format!("the text and the runs are in {}", result.folder.display());
                let mut error = Error::from(failure.clone());
                error.hints.push(folder);
                Err(error)
            }
            None => answer(result.status(), &result),
        }
    })
}

/// The failure that left every reading without a reply.
fn broken(result: &SolveResult) -> Option<&Failure> {
    let mut tasks = result.runs.iter().flat_map(|run| &run.report.tasks);
    let failure = tasks.find_map(|task| match &task.verdict {
        Some(TaskVerdict::Failed { failure, .. }) => Some(failure),
        _ => None,
    });
    failure.filter(|_| result.end == SolveEnd::Failed)
}

/// Arguments of [`run`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunArguments {
    pipeline: PathBuf,
    tasks: Vec<PathBuf>,
    suites: Vec<PathBuf>,
    model: String,
    set: Vec<String>,
    seed: Option<u64>,
    replay: Option<PathBuf>,
    record: Option<PathBuf>,
    folder: PathBuf,
    jobs: u32,
}

/// Runs a pipeline on tasks.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, request: RunArguments, surroundings: Surroundings) -> PyResult<Answer> {
    let request = RunRequest {
        pipeline: PipelineSource::File(request.pipeline),
        tasks: request.tasks,
        suites: request.suites,
        add_ons: Vec::new(),
        model: model_choice(&request.model),
        set: request.set,
        seed: request.seed,
        replay: request.replay,
        record: request.record,
        explainer: None,
        storage: RunStorage::Folder(request.folder),
        jobs: request.jobs,
    };
    call(py, surroundings, move |context| run_answer(&running::run(context, &request)?))
}

/// Continues an interrupted or waiting run.
#[pyfunction]
pub(crate) fn resume(
    py: Python<'_>,
    folder: PathBuf,
    answers: Vec<PathBuf>,
    jobs: u32,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    let request = ResumeRequest { run: folder, answers, jobs, ..ResumeRequest::default() };
    call(py, surroundings, move |context| run_answer(&running::resume(context, &request)?))
}

fn run_answer(result: &RunResult) -> Result<Answer, Error> {
    let mut document = json!(result);
    document["folder"] = json!(result.folder);
    document["task_texts"] = json!(result.task_texts);
    answer(result.status(false), &document)
}

/// Checks a pipeline file.
#[pyfunction]
pub(crate) fn check_pipeline(
    py: Python<'_>,
    pipeline: PathBuf,
    model: &str,
    set: Vec<String>,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    let request = CheckRequest { pipeline, model: model_choice(model), set };
    call(py, surroundings, move |context| {
        let result = checking::check(context, &request)?;
        answer(result.status, &result)
    })
}

/// Arguments of [`evaluate`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct EvaluateArguments {
    matrix: Option<PathBuf>,
    suites: Vec<PathBuf>,
    pipelines: Vec<PathBuf>,
    seeds: Option<String>,
    tasks: Option<usize>,
    models: Vec<String>,
    set: Vec<String>,
    out: PathBuf,
    resume: bool,
    retry_errors: bool,
    only: Vec<String>,
    exclude: Vec<String>,
    replay: Vec<PathBuf>,
    record: Option<PathBuf>,
    jobs: usize,
    cells: usize,
}

/// Runs an evaluation and writes its tables.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    request: EvaluateArguments,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    call(py, surroundings, move |context| {
        let filters = |texts: &[String]| -> Result<Vec<Filter>, Error> {
            texts
                .iter()
                .map(|text| Filter::parse(text).map_err(|message| Error::usage(message, None)))
                .collect()
        };
        let request = EvaluateRequest {
            only: filters(&request.only)?,
            except: filters(&request.exclude)?,
            matrix: request.matrix,
            suites: request.suites,
            pipelines: request.pipelines,
            seeds: request.seeds,
            tasks: request.tasks,
            set: request.set,
            add_ons: Vec::new(),
            models: request.models,
            out: request.out,
            resume: request.resume,
            retry_errors: request.retry_errors,
            shard: None,
            answers: Vec::new(),
            record: request.record,
            replay: request.replay,
            tables: TableRequest::default(),
            junit: None,
            fail_on: FailThreshold::default(),
            jobs: request.jobs,
            cells: request.cells,
        };
        let result = evaluating::evaluate(context, &request)?;
        if let Some(error) = result.stopped {
            return Err(error);
        }
        let counts = result.counts;
        let document = json!({
            "out": result.out,
            "evaluation": result.tables,
            "cells": counts.cells,
            "open_cells": counts.open,
            "failed_tasks": counts.failed_tasks,
            "failed_calls": counts.failed_calls,
        });
        answer(result.status, &document)
    })
}

/// Names the method to use, from the results of an evaluation.
#[pyfunction]
pub(crate) fn recommend(
    py: Python<'_>,
    folder: PathBuf,
    budget_usd: Option<f64>,
    need: Option<f64>,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    let request = RecommendRequest { folder, wish: RecommendWish { budget_usd, need } };
    call(py, surroundings, move |context| {
        let result = evaluating::recommend(context, &request)?;
        let text = result.recommendation.text();
        answer(result.status, &json!({ "text": text, "recommendation": result.recommendation }))
    })
}
