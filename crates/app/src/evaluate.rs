//! Evaluations: suites x pipelines x models x seeds, one run folder for each cell and one table for all; and the tables of cells that were
//! run elsewhere.
//!
//! A cell with a `report.json` is finished and only read; one with just a `run.json` is resumed. So an
//! evaluation can be stopped at any moment, and nothing is paid for twice. On request, failed calls of
//! finished cells are retried.

mod cells;
mod columns;
mod matrix;
mod merge;
mod recommend;
mod tables;
mod warnings;

use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::files::{parse_json, read_text, unwritable, write};
use crate::pipelines::loaded::PluginsAndPrices;
use crate::pipelines::tasks::tasks_of;
use crate::running::continuing::Batch;
use crate::status::Status;
use cells::{Cell, EvaluationOutcome, EvaluationSetup, RunSettings};
use columns::{ColumnFile, columns};
use matrix::{claim, matrix, read_stored, store, suites, with_level_suites};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::compare::Ranking;
use planforge_evaluate::matrix::{Selection, UnmatchedFilter};
use planforge_evaluate::sums::is_unchanged;
use planforge_evaluate::tables::junit;
use planforge_model_api::batch::Wave;
use planforge_pipeline::ModelFallback;
use planforge_record::Redactor;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tables::publish;
use warnings::{warn_of_other_cells, warn_of_repeats};

pub use planforge_evaluate::estimate::{Assumptions, Estimate};
pub use planforge_evaluate::matrix::{Filter, Shard};
pub use planforge_evaluate::results::{
    CellKey, CellResult, CellState, Column, Evaluation, Reading as AreReading, TaskOutcome, TaskResult,
};
pub use planforge_evaluate::tables::Classes;
pub use planforge_evaluate::wrapped;
pub use recommend::{
    Against, Answer, MethodFigures, Reach, RecommendRequest, RecommendResult, RecommendWish, Recommendation,
    recommend,
};
pub use tables::Tables;

/// Suites x pipelines x models x seeds.
#[derive(Debug, Clone)]
pub struct EvaluateRequest {
    /// A file that names suites, pipelines, models and seeds, in the place of the next six.
    pub matrix: Option<PathBuf>,
    /// Suite folders.
    pub suites: Vec<PathBuf>,
    /// Pipeline files.
    pub pipelines: Vec<PathBuf>,
    /// The seeds, such as `42-45`.
    pub seeds: Option<String>,
    /// At most so many tasks of each suite.
    pub tasks: Option<usize>,
    /// Keys that are changed in every pipeline file, as `KEY=VALUE`.
    pub set: Vec<String>,
    /// Folders whose files replace those of a suite.
    pub add_ons: Vec<PathBuf>,
    /// Models in the place of `[llm.main]` and of the file's models; each is a column.
    pub models: Vec<String>,
    /// Folder for the tables and the run folders.
    pub out: PathBuf,
    /// True to continue the evaluation in the output folder.
    pub resume: bool,
    /// As `resume`, and failed calls of finished cells are retried.
    pub retry_errors: bool,
    /// The cells and tasks to run, and not to run.
    pub only: Vec<Filter>,
    /// As `only`, to be left out.
    pub except: Vec<Filter>,
    /// The part of the cells that is run; it writes no table.
    pub shard: Option<Shard>,
    /// Files with replies to waiting requests.
    pub answers: Vec<PathBuf>,
    /// Folder for a cassette of each cell.
    pub record: Option<PathBuf>,
    /// Folders with the cassettes that every reply is taken from. Of two replies to a request, that of the first folder is used.
    pub replay: Vec<PathBuf>,
    /// Contents of the tables.
    pub tables: TableRequest,
    /// A file for the tasks as JUnit XML.
    pub junit: Option<PathBuf>,
    /// From when on the status is not good.
    pub fail_on: FailThreshold,
    /// Tasks and samples in parallel, over all cells.
    pub jobs: usize,
    /// Cells in parallel.
    pub cells: usize,
}

/// The tables of an evaluation whose cells were run elsewhere.
#[derive(Debug, Clone)]
pub struct MergeRequest {
    /// One folder that all shards wrote to, or several parts of one evaluation.
    pub out: Vec<PathBuf>,
    /// Folder for the copied cells of several folders, and for the tables.
    pub into: Option<PathBuf>,
    /// Contents of the tables.
    pub tables: TableRequest,
    /// A file for the tasks as JUnit XML.
    pub junit: Option<PathBuf>,
    /// From when on the status is not good.
    pub fail_on: FailThreshold,
}

