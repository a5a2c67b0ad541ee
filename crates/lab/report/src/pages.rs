//! Single pages of the report, for a front that shows them while runs go on: a run's tasks, one task with everything about it, and an
//! evaluation's cells. The documents are those of the report; where it has a file of chunks, a task's page has lists.

use crate::cell::{count, models, outline_of, write_task};
use crate::chunks::Stores;
use crate::documents::{Account, Counts, MethodsEntry};
use crate::outline::{CallOutline, LogLine, Session};
use crate::prices::Prices;
use crate::source::Source;
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::results::{CellResult, TaskOutcome, verdict_reason};
use planforge_record::{RunFolder, TaskVerdict};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A run with its tasks.
#[derive(Serialize)]
pub struct RunPage {
    id: String,
    created_at: String,
    planforge: String,
    pipeline: String,
    models: BTreeMap<String, String>,
    overrides: Vec<String>,
    sessions: Vec<Session>,
    logs: Vec<LogLine>,
    /// True if a process writes the run now.
    in_progress: bool,
    /// True if every task has a verdict.
    finished: bool,
    counts: Counts,
    account: Account,
    tasks: Vec<TaskLine>,
    warnings: Vec<String>,
}

/// A task in the list of its run.
#[derive(Serialize)]
struct TaskLine {
    task: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    /// The reason why it is not solved.
    why: String,
    /// True if work on it began.
    begun: bool,
    /// The stages that began, in order.
    stages: Vec<String>,
    candidates: usize,
    failed: usize,
    account: Account,
}

/// Reads the tasks of a run. Replies and candidates are not read, so that a long run is read soon.
///
/// # Errors
/// `record.*`: the folder is not a run, or cannot be read.
pub fn run_page(folder: &Path) -> Result<RunPage, Failure> {
    let run = RunFolder::open(folder, Arc::default())?;
    let manifest = run.manifest();
    let prices = Prices::of_run(manifest);
    let outline = outline_of(&run);
    let mut counts = Counts::default();
    let mut tasks = Vec::new();
    for task in outline.tasks {
        let outcome = TaskOutcome::of(task.verdict.as_ref());
        count(&mut counts, outcome);
        tasks.push(TaskLine {
            outcome: outcome.name(),
            verdict: task.verdict.as_ref().map(TaskVerdict::name),
            why: task.verdict.as_ref().map(verdict_reason).unwrap_or_default(),
            begun: task.begun,
            candidates: task.candidates.len(),
            failed: task.failed.len(),
            account: account(task.calls.iter(), &prices),
            stages: task.stages,
            task: task.name,
        });
    }
    let account = sum(tasks.iter().map(|task| &task.account));
    Ok(RunPage {
        id: manifest.id.clone(),
        created_at: manifest.created_at.clone(),
        planforge: manifest.planforge.clone(),
        pipeline: manifest.config.path.clone(),
        models: models(manifest),
        overrides: manifest.overrides.clone(),
        sessions: outline.sessions,
        logs: outline.logs,
        in_progress: RunFolder::is_in_progress(folder).unwrap_or(false),
        finished: tasks.iter().all(|task| task.verdict.is_some()),
        counts,
        account,
        tasks,
        warnings: run.warnings().iter().map(|warning| warning.message.clone()).collect(),
    })
}

/// What calls used, from the journal alone: replies are not counted.
fn account<'c>(calls: impl Iterator<Item = &'c CallOutline>, prices: &Prices) -> Account {
    let mut sum = Account::default();
    for (number, call) in calls.enumerate() {
        let record = &call.record;
        let answered = record.result.is_some();
        sum.calls += u64::from(answered);
        sum.failed += u64::from(!answered);
        sum.attempts += u64::from(record.attempts);
        sum.ms += record.elapsed_ms;
        sum.prompt += record.usage.prompt_tokens.unwrap_or(0);
        sum.completion += record.usage.completion_tokens.unwrap_or(0);
        sum.unmetered += u64::from(answered && !record.usage.is_metered());
        let cost = prices.of(&record.llm, &record.role).and_then(|price| price.cost(&record.usage, answered));
        sum.cost = if number == 0 { cost } else { sum.cost.zip(cost).map(|(all, one)| all + one) };
    }
    sum
}

fn sum<'a>(accounts: impl Iterator<Item = &'a Account>) -> Account {
    let mut all = Account::default();
    let used = accounts.filter(|account| account.calls + account.failed > 0);
    for (number, one) in used.enumerate() {
        all.calls += one.calls;
        all.failed += one.failed;
        all.attempts += one.attempts;
        all.ms += one.ms;
        all.prompt += one.prompt;
        all.completion += one.completion;
        all.unmetered += one.unmetered;
        all.cost = if number == 0 { one.cost } else { all.cost.zip(one.cost).map(|(all, one)| all + one) };
    }
    all
}

