//! Requests of the page for jobs. Their keys are the options of the command line.

use crate::error::Refusal;
use crate::jobs::Work;
use crate::paths::ServedFolder;
use planforge_app::demo::solve_recorded;
use planforge_app::evaluate::{
    self, Assumptions, Estimate, EvaluateRequest, FailThreshold, Filter, TableRequest, evaluate,
};
use planforge_app::pddl::Sentences;
use planforge_app::pddl::plan::{PlanRequest, PlanSearch, plan};
use planforge_app::run::{
    self, ModelChoice, PipelineSource, ResumeRequest, RunRequest, RunResult, RunStorage, resume, run,
};
use planforge_app::solve::{Answers, SolveRequest, solve};
use planforge_app::{Context, Error, RequestLimits, SHIPPED_PIPELINES, Source, Status};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the recorded model of the demo.
const DEMO: &str = "demo";
/// The beginning of the names of pipelines that come with planforge.
const SHIPPED: &str = "shipped:";
/// Tasks and samples in parallel.
const JOBS: u32 = 4;

/// A request for a job.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobRequest {
    r#use: String,
    request: Value,
}

/// A job that can start.
pub(crate) struct NewJob {
    pub(crate) what: &'static str,
    pub(crate) title: String,
    pub(crate) folder: Option<String>,
    pub(crate) work: Work,
}

/// One value, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> Self {
        Self::More(Vec::new())
    }
}