/// The outcome of a task from which on the status is not good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FailThreshold {
    /// A task that is not solved, undecided or broken.
    Negative,
    /// A task that is undecided or broken.
    #[default]
    Undecided,
    /// A task that broke.
    Failed,
}

/// Contents of the tables.
#[derive(Debug, Clone, Default)]
pub struct TableRequest {
    /// The table that the result shows.
    pub layout: Layout,
    /// The verify stage that decides if a problem is right; `None` for the last one of `verifier-equivalence`.
    pub accuracy_by: Option<String>,
    /// The method that the others are compared with in the layout `Scaling`.
    pub base: Option<String>,
    /// Other names for pipelines: pairs of pipeline and method.
    pub methods: Vec<(String, String)>,
    /// Folder for success over samples and rounds, and over size and axis of a ladder.
    pub curves: Option<PathBuf>,
    /// Folder for figures of result classes.
    pub figures: Option<PathBuf>,
    /// The verify stage whose result classes are counted; `None` for the last one of `verifier-classes` outside rounds.
    pub classes_by: Option<String>,
    /// The action reconstruction error in tables and figures.
    pub are: AreReading,
    /// Sizes of models in billions of parameters.
    pub model_sizes: Vec<(String, f64)>,
    /// Folders of other evaluations whose columns are added.
    pub also: Vec<PathBuf>,
}

/// The contents of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// Tasks solved and walk score, the best of the seeds (exploration-walk paper, Table 2).
    #[default]
    Walks,
    /// Problems equal to the reference problem (translate-infer-compile paper, Tables 1 and 2).
    Accuracy,
    /// Domains written, by method and by criterion (test-time-scaling paper, Table 2).
    Scaling,
    /// Plan accuracy by domain (test-time-scaling paper, Table 5 and section 4.6).
    Plans,
    /// Result classes of actions written one by one (domain-generators paper, Table 1).
    Classes,
    /// One sentence for each method.
    Methods,
}

impl Layout {
    /// The name of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Walks => "table",
            Self::Accuracy => "accuracy",
            Self::Scaling => "scaling",
            Self::Plans => "plans",
            Self::Classes => "classes",
            Self::Methods => "methods",
        }
    }
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct EvaluateResult {
    /// The output folder.
    pub out: PathBuf,
    /// Results and tables; `None` for a shard, which writes none.
    pub tables: Option<EvaluatedTables>,
    /// The shard that was run.
    pub shard: Option<Shard>,
    /// Requests that wait for replies, if there are any.
    pub pending: Option<Wave>,
    /// The folder of the evaluation or shard whose requests wait, and the one for answers.
    pub batch: Option<(PathBuf, PathBuf)>,
    /// Counts of cells and failures.
    pub counts: EvaluationCounts,
    /// The cells that are missing or unfinished.
    pub unfinished: Vec<CellResult>,
    /// Tasks that failed because the recording does not have the reply.
    pub missing_replies: Vec<MissingReply>,
    /// Cells that were run with other inputs, such as texts that changed since: their results are not in the tables.
    pub changed: Vec<CellKey>,
    /// The error that stopped the evaluation.
    pub stopped: Option<Error>,
    /// The status of what stopped the evaluation, else of the first cell without a verdict.
    pub status: Status,
}

/// A task that failed because the recording does not have the reply to one of its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingReply {
    /// The cell.
    pub cell: CellKey,
    /// The task's stem.
    pub task: String,
    /// The stage that made the request.
    pub stage: String,
}

impl MissingReply {
    fn of(cell: &CellResult) -> impl Iterator<Item = Self> {
        let misses = |task: &&TaskResult| {
            task.outcome == TaskOutcome::Failed && task.why.contains("[llm.replay-miss]")
        };
        cell.tasks.iter().filter(misses).map(|task| Self {
            cell: cell.key.clone(),
            task: task.task.clone(),
            stage: task.stage.clone().unwrap_or_default(),
        })
    }
}

/// Results of all cells with their tables. The JSON form is that of the chosen layout.
#[derive(Debug)]
pub struct EvaluatedTables {
    /// The table that was asked for.
    pub layout: Layout,
    /// The results of all cells.
    pub evaluation: Evaluation,
    /// The other layouts.
    pub others: Tables,
    /// The requests that a fallback model answered.
    pub fallbacks: Vec<ModelFallback>,
    /// The method that solves most tasks, and the p-value of its lead; absent for a single method.
    pub ranking: Option<Ranking>,
    pending: Option<Wave>,
}