/// Everything about one task: its page, and the pages and texts that it refers to by their places in these lists.
#[derive(Serialize)]
pub struct TaskPages {
    /// The place of the task's page in `pages`.
    page: u32,
    pages: Value,
    texts: Value,
    /// The styles of drawings, by what they show.
    styles: BTreeMap<&'static str, &'static str>,
}

/// Reads everything about one task of a run.
///
/// # Errors
/// `report.nothing`: the run has no such task. `record.*`: the run cannot be read.
pub fn task_pages(folder: &Path, task: &str) -> Result<TaskPages, Failure> {
    let run = RunFolder::open(folder, Arc::default())?;
    let mut stores = Stores::in_memory()?;
    let Some(page) = write_task(&run, task, &mut stores)? else {
        let message = format!("the run has no task `{task}`");
        return Err(Failure::new(FailureClass::Request, "report.nothing", message));
    };
    let [texts, pages] = stores.into_lists()?;
    Ok(TaskPages { page, pages, texts, styles: styles() })
}

fn styles() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([("curve", planforge_evaluate::chart::STYLE), ("picture", crate::picture::STYLE)])
}

/// An evaluation with its cells and tables.
#[derive(Serialize)]
pub struct EvaluationPage {
    title: String,
    cells: Vec<CellLine>,
    /// Tables as the command line writes them: name and text.
    tables: Vec<(String, String)>,
    methods: Vec<MethodsEntry>,
    /// By the number in a comparison of methods, the drawing as SVG.
    figures: Vec<String>,
    styles: BTreeMap<&'static str, &'static str>,
    warnings: Vec<String>,
}

/// A cell, with its tasks where the evaluation has judged them.
#[derive(Serialize)]
struct CellLine {
    suite: String,
    pipeline: String,
    model: String,
    seed: u64,
    /// The run folder, relative to the evaluation's.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    /// `finished`, `in progress`, `unfinished` or `not started`.
    state: &'static str,
    counts: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    walk: Option<f64>,
    /// Numbers of tasks that are planned, where no run was made yet.
    planned: usize,
    tasks: Vec<JudgedTask>,
}

#[derive(Serialize)]
struct JudgedTask {
    task: String,
    outcome: &'static str,
    why: String,
}

/// Reads the cells and tables of an evaluation. Of a cell that the evaluation has not judged yet, the verdicts so far are read.
///
/// # Errors
/// `report.nothing`: the folder is not an evaluation. `record.*`: it cannot be read.
pub fn evaluation_page(folder: &Path) -> Result<EvaluationPage, Failure> {
    let source = Source::open(folder)?;
    let mut cells = Vec::new();
    for cell in &source.cells {
        let tasks = match (&cell.result, &cell.folder) {
            (Some(result), _) => judged(result),
            (None, Some(run)) => verdicts(run)?,
            (None, None) => Vec::new(),
        };
        let mut counts = Counts::default();
        tasks.iter().for_each(|(_, outcome, _)| count(&mut counts, *outcome));
        let state = match &cell.folder {
            None => "not started",
            Some(run) if RunFolder::is_in_progress(run).unwrap_or(false) => "in progress",
            Some(_) if counts.unfinished == 0 => "finished",
            Some(_) => "unfinished",
        };
        let tasks =
            tasks.into_iter().map(|(task, outcome, why)| JudgedTask { task, outcome: outcome.name(), why });
        cells.push(CellLine {
            suite: cell.key.suite.clone(),
            pipeline: cell.key.pipeline.clone(),
            model: cell.key.model.clone(),
            seed: cell.key.seed,
            folder: cell.folder.as_ref().map(|run| run.strip_prefix(folder).unwrap_or(run).to_owned()),
            state,
            counts,
            walk: cell.result.as_ref().and_then(|result| result.walk).map(|walk| walk.score),
            planned: cell.planned,
            tasks: tasks.collect(),
        });
    }
    let (mut methods, mut figures) = (Vec::new(), Vec::new());
    for own in source.methods {
        let figure = own.figure.map(|figure| {
            figures.push(figure);
            figures.len() as u32 - 1
        });
        methods.push(MethodsEntry::new(&own.methods, figure));
    }
    let (title, tables, warnings) = (source.title, source.tables, source.warnings);
    Ok(EvaluationPage { title, cells, tables, methods, figures, styles: styles(), warnings })
}

fn judged(result: &CellResult) -> Vec<(String, TaskOutcome, String)> {
    result.tasks.iter().map(|task| (task.task.clone(), task.outcome, task.why.clone())).collect()
}

fn verdicts(run: &Path) -> Result<Vec<(String, TaskOutcome, String)>, Failure> {
    let run = RunFolder::open(run, Arc::default())?;
    let line = |task: crate::outline::TaskOutline| {
        let verdict = task.verdict.as_ref();
        (task.name.clone(), TaskOutcome::of(verdict), verdict.map(verdict_reason).unwrap_or_default())
    };
    Ok(outline_of(&run).tasks.into_iter().map(line).collect())
}