impl OneOrMore {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::More(more) => more,
        }
    }

    /// The values as paths below the folder.
    fn paths(self, folder: &ServedFolder) -> Result<Vec<PathBuf>, Refusal> {
        self.list().iter().map(|path| folder.path(path)).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SolveBody {
    text: Option<String>,
    rules: Option<String>,
    domain: Option<String>,
    #[serde(default)]
    model: OneOrMore,
    readings: Option<u32>,
    questions: Option<usize>,
    folder: Option<String>,
    continued: Option<String>,
    say: Option<String>,
    answers: Option<BTreeMap<String, String>>,
    #[serde(default = "yes")]
    ask: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanBody {
    domain: String,
    problem: String,
    time_limit: Option<f64>,
    #[serde(default)]
    optimal: bool,
    #[serde(default)]
    first: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunBody {
    pipeline: String,
    #[serde(default)]
    suite: OneOrMore,
    #[serde(default)]
    task: OneOrMore,
    model: Option<String>,
    seed: Option<u64>,
    jobs: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeBody {
    run: String,
    jobs: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvaluateBody {
    matrix: Option<String>,
    #[serde(default)]
    suites: OneOrMore,
    #[serde(default)]
    pipelines: OneOrMore,
    #[serde(default)]
    models: OneOrMore,
    seeds: Option<String>,
    tasks: Option<usize>,
    out: String,
    #[serde(default)]
    only: OneOrMore,
    #[serde(default)]
    resume: bool,
    jobs: Option<u32>,
}

fn body<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_json::from_value(value).map_err(|error| Refusal::unreadable(&error))
}

fn jobs(requested: Option<u32>) -> u32 {
    requested.unwrap_or(JOBS).clamp(1, 256)
}

fn document(status: Status, result: &impl Serialize) -> Result<(Status, Value), Error> {
    let document = serde_json::to_value(result)
        .map_err(|error| Error::usage(format!("the result has no JSON form: {error}"), None))?;
    Ok((status, document))
}

/// Computes what a job would send at most.
pub(crate) type Estimation = Box<dyn FnOnce(&Context) -> Result<Estimate, Error> + Send>;

impl JobRequest {
    /// Checks a request and makes the estimate of its use of models. Nothing is sent or written by it.
    ///
    /// # Errors
    /// As of [`JobRequest::into_job`]; a use without an estimate.
    pub(crate) fn into_estimation(
        self,
        folder: &ServedFolder,
        replay: Option<&Path>,
    ) -> Result<Estimation, Refusal> {
        let replay = replay.map(Path::to_owned);
        match self.r#use.as_str() {
            "run" => {
                let request = run_request(body(self.request)?, folder, replay)?;
                Ok(Box::new(move |context| run::estimate(context, &request, assumptions(request.jobs))))
            }
            "evaluate" => {
                let request = evaluate_request(body(self.request)?, folder, replay)?;
                let assumptions = assumptions(u32::try_from(request.jobs).unwrap_or(u32::MAX));
                Ok(Box::new(move |context| evaluate::estimate(context, &request, assumptions)))
            }
            _ => Err(Refusal::request("`use` is run or evaluate")),
        }
    }

    /// Checks a request and makes its work.
    ///
    /// # Errors
    /// A key that is missing, unknown or of the wrong type; a path that leads out of the folder.
    pub(crate) fn into_job(self, folder: &ServedFolder, replay: Option<&Path>) -> Result<NewJob, Refusal> {
        let replay = replay.map(Path::to_owned);
        match self.r#use.as_str() {
            "solve" => solve_job(body(self.request)?, folder, replay),
            "plan" => plan_job(body(self.request)?),
            "run" => run_job(body(self.request)?, folder, replay),
            "resume" => resume_job(&body(self.request)?, folder),
            "evaluate" => evaluate_job(body(self.request)?, folder, replay),
            _ => Err(Refusal::request("`use` is solve, plan, run, resume or evaluate")),
        }
    }
}

fn solve_job(body: SolveBody, folder: &ServedFolder, replay: Option<PathBuf>) -> Result<NewJob, Refusal> {
    let models = body.model.list();
    let is_demo = models.iter().any(|model| model == DEMO);
    let continued = body.continued.as_deref().map(|path| folder.existing(path)).transpose()?;
    let title = match (&body.text, &continued) {
        (Some(text), _) => text.split_whitespace().take(12).collect::<Vec<_>>().join(" "),
        (None, Some(path)) => path.display().to_string(),
        (None, None) => return Err(Refusal::request("the request has neither `text` nor `continued`")),
    };
    let named = models.into_iter().filter(|model| model != DEMO);
    let named: Vec<String> = named.map(|name| model(name, folder)).collect::<Result<_, _>>()?;
    let new_folder = match (&body.folder, &continued) {
        (_, Some(_)) => None,
        (Some(path), None) => Some(folder.path(path)?),
        (None, None) => Some(folder.new_name()),
    };
    let shown = continued.as_ref().or(new_folder.as_ref()).map(|path| path.display().to_string());
    let defaults = SolveRequest::default();
    let request = SolveRequest {
        text: body.text.map(|text| Source::text("task", text)),
        domain: body.domain.map(|text| Source::text("domain", text)),
        rules: body.rules.map(|text| Source::text("rules", text)),
        folder: new_folder,
        models: named.into_iter().map(ModelChoice::Named).collect(),
        readings: body.readings.map(|readings| readings.clamp(1, 20)),
        questions: body.questions.unwrap_or(defaults.questions),
        ask: body.ask,
        answers: body.answers.map(Answers::ById),
        // The runs of a folder that goes on have their replies; a further statement needs new ones.
        replay: replay.filter(|_| continued.is_none() || body.say.is_some()),
        say: body.say,
        continued,
        ..defaults
    };
    let work: Work = Box::new(move |context| {
        let result = if is_demo { solve_recorded(context, request)? } else { solve(context, &request)? };
        document(result.status(), &result)
    });
    Ok(NewJob { what: "solve", title, folder: shown, work })
}

/// A model by its name. A file of weights is below the folder.
fn model(name: String, folder: &ServedFolder) -> Result<String, Refusal> {
    if let Some(file) = name.strip_prefix("local:").filter(|file| file.ends_with(".gguf")) {
        folder.path(file)?;
    }
    Ok(name)
}

fn plan_job(body: PlanBody) -> Result<NewJob, Refusal> {
    let search = match (body.optimal, body.first) {
        (true, true) => return Err(Refusal::request("`optimal` and `first` exclude each other")),
        (true, false) => PlanSearch::Optimal,
        (false, true) => PlanSearch::First,
        (false, false) => PlanSearch::Best,
    };
    let request = PlanRequest {
        domain: Source::text("domain", body.domain),
        problem: Source::text("problem", body.problem),
        search,
        in_words: Some(Sentences::BesideDomain),
        limits: limits(body.time_limit)?,
        nodes: None,
        threads: None,
        report_plans: false,
    };
    let work: Work = Box::new(move |context| {
        let result = plan(context, &request)?;
        let (status, mut document) = document(result.status, &result)?;
        if let Some(told) = &result.told {
            document["words"] = json!(told);
        }
        Ok((status, document))
    });
    Ok(NewJob { what: "plan", title: "a plan".to_owned(), folder: None, work })
}

/// Without a time, a search ends after a minute.
fn limits(seconds: Option<f64>) -> Result<RequestLimits, Refusal> {
    match seconds.unwrap_or(60.0) {
        seconds if (0.0..=86_400.0).contains(&seconds) => {
            Ok(RequestLimits { seconds: Some(seconds), memory_bytes: 2 << 30 })
        }
        _ => Err(Refusal::request("`time_limit` is between 0 and 86400 seconds")),
    }
}

fn assumptions(jobs: u32) -> Assumptions {
    Assumptions {
        reply_tokens: Assumptions::REPLY_TOKENS,
        request_seconds: Assumptions::REQUEST_SECONDS,
        jobs: u64::from(jobs),
    }
}

fn run_job(body: RunBody, folder: &ServedFolder, replay: Option<PathBuf>) -> Result<NewJob, Refusal> {
    let title = body.pipeline.clone();
    let request = run_request(body, folder, replay)?;
    let work: Work = Box::new(move |context| ended(&run(context, &request)?));
    Ok(NewJob { what: "run", title, folder: None, work })
}

fn run_request(body: RunBody, folder: &ServedFolder, replay: Option<PathBuf>) -> Result<RunRequest, Refusal> {
    Ok(RunRequest {
        pipeline: pipeline(&body.pipeline, folder)?,
        tasks: body.task.paths(folder)?,
        suites: body.suite.paths(folder)?,
        model: body
            .model
            .map_or(Ok(ModelChoice::OfFile), |name| model(name, folder).map(ModelChoice::Named))?,
        seed: body.seed,
        replay,
        storage: RunStorage::default(),
        jobs: jobs(body.jobs),
        ..RunRequest::default()
    })
}

fn pipeline(name: &str, folder: &ServedFolder) -> Result<PipelineSource, Refusal> {
    let Some(shipped) = name.strip_prefix(SHIPPED) else {
        return Ok(PipelineSource::File(folder.existing(name)?));
    };
    let found = SHIPPED_PIPELINES.iter().find(|pipeline| pipeline.name == shipped);
    let found = found.ok_or_else(|| Refusal::missing(format!("planforge has no pipeline `{shipped}`")))?;
    Ok(PipelineSource::Text { name: format!("{shipped}.toml"), text: found.text.to_owned() })
}

fn ended(result: &RunResult) -> Result<(Status, Value), Error> {
    let (status, mut document) = document(result.status(false), result)?;
    if let Some(folder) = &result.folder {
        document["folder"] = folder.display().to_string().into();
    }
    if let Some(hint) = &result.hint {
        document["hint"] = hint.clone().into();
    }
    Ok((status, document))
}

fn resume_job(body: &ResumeBody, folder: &ServedFolder) -> Result<NewJob, Refusal> {
    let run = folder.existing(&body.run)?;
    let shown = run.display().to_string();
    let request = ResumeRequest { run, jobs: jobs(body.jobs), ..ResumeRequest::default() };
    let work: Work = Box::new(move |context| ended(&resume(context, &request)?));
    Ok(NewJob { what: "resume", title: shown.clone(), folder: Some(shown), work })
}

fn evaluate_job(
    body: EvaluateBody,
    folder: &ServedFolder,
    replay: Option<PathBuf>,
) -> Result<NewJob, Refusal> {
    let request = evaluate_request(body, folder, replay)?;
    let shown = request.out.display().to_string();
    let work: Work = Box::new(move |context| {
        let mut result = evaluate(context, &request)?;
        if let Some(error) = result.stopped.take() {
            return Err(error);
        }
        let counts = result.counts;
        let cells = json!({
            "all": counts.cells, "open": counts.open, "failed_tasks": counts.failed_tasks, "failed_calls": counts.failed_calls
        });
        Ok((result.status, json!({ "folder": request.out, "cells": cells, "tables": result.tables })))
    });
    Ok(NewJob { what: "evaluate", title: shown.clone(), folder: Some(shown), work })
}

fn evaluate_request(
    body: EvaluateBody,
    folder: &ServedFolder,
    replay: Option<PathBuf>,
) -> Result<EvaluateRequest, Refusal> {
    let filter = |text: &String| Filter::parse(text).map_err(Refusal::request);
    let out = folder.path(&body.out)?;
    Ok(EvaluateRequest {
        matrix: body.matrix.as_deref().map(|path| folder.existing(path)).transpose()?,
        suites: body.suites.paths(folder)?,
        pipelines: body.pipelines.paths(folder)?,
        seeds: body.seeds,
        tasks: body.tasks,
        set: Vec::new(),
        add_ons: Vec::new(),
        models: body.models.list().into_iter().map(|name| model(name, folder)).collect::<Result<_, _>>()?,
        out,
        resume: body.resume,
        retry_errors: false,
        only: body.only.list().iter().map(filter).collect::<Result<_, _>>()?,
        except: Vec::new(),
        shard: None,
        answers: Vec::new(),
        record: None,
        replay: replay.into_iter().collect(),
        tables: TableRequest::default(),
        junit: None,
        fail_on: FailThreshold::default(),
        jobs: jobs(body.jobs) as usize,
        cells: 1,
    })
}