/// Counts of cells and failures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvaluationCounts {
    /// All cells of the matrix.
    pub cells: usize,
    /// Cells that were selected to run.
    pub selected: usize,
    /// Selected cells that are not finished.
    pub selected_open: usize,
    /// Cells that are not finished.
    pub open: usize,
    /// Tasks that broke.
    pub failed_tasks: usize,
    /// Calls of other tasks that got no answer.
    pub failed_calls: u64,
}

impl Serialize for EvaluatedTables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value: Value = match self.layout {
            Layout::Walks => json!(self.evaluation),
            Layout::Accuracy => json!(self.others.accuracy),
            Layout::Scaling => json!(self.others.scaling),
            Layout::Plans => json!(self.others.plans),
            Layout::Classes => json!(self.others.classes),
            Layout::Methods => json!(self.others.methods),
        };
        if let Some(ranking) = &self.ranking {
            value["ranking"] = json!(ranking);
        }
        if let Some(wave) = &self.pending {
            value["pending"] = json!(wave);
        }
        value.serialize(serializer)
    }
}

/// The matrix, in the output folder.
const MATRIX: &str = "matrix.json";
/// The results, in the output folder.
pub(crate) const EVALUATION: &str = "evaluation.json";

/// The results of an evaluation, if they are those that it wrote.
///
/// # Errors
/// The file cannot be read, or was changed.
pub(crate) fn read_evaluation(context: &Context, folder: &Path) -> Result<Evaluation, Error> {
    let path = folder.join(EVALUATION);
    let text = read_text(&path)?;
    if !is_unchanged(folder, EVALUATION, text.as_bytes())? {
        let shown = path.display();
        context.note_once(Notice::Warning(format!(
            "{shown} was written by a version of planforge that recorded no hash of it, so changes to it cannot be noticed; \
             `planforge evaluate merge {}` writes it with one",
            folder.display()
        )));
    }
    parse_json(&path, &text)
}

/// Runs the selected cells of a matrix and makes the tables of all.
///
/// # Errors
/// Mistakes in the request, the matrix, the pipelines or the suites, all before anything is run; and files that cannot be written.
pub fn evaluate(context: &Context, request: &EvaluateRequest) -> Result<EvaluateResult, Error> {
    with_setup(context, request, false, |setup, batch, redactor| {
        let plan = setup.plan();
        store_matrix(context, request, setup, &plan)?;
        warn_of_other_cells(setup, &plan);
        announce(context, request, setup, &plan);
        let outcomes = setup.outcomes(&plan);
        // After an interruption the command ends at once.
        if outcomes.stopped.is_none() && outcomes.status() != Status::Interrupted {
            warn_of_repeats(setup, &plan);
        }
        let pending = write_pending(context, setup, &outcomes, (batch, redactor))?;
        let tables = match request.shard {
            Some(_) => None,
            None => Some(write_results(
                setup,
                &request.tables,
                request.junit.as_deref(),
                &outcomes,
                pending.clone(),
            )?),
        };
        Ok(result(setup, outcomes, (tables, request.shard), (pending, Some(batch))))
    })
}

/// Sends a remark about the requests, cost and time at most of the cells that have not started.
fn announce(context: &Context, request: &EvaluateRequest, setup: &EvaluationSetup<'_>, plan: &[Cell<'_>]) {
    // A replay sends no request. A cell with an error here has it again when it is run, and reports it then.
    if !request.replay.is_empty() {
        return;
    }
    let facts = setup.facts_of_new_cells(plan).unwrap_or_default();
    if facts.is_empty() {
        return;
    }
    let assumptions = Assumptions {
        reply_tokens: Assumptions::REPLY_TOKENS,
        request_seconds: Assumptions::REQUEST_SECONDS,
        jobs: request.jobs as u64,
    };
    let answer = Estimate::new(&facts, assumptions).answer();
    let new = if facts.len() == 1 { "1 new cell".to_owned() } else { format!("{} new cells", facts.len()) };
    context.note(Notice::Remark(format!("{new}: {answer}")));
}

/// Estimates what the selected cells would send and cost, without sending a request.
///
/// # Errors
/// As of [`evaluate`].
pub fn estimate(
    context: &Context,
    request: &EvaluateRequest,
    assumptions: Assumptions,
) -> Result<Estimate, Error> {
    with_setup(context, request, true, |setup, _, _| Ok(Estimate::new(&setup.facts()?, assumptions)))
}

/// Checks everything and calls `then`. A dry run keeps no file, and changes nothing on disk.
fn with_setup<T>(
    context: &Context,
    request: &EvaluateRequest,
    is_dry: bool,
    then: impl FnOnce(&EvaluationSetup<'_>, &Batch, &Redactor) -> Result<T, Error>,
) -> Result<T, Error> {
    let out = &context.path(&request.out);
    let matrix = matrix(context, request, out)?;
    let plugins = PluginsAndPrices::new(context)?;
    let columns = columns(context, &request.tables, &matrix, &plugins)?;
    let replay: Vec<PathBuf> = request.replay.iter().map(|path| context.path(path)).collect();
    if let Some(replay) = replay.iter().find(|path| !path.is_dir()) {
        let message = format!("--replay: {} is not a folder", replay.display());
        let help = "name the folder of `--record`, which has a file for each cell";
        return Err(Error::usage(message, Some(help)));
    }
    let scratch = is_dry.then(tempfile::tempdir).transpose().map_err(|error| unwritable(out, &error))?;
    let matrix = with_level_suites(context, matrix, out, scratch.as_ref().map(tempfile::TempDir::path))?;
    let suites = suites(context, &matrix, &columns)?;
    let redactor = Redactor::new(columns.iter().flat_map(|column| &column.secrets));
    let given: Vec<PathBuf> =
        request.answers.iter().filter(|_| !is_dry).map(|path| context.path(path)).collect();
    // Shards share no file, so each has its own batch files.
    let of_shard = |Shard { part, of }| out.join("shards").join(format!("{part}-of-{of}"));
    let questions = request.shard.map_or_else(|| out.to_owned(), of_shard);
    let batch = Batch::collect_answers(context, &questions, &given, &redactor)?;
    let selection =
        Selection { only: request.only.clone(), except: request.except.clone(), shard: request.shard };
    let setup = EvaluationSetup {
        context,
        out,
        matrix: &matrix,
        plugins: &plugins,
        suites: &suites,
        columns: &columns,
        selection,
        running: Some(RunSettings {
            record: request.record.as_ref().map(|path| context.path(path)),
            replay,
            retry: request.retry_errors,
            jobs: request.jobs,
            side_by_side: request.cells,
            batch: &batch,
            pending: Mutex::default(),
            opened: Mutex::default(),
        }),
        fail_on: request.fail_on,
    };
    for column in &columns {
        // Before anything is run: a suite that lacks what a pipeline is given is found now.
        let checked = setup.check(column, matrix.seeds.first().copied().unwrap_or_default())?;
        tasks_of(context, &checked, suites.clone())?;
    }
    check_selection(&setup)?;
    then(&setup, &batch, &redactor)
}

/// Makes the tables of cells that were run elsewhere. Runs nothing and sends no request.
///
/// # Errors
/// As of [`evaluate`]; parts that do not fit together.
pub fn merge(context: &Context, request: &MergeRequest) -> Result<EvaluateResult, Error> {
    let parts: Vec<PathBuf> = request.out.iter().map(|path| context.path(path)).collect();
    let into = request.into.as_ref().map(|path| context.path(path));
    let out = match (parts.as_slice(), &into) {
        ([out], None) => out,
        (_, None) => {
            let help = "name it with --into DIR";
            return Err(Error::usage("several folders are merged into another one", Some(help)));
        }
        (parts, Some(into)) => {
            merge::gather(context, parts, into)?;
            into
        }
    };
    let matrix = read_stored(context, out)?;
    let plugins = PluginsAndPrices::new(context)?;
    let columns = columns(context, &request.tables, &matrix, &plugins)?;
    let suites = suites(context, &matrix, &columns)?;
    let setup = EvaluationSetup {
        context,
        out,
        matrix: &matrix,
        plugins: &plugins,
        suites: &suites,
        columns: &columns,
        selection: Selection::default(),
        running: None,
        fail_on: request.fail_on,
    };
    let plan = setup.plan();
    warn_of_other_cells(&setup, &plan);
    let outcomes = setup.outcomes(&plan);
    let tables = write_results(&setup, &request.tables, request.junit.as_deref(), &outcomes, None)?;
    let incomplete = outcomes.unfinished_cells().next().map(|_| Status::Interrupted);
    let stopped = outcomes.stopped.as_ref().map(|error| error.status);
    let status = stopped.or(incomplete).unwrap_or_else(|| outcomes.status());
    Ok(EvaluateResult { status, ..result(&setup, outcomes, (Some(tables), None), (None, None)) })
}

fn result(
    setup: &EvaluationSetup<'_>,
    outcomes: EvaluationOutcome,
    (tables, shard): (Option<EvaluatedTables>, Option<Shard>),
    (pending, batch): (Option<Wave>, Option<&Batch>),
) -> EvaluateResult {
    let status = outcomes.status();
    let unfinished: Vec<CellResult> = outcomes.unfinished_cells().cloned().collect();
    let selected = || outcomes.cells.iter().filter(|cell| cell.selected);
    let missing_replies = outcomes.cells.iter().flat_map(|cell| MissingReply::of(&cell.result)).collect();
    let failures = outcomes.cells.iter().map(|cell| cell.failures);
    let (failed_tasks, failed_calls) =
        failures.fold((0, 0), |sum, failed| (sum.0 + failed.0, sum.1 + failed.1));
    let counts = EvaluationCounts {
        cells: outcomes.cells.len(),
        selected: selected().count(),
        selected_open: selected().filter(|cell| cell.result.state == CellState::Unfinished).count(),
        open: unfinished.len(),
        failed_tasks,
        failed_calls,
    };
    EvaluateResult {
        out: setup.out.to_owned(),
        tables,
        shard,
        pending,
        batch: batch.map(Batch::folders),
        counts,
        unfinished,
        missing_replies,
        changed: outcomes.changed_cells().cloned().collect(),
        stopped: outcomes.stopped,
        status,
    }
}

/// Writes the matrix. A shard may find that of another shard, but its own cells only when it resumes.
fn store_matrix(
    context: &Context,
    request: &EvaluateRequest,
    setup: &EvaluationSetup<'_>,
    plan: &[Cell<'_>],
) -> Result<(), Error> {
    let Some(shard) = request.shard else { return store(setup.out, setup.matrix) };
    claim(context, setup.out, setup.matrix)?;
    let started = plan.iter().find(|cell| cell.selected && cell.folder().join("run.json").exists());
    match started.filter(|_| !request.resume && !request.retry_errors) {
        Some(cell) => {
            let help = format!("continue with --resume --shard {shard}");
            Err(Error::usage(format!("{} already exists", cell.folder().display()), Some(&help)))
        }
        None => Ok(()),
    }
}

/// Writes pending requests to batch files. After an interruption the list would be incomplete, so none is
/// written.
fn write_pending(
    context: &Context,
    setup: &EvaluationSetup<'_>,
    outcomes: &EvaluationOutcome,
    (batch, redactor): (&Batch, &Redactor),
) -> Result<Option<Wave>, Error> {
    let Some(running) = setup.running.as_ref().filter(|_| outcomes.status() != Status::Interrupted) else {
        return Ok(None);
    };
    let wave = batch.write_requests(context, &running.pending(), redactor)?;
    Ok(Some(wave).filter(|wave| wave.pending > 0))
}

/// Writes everything that is made of the cells: tables, figures, JUnit.
fn write_results(
    setup: &EvaluationSetup<'_>,
    tables: &TableRequest,
    junit_file: Option<&Path>,
    outcomes: &EvaluationOutcome,
    pending: Option<Wave>,
) -> Result<EvaluatedTables, Error> {
    let EvaluationSetup { context, out, matrix, columns, suites, .. } = setup;
    let cells = outcomes.cells.iter().map(|outcome| outcome.result.clone()).collect();
    let judges =
        columns.iter().map(|column: &ColumnFile| (column.name.clone(), column.judges.clone())).collect();
    let evaluation = Evaluation::new(matrix.seeds.clone(), &judges, cells).with_baselines(suites);
    if let Some(file) = junit_file {
        write(&context.path(file), junit(&evaluation.cells).as_bytes())?;
    }
    let others = publish(context, out, tables, &evaluation)?;
    let fallbacks = evaluation.fallbacks();
    let ranking = Ranking::new(&evaluation);
    Ok(EvaluatedTables { layout: tables.layout, evaluation, others, fallbacks, ranking, pending })
}

/// Filters that match nothing, or leave nothing, are mistakes.
fn check_selection(setup: &EvaluationSetup<'_>) -> Result<(), Error> {
    let mut found: Vec<Diagnostic> =
        setup.selection.mistakes(&setup.axes()).iter().map(UnmatchedFilter::diagnostic).collect();
    let whole = Selection { shard: None, ..setup.selection.clone() };
    let nothing = || !setup.plan().iter().any(|cell| whole.takes_cell(0, &cell.key) && cell.has_tasks());
    if found.is_empty() && !whole.is_whole() && nothing() {
        let message = "the filters together leave no cell of the matrix".to_owned();
        found.push(
            Diagnostic::error("evaluate.filter", message).help("axes narrow each other: leave one out"),
        );
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::findings(Status::Usage, found, SourceMap::default())),
    }
}
