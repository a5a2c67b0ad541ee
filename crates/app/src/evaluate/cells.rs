//! The cells of an evaluation: each has a run folder, which is made, resumed or read.

use super::FailThreshold;
use super::columns::ColumnFile;
use crate::context::Context;
use crate::error::Error;
use crate::files::{unwritable, write};
use crate::pipelines::loaded::{LoadedPipeline, PluginsAndPrices, instantiate};
use crate::pipelines::tasks::tasks_of;
use crate::running::continuing::Batch;
use crate::running::dry_run::DryRun;
use crate::running::execution::{ReplySources, RunOutcome, mode_of};
use crate::running::manifest::{manifest, stored_tasks};
use crate::running::recorded::{RecordedRun, open_cassettes, read_report, replay_run};
use crate::status::{Status, of_report};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_evaluate::estimate::CellFacts;
use planforge_evaluate::history::History;
use planforge_evaluate::matrix::{Axes, Matrix, Selection};
use planforge_evaluate::results::{
    CellClasses, CellKey, CellResult, CellState, ClassStages, lines_csv, lines_jsonl, task_lines,
};
use planforge_llm::PendingRequest;
use planforge_pipeline::{Pipeline, RunReport, RunState, RunTask, Stage, Suite, TaskReport, named_back};
use planforge_record::{Event, RunFolder, RunManifest, TaskUse, TaskVerdict};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Settings that all cells share.
pub(super) struct EvaluationSetup<'a> {
    pub(super) context: &'a Context,
    pub(super) out: &'a Path,
    pub(super) matrix: &'a Matrix,
    pub(super) plugins: &'a PluginsAndPrices,
    pub(super) suites: &'a [Suite],
    pub(super) columns: &'a [ColumnFile],
    pub(super) selection: Selection,
    /// Absent where nothing is run, and cells are only read.
    pub(super) running: Option<RunSettings<'a>>,
    pub(super) fail_on: FailThreshold,
}

/// Settings for running cells.
pub(super) struct RunSettings<'a> {
    /// Folders of cassettes, as `--record` and `--replay` name them.
    pub(super) record: Option<PathBuf>,
    pub(super) replay: Vec<PathBuf>,
    /// True if failed calls of finished cells are retried.
    pub(super) retry: bool,
    /// Calls at a time, over all cells.
    pub(super) jobs: usize,
    /// Cells side by side.
    pub(super) side_by_side: usize,
    /// Answers to the questions of all cells.
    pub(super) batch: &'a Batch,
    /// The questions of all cells that wait.
    pub(super) pending: Mutex<Vec<PendingRequest>>,
    /// The cassettes that cells were replayed from.
    pub(super) opened: Mutex<BTreeSet<PathBuf>>,
}

impl RunSettings<'_> {
    /// Takes note of a cell's questions that wait.
    pub(super) fn add_pending(&self, questions: Vec<PendingRequest>) {
        lock(&self.pending).extend(questions);
    }

    /// All of them, in an order that does not depend on which cell ended first.
    pub(super) fn pending(&self) -> Vec<PendingRequest> {
        let mut all = lock(&self.pending).clone();
        all.sort_by(|a, b| (&a.path, &a.key).cmp(&(&b.path, &b.key)));
        all
    }
}

impl EvaluationSetup<'_> {
    /// The names on the axes of the matrix.
    pub(super) fn axes(&self) -> Axes {
        let tasks = |suite: &Suite| suite.tasks.iter().map(|task| task.stem.clone()).collect();
        Axes {
            suites: self.suites.iter().map(|suite| (suite.name.clone(), tasks(suite))).collect(),
            pipelines: self.matrix.pipeline_names(),
            models: self.matrix.models.iter().map(|model| model.name.clone()).collect(),
            seeds: self.matrix.seeds.clone(),
        }
    }

    pub(super) fn overrides(&self, column: &ColumnFile, seed: u64) -> Vec<String> {
        column.set.iter().cloned().chain([format!("seed={seed}")]).collect()
    }

    pub(super) fn check(&self, column: &ColumnFile, seed: u64) -> Result<LoadedPipeline, Error> {
        let name = column.path.display().to_string();
        self.plugins.check(self.context, &column.text, &name, &self.overrides(column, seed))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of a cell, and its status: `None` for a cell that is not selected.
pub(super) struct CellOutcome {
    pub(super) result: CellResult,
    /// True if the cell was selected to run.
    pub(super) selected: bool,
    pub(super) status: Option<Status>,
    /// Tasks that broke, and calls of other tasks that got no answer.
    pub(super) failures: (usize, u64),
    /// True if the cell was run with other inputs; its tasks then have the reason.
    pub(super) changed: bool,
}

/// The code of an error about other inputs.
const OTHER_INPUTS: &str = "evaluate.other";

impl CellOutcome {
    /// Marks a cell whose texts, pipeline or overrides changed after it was run.
    fn mark_changed(&mut self) {
        let why = "the cell was run with other inputs; its results are in its run folder";
        self.result.tasks.iter_mut().for_each(|task| why.clone_into(&mut task.why));
        self.changed = true;
    }
}

/// The results of all cells.
pub(super) struct EvaluationOutcome {
    pub(super) cells: Vec<CellOutcome>,
    /// The error that stopped the evaluation.
    pub(super) stopped: Option<Error>,
}

impl EvaluationOutcome {
    /// The status of the evaluation: that of the error that stopped it, else interruption, else pending
    /// requests (the evaluation continues once they are answered), else the first cell without a verdict,
    /// else a negative verdict if that counts.
    pub(super) fn status(&self) -> Status {
        let bad = || self.cells.iter().filter_map(|cell| cell.status).filter(|exit| *exit != Status::Good);
        let one = |selected| bad().find(|exit| *exit == selected);
        let goes_on = one(Status::Interrupted).or_else(|| one(Status::Pending));
        let open = || bad().find(|exit| !matches!(exit, Status::Negative | Status::Unusable));
        self.stopped
            .as_ref()
            .map(|error| error.status)
            .or(goes_on)
            .or_else(open)
            .or_else(|| bad().next())
            .unwrap_or(Status::Good)
    }

    /// The cells that were run with other inputs.
    pub(super) fn changed_cells(&self) -> impl Iterator<Item = &CellKey> {
        self.cells.iter().filter(|cell| cell.changed).map(|cell| &cell.result.key)
    }

    /// The cells whose runs are not whole.
    pub(super) fn unfinished_cells(&self) -> impl Iterator<Item = &CellResult> {
        self.cells.iter().map(|cell| &cell.result).filter(|result| result.state == CellState::Unfinished)
    }
}

/// The status of this cell alone. A task without a usable reply is not solved, so it counts as a negative verdict.
pub(super) fn status_of_cell(report: &RunReport, fail_on: FailThreshold) -> Status {
    let status = status_of_report(report, fail_on);
    if status == Status::Unusable && fail_on != FailThreshold::Negative { Status::Good } else { status }
}

fn status_of_report(report: &RunReport, fail_on: FailThreshold) -> Status {
    match fail_on {
        FailThreshold::Negative => of_report(report, true),
        FailThreshold::Undecided => of_report(report, false),
        FailThreshold::Failed => {
            let undecided = |task: &TaskReport| matches!(task.verdict, Some(TaskVerdict::Undecided { .. }));
            let tasks = report.tasks.iter().filter(|task| !undecided(task)).cloned().collect();
            of_report(&RunReport { tasks, ..report.clone() }, false)
        }
    }
}

/// Tasks that broke, and calls of other tasks that got no answer.
pub(super) fn count_failures(report: &RunReport) -> (usize, u64) {
    let broke = |task: &&TaskReport| matches!(task.verdict, Some(TaskVerdict::Failed { .. }));
    let others = report.tasks.iter().filter(|task| !broke(task));
    (
        report.tasks.iter().filter(broke).count(),
        others.flat_map(|task| task.usage.values()).map(|usage| usage.failed).sum(),
    )
}

/// Least time between two writings of the lines of tasks while cells are run. The time that one takes grows with the number of cells, so the
/// next one also waits [`SHARE`] times as long.
const REWRITTEN: Duration = Duration::from_secs(2);
const SHARE: u32 = 20;

impl EvaluationSetup<'_> {
    /// Every cell, in the order of the matrix: suites, pipelines, models, seeds.
    pub(super) fn plan(&self) -> Vec<Cell<'_>> {
        let total = self.suites.len() * self.columns.len() * self.matrix.seeds.len();
        let pairs =
            self.suites.iter().flat_map(|suite| self.columns.iter().map(move |column| (suite, column)));
        let keys = pairs.flat_map(|(suite, column)| {
            self.matrix.seeds.iter().map(move |&seed| (suite, column, column.key(&suite.name, seed)))
        });
        let cell = |(place, (suite, column, key)): (usize, (_, _, _))| {
            Cell::new(self, suite, column, key, (place, total))
        };
        keys.enumerate().map(cell).collect()
    }

    /// Runs the selected cells and reads the rest. After an interruption or an error no more cells are
    /// started, but finished ones are still read for the table.
    pub(super) fn outcomes(&self, plan: &[Cell<'_>]) -> EvaluationOutcome {
        let slots: Mutex<Vec<CellOutcome>> = Mutex::new(plan.iter().map(Cell::not_run).collect());
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let broken = Mutex::new(Vec::new());
        let written = Mutex::new(None);
        let (jobs, workers) = match &self.running {
            Some(running) => (running.jobs.max(1), running.side_by_side.clamp(1, running.jobs.max(1))),
            None => (1, 1),
        };
        std::thread::scope(|scope| {
            for worker in 0..workers {
                let share = jobs / workers + usize::from(worker < jobs % workers);
                let (slots, next, stopped, broken, written) = (&slots, &next, &stopped, &broken, &written);
                scope.spawn(move || {
                    while let Some((place, cell)) = next_cell(plan, next) {
                        match cell.run_or_read(stopped.load(Ordering::SeqCst), share) {
                            Ok(Some(report)) => {
                                stopped.fetch_or(report.state == RunState::Interrupted, Ordering::SeqCst);
                                let outcome = self.outcome(cell, &report);
                                store_outcome(slots, place, outcome);
                                self.write_task_lines(slots, written);
                            }
                            Ok(None) => {}
                            Err(error) => {
                                if error.code() == OTHER_INPUTS
                                    && let Some(slot) = lock(slots).get_mut(place)
                                {
                                    slot.mark_changed();
                                }
                                stopped.store(true, Ordering::SeqCst);
                                lock(broken).push(error);
                            }
                        }
                    }
                });
            }
        });
        let stopped = Error::join(std::mem::take(&mut *lock(&broken)));
        EvaluationOutcome { cells: slots.into_inner().unwrap_or_else(PoisonError::into_inner), stopped }
    }

    fn outcome(&self, cell: &Cell<'_>, report: &RunReport) -> CellOutcome {
        let judges = &cell.column.judges;
        let result = CellResult::of(cell.key.clone(), report, judges);
        let result = cell.with_history(result).with_missing(&cell.stems(), judges);
        // Where nothing is run, every cell counts.
        let counts = cell.selected || self.running.is_none();
        let status = counts.then(|| status_of_cell(report, self.fail_on));
        let failures = count_failures(report);
        CellOutcome { result, selected: cell.selected, status, failures, changed: false }
    }

    /// Writes the lines of the finished tasks, so that a killed evaluation leaves them. Shards share their
    /// folder, so they leave this to `merge`.
    fn write_task_lines(&self, slots: &Mutex<Vec<CellOutcome>>, next: &Mutex<Option<Instant>>) {
        if self.running.is_none() || self.selection.shard.is_some() {
            return;
        }
        let mut next = lock(next);
        let start = Instant::now();
        if next.is_some_and(|next| start < next) {
            return;
        }
        let results: Vec<CellResult> = lock(slots).iter().map(|outcome| outcome.result.clone()).collect();
        let lines = task_lines(&results);
        let jsonl = lines_jsonl(&lines).unwrap_or_default();
        for (name, text) in [("tasks.jsonl", jsonl), ("tasks.csv", lines_csv(&lines))] {
            // A full disk is reported; writing the tables at the end fails too.
            let _ = write(&self.out.join(name), text.as_bytes());
        }
        *next = Some(Instant::now() + REWRITTEN.max(start.elapsed() * SHARE));
    }
}

fn next_cell<'p, 'a>(plan: &'p [Cell<'a>], next: &AtomicUsize) -> Option<(usize, &'p Cell<'a>)> {
    let place = next.fetch_add(1, Ordering::SeqCst);
    plan.get(place).map(|cell| (place, cell))
}

fn store_outcome(slots: &Mutex<Vec<CellOutcome>>, place: usize, outcome: CellOutcome) {
    if let Some(slot) = lock(slots).get_mut(place) {
        *slot = outcome;
    }
}

/// A cell of the matrix.
pub(super) struct Cell<'a> {
    pub(super) work: &'a EvaluationSetup<'a>,
    pub(super) suite: &'a Suite,
    pub(super) column: &'a ColumnFile,
    pub(super) key: CellKey,
    pub(super) title: String,
    /// True if the cell is selected to run.
    pub(super) selected: bool,
}

impl Cell<'_> {
    /// A cell at this place of so many.
    pub(super) fn new<'a>(
        work: &'a EvaluationSetup<'a>,
        suite: &'a Suite,
        column: &'a ColumnFile,
        key: CellKey,
        (place, total): (usize, usize),
    ) -> Cell<'a> {
        let title = format!("{}/{total} {} {} {}", place + 1, key.suite, column.name, key.seed);
        let selected = work.running.is_some() && work.selection.takes_cell(place, &key);
        let cell = Cell { work, suite, column, key, title, selected };
        Cell { selected: cell.selected && cell.has_tasks(), ..cell }
    }

    /// True if at least one of its tasks is selected.
    pub(super) fn has_tasks(&self) -> bool {
        self.suite.tasks.iter().any(|task| self.work.selection.takes_task(&self.key, &task.stem))
    }

    /// The outcome of a cell that was not run.
    pub(super) fn not_run(&self) -> CellOutcome {
        let result = CellResult::unfinished(self.key.clone(), &self.stems(), &self.column.judges);
        CellOutcome { result, selected: self.selected, status: None, failures: (0, 0), changed: false }
    }

    pub(super) fn stems(&self) -> Vec<String> {
        self.suite.tasks.iter().map(|task| task.stem.clone()).collect()
    }

    /// Adds the figures that only the journal has. If it cannot be read, the figures are omitted with a
    /// warning.
    pub(super) fn with_history(&self, result: CellResult) -> CellResult {
        let context = self.work.context;
        let folder = self.folder();
        let judges = &self.column.judges;
        let read = RunFolder::open(&folder, Arc::default()).map_err(Failure::from).and_then(|run| {
            let Some(stages) = &judges.classes else {
                return Ok(result.clone().with_history(&History::read(&run)?, judges));
            };
            // One after the other: neither keeps the evidence of classes.
            let classes = self.classes(&run, stages)?;
            let history = History::read_without(&run, &stages.all)?;
            Ok(CellResult { classes: Some(classes), ..result.clone().with_history(&history, judges) })
        });
        match read {
            Ok(result) => result,
            Err(failure) => {
                let shown = folder.display();
                context.warn(format!("{shown}: no figures from its journal: {failure}"));
                result
            }
        }
    }

    /// The result classes of its replies for each action, under the suite's own names. The journal has those
    /// that the run used.
    fn classes(&self, run: &RunFolder, stages: &ClassStages) -> Result<CellClasses, Failure> {
        let tasks = stored_tasks(run.manifest())?;
        let Some(renaming) = tasks.first().and_then(|task| task.renaming.as_ref()) else {
            return CellClasses::read(run, stages, &self.actions());
        };
        let actions: Vec<String> =
            self.actions().iter().map(|action| renaming.name(action).to_owned()).collect();
        let classes = CellClasses::read(run, stages, &actions)?;
        Ok(named_back(classes, &renaming.back([])))
    }

    /// The actions of the reference domain.
    fn actions(&self) -> Vec<String> {
        let domain = self.suite.reference_domain.as_deref().unwrap_or_default();
        let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
        domain.actions.iter().map(|action| action.name.to_string()).collect()
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.work.out.join(self.key.folder())
    }

    /// Returns the cell's report; runs the cell if it is selected, not finished, and nothing has stopped the
    /// evaluation.
    pub(super) fn run_or_read(&self, stopped: bool, jobs: usize) -> Result<Option<RunReport>, Error> {
        let context = self.work.context;
        // Shards leave the cells of others alone.
        if self.work.selection.shard.is_some() && !self.selected {
            return Ok(None);
        }
        let folder = self.folder();
        let known = folder.join("run.json").exists();
        let running = self.work.running.as_ref().filter(|_| !stopped && (self.selected || known));
        if !known && running.is_none() {
            return Ok(None);
        }
        let mut checked = self.work.check(self.column, self.key.seed)?;
        let tasks = tasks_of(context, &checked, vec![self.suite.clone()])?;
        let mut ended = None;
        if known {
            let stored = RunFolder::open(&folder, Arc::default())?;
            self.check_inputs(&stored, &checked, &tasks)?;
            checked.use_recorded_prices(stored.manifest());
            let again = |report: &RunReport| {
                self.selected && running.is_some_and(|r| r.retry) && count_failures(report) != (0, 0)
            };
            let report = read_report(context, &stored)?;
            if let Some(report) = report.filter(|report| !again(report)) {
                return Ok(Some(report));
            }
            // Nothing is run, an error has stopped the evaluation, or the cell is not selected.
            let is_read = running.is_none() && !context.cancellation.is_cancelled()
                || running.is_some() && !self.selected;
            if is_read {
                return self.look_up(stored, jobs);
            }
            let filters = self.work.selection.filters_tasks();
            ended = Some(if filters { ended_tasks(&stored) } else { BTreeSet::new() });
        }
        running.map(|running| self.run(running, &checked, tasks, ended.as_ref(), jobs)).transpose()
    }

    /// The tasks that have ended in a cell that is not run, from its record. A cell that cannot be read here, for example because a
    /// program is missing, stays out of the tables with a warning.
    fn look_up(&self, stored: RunFolder, jobs: usize) -> Result<Option<RunReport>, Error> {
        let context = self.work.context;
        let ended = ended_tasks(&stored);
        if ended.is_empty() {
            return Ok(None);
        }
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
        match replay_run(&context.without_events(), &Arc::new(stored), jobs, Some(&ended)) {
            Ok((outcome, _)) => Ok(Some(outcome.report)),
            Err(error) if error.status == Status::Interrupted => Err(error),
            Err(error) => {
                let (count, folder) = (ended.len(), self.folder());
                let shown = folder.display();
                context.warn(format!("{shown}: {count} ended tasks are not in the tables: {error}"));
                Ok(None)
            }
        }
    }

    /// Runs the cell, or resumes it if the tasks that have ended are given.
    fn run(
        &self,
        running: &RunSettings<'_>,
        checked: &LoadedPipeline,
        tasks: Vec<(RunTask, TaskUse)>,
        ended: Option<&BTreeSet<String>>,
        jobs: usize,
    ) -> Result<RunReport, Error> {
        let context = self.work.context;
        let folder = self.folder();
        let mode = mode_of(!running.replay.is_empty(), running.record.is_some());
        let (prepared, redactor) = instantiate(context, checked, mode)?;
        let answers = Some(running.batch.answers());
        let cassettes = self.cassettes_of(running);
        let lookups = open_cassettes(context, &cassettes, &redactor)?;
        if !running.replay.is_empty() {
            lock(&running.opened).extend(cassettes.iter().cloned());
        }
        let sources = ReplySources { mode, lookups, answers, failures_are_final: !running.retry };
        let opened = if ended.is_some() {
            RunFolder::resume(&folder, Arc::clone(&redactor))
        } else {
            let overrides = self.work.overrides(self.column, self.key.seed);
            let replayed = if running.replay.is_empty() { &[] } else { &cassettes[..] };
            let manifest = manifest(context, checked, &prepared, &overrides, None, replayed, &tasks)?;
            remove_leftovers(&folder);
            let runs = folder.parent().unwrap_or(Path::new("")).to_owned();
            RunFolder::create(
                &runs,
                RunManifest { id: self.key.seed.to_string(), ..manifest },
                Arc::clone(&redactor),
            )
        };
        let opened = opened?;
        for warning in opened.warnings() {
            context.warn(warning.message.clone());
        }
        let run = RecordedRun {
            context,
            checked,
            folder: Arc::new(opened),
            jobs: u32::try_from(jobs).unwrap_or(u32::MAX),
            title: self.title.clone(),
        };
        let all = tasks.len();
        let tasks = self.tasks_to_run(&checked.pipeline.config, ended, tasks);
        let RunOutcome { report, pending, .. } =
            run.execute(prepared, Arc::clone(&redactor), sources, &tasks)?;
        if report.state == RunState::Parked {
            running.add_pending(pending);
        }
        if let Some(folder) = &running.record {
            std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
            run.export_cassette(&self.cassette(folder), &redactor)?;
        }
        if report.tasks.len() == all {
            run.save_report(&report, &redactor)?;
        }
        Ok(report)
    }

    /// The tasks that are selected, and those that have ended: the record has their results, and the tables then show all of them. A task
    /// whose candidates all others start from is run with them.
    pub(super) fn tasks_to_run(
        &self,
        pipeline: &Pipeline,
        ended: Option<&BTreeSet<String>>,
        tasks: Vec<(RunTask, TaskUse)>,
    ) -> Vec<RunTask> {
        let selection = &self.work.selection;
        let lead = pipeline.stages.iter().find_map(|stage| match stage {
            Stage::FanOut(stage) => {
                let named =
                    stage.lead.clone().filter(|lead| tasks.iter().any(|(_, used)| used.task == *lead));
                named.or_else(|| tasks.first().map(|(_, used)| used.task.clone()))
            }
            _ => None,
        });
        let selected = |(task, used): &(RunTask, TaskUse)| {
            ended.is_some_and(|ended| ended.contains(&task.name))
                || selection.takes_task(&self.key, &used.task)
                || lead.as_ref() == Some(&used.task)
        };
        tasks.into_iter().filter(selected).map(|(task, _)| task).collect()
    }

    /// The cell's cassette in a folder of them.
    fn cassette(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.{}.{}.jsonl", self.suite.name, self.key.column(), self.key.seed))
    }

    /// The cassettes searched in addition to the run's own journal. An existing recording is completed, not
    /// paid for again.
    pub(super) fn cassettes_of(&self, running: &RunSettings<'_>) -> Vec<PathBuf> {
        let folders =
            if running.replay.is_empty() { running.record.as_slice() } else { running.replay.as_slice() };
        let mut found: Vec<(CassetteRank, PathBuf)> =
            folders.iter().flat_map(|folder| self.cassettes(folder)).collect();
        // The cell's own of all folders come before those of other pipelines.
        found.sort_by_key(|(rank, _)| *rank);
        let found: Vec<PathBuf> = found.into_iter().map(|(_, path)| path).collect();
        match running.replay.first() {
            // Opening what is not there says so.
            Some(folder) if found.is_empty() => vec![self.cassette(folder)],
            _ => found,
        }
    }

    /// The cassettes in a folder that may have the cell's replies, plain or compressed, by name.
    fn cassettes(&self, folder: &Path) -> Vec<(CassetteRank, PathBuf)> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        let found = |name: String| Some((CassetteRank::of(&name, &self.key)?, folder.join(name)));
        names.into_iter().filter_map(found).collect()
    }

    /// Refuses a cell that was made with other inputs.
    pub(super) fn check_inputs(
        &self,
        stored: &RunFolder,
        checked: &LoadedPipeline,
        tasks: &[(RunTask, TaskUse)],
    ) -> Result<(), Error> {
        let manifest = stored.manifest();
        let source = &checked.pipeline.source;
        let add_ons = |uses: &mut dyn Iterator<Item = &TaskUse>| -> Vec<BTreeMap<String, String>> {
            uses.map(|used| used.add_on.clone().unwrap_or_default().files).collect()
        };
        let other_add_on =
            add_ons(&mut manifest.tasks.iter()) != add_ons(&mut tasks.iter().map(|(_, used)| used));
        let digests = |uses: &mut dyn Iterator<Item = &TaskUse>| -> Vec<(String, String)> {
            uses.map(|used| (used.task.clone(), used.sha256.clone())).collect()
        };
        let other = [
            ("the pipeline's text", manifest.config.text != *source),
            ("the overrides", manifest.overrides != self.work.overrides(self.column, self.key.seed)),
            ("the add-on", other_add_on),
            (
                "the tasks",
                !other_add_on
                    && digests(&mut manifest.tasks.iter())
                        != digests(&mut tasks.iter().map(|(_, used)| used)),
            ),
        ];
        let other: Vec<&str> = other.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
        if other.is_empty() {
            return Ok(());
        }
        let message = format!("{} was made with other inputs: {}", stored.path().display(), other.join(", "));
        let failure = Failure::new(FailureClass::Request, OTHER_INPUTS, message);
        Err(failure.help("name another folder with --out, or undo the change").into())
    }
}

/// The place of a cassette in the order in which a cell searches them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CassetteRank {
    /// The cell's own.
    Own,
    /// Of another pipeline with the same model. A pipeline that continues another one sends the same requests up to there.
    SameModel,
    /// Of a model of a matrix, for a cell without one: the pipeline may name the same model.
    NamedModel,
}

impl CassetteRank {
    /// The rank of a file for a cell; `None` for a file of another suite, seed or model of the matrix.
    fn of(name: &str, key: &CellKey) -> Option<Self> {
        let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".jsonl")?;
        let column = stem.strip_suffix(&format!(".{}", key.seed))?;
        let column = column.strip_prefix(&format!("{}.", key.suite))?;
        let (named, model) = (format!("@{}", key.model), !key.model.is_empty());
        match column == key.column() {
            true => Some(Self::Own),
            false if model => column.ends_with(&named).then_some(Self::SameModel),
            false if column.contains('@') => Some(Self::NamedModel),
            false => Some(Self::SameModel),
        }
    }
}

/// The tasks that the record has a verdict for already.
fn ended_tasks(folder: &RunFolder) -> BTreeSet<String> {
    let mut ended = BTreeSet::new();
    folder.each_event(|event| {
        if let Event::TaskFinished { task, .. } = event {
            ended.insert(task.clone());
        }
    });
    ended
}

/// Removes the empty folders of a process that was killed before its run had a manifest. Anything else stays,
/// and creating the run reports it.
fn remove_leftovers(folder: &Path) {
    for path in [folder.join("events"), folder.join("blobs"), folder.to_owned()] {
        drop(std::fs::remove_dir(path));
    }
}

impl EvaluationSetup<'_> {
    /// The facts of every selected cell, in the order of the table.
    pub(super) fn facts(&self) -> Result<Vec<CellFacts>, Error> {
        let context = self.context;
        self.plan().iter().filter(|cell| cell.selected).map(|cell| cell.facts(context)).collect()
    }

    /// The facts of the selected cells that have not started. One cell of each suite and column is read, because the seed does not
    /// change the number of requests.
    pub(super) fn facts_of_new_cells(&self, plan: &[Cell<'_>]) -> Result<Vec<CellFacts>, Error> {
        let silent = self.context.without_events();
        let mut known: BTreeMap<(String, String), CellFacts> = BTreeMap::new();
        let mut all = Vec::new();
        for cell in plan.iter().filter(|cell| cell.selected && !cell.folder().join("run.json").exists()) {
            let of = (cell.key.suite.clone(), cell.key.column());
            let facts = match known.entry(of) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(cell.facts(&silent)?),
            };
            all.push(CellFacts { key: cell.key.clone(), ..facts.clone() });
        }
        Ok(all)
    }
}

impl Cell<'_> {
    /// The facts of the cell, without sending a request.
    fn facts(&self, context: &Context) -> Result<CellFacts, Error> {
        let folder = self.folder();
        let checked = self.work.check(self.column, self.key.seed)?;
        let tasks = tasks_of(context, &checked, vec![self.suite.clone()])?;
        let known = folder.join("run.json").exists();
        let mut report = None;
        if known {
            let stored = RunFolder::open(&folder, Arc::default())?;
            self.check_inputs(&stored, &checked, &tasks)?;
            report = read_report(context, &stored)?;
        }
        let running = self.work.running.as_ref();
        let retried =
            |report: &RunReport| running.is_some_and(|r| r.retry) && count_failures(report) != (0, 0);
        let report = report.filter(|report| !retried(report));
        let tasks = self.tasks_to_run(&checked.pipeline.config, None, tasks);
        let dry = DryRun {
            context,
            checked: &checked,
            tasks: &tasks,
            explainer: None,
            jobs: running.map_or(1, |running| u32::try_from(running.jobs).unwrap_or(u32::MAX)),
            title: self.title.clone(),
        };
        if let Some(report) = report {
            return Ok(dry.finished_facts(self.key.clone(), &report));
        }
        let run = known.then_some(folder.as_path());
        let cassettes = running.map(|running| self.cassettes_of(running)).unwrap_or_default();
        let facts = dry.facts(&self.key, run, &cassettes)?;
        // A cell has the tasks of one suite.
        facts.into_iter().next().ok_or_else(|| Error::of_status(Status::Input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_evaluate::results::{CellKey, Judges};

    fn status_of_all(statuses: &[Status]) -> Status {
        let outcome = |status: &Status| {
            let key = CellKey {
                suite: "s".into(),
                pipeline: "p".into(),
                model: String::new(),
                seed: *status as u64,
            };
            let result = CellResult::unfinished(key, &[], &Judges::default());
            CellOutcome { result, selected: true, status: Some(*status), failures: (0, 0), changed: false }
        };
        EvaluationOutcome { cells: statuses.iter().map(outcome).collect(), stopped: None }.status()
    }

    #[test]
    fn own_cassettes_come_first_and_those_of_named_models_last() {
        use CassetteRank::{NamedModel, Own, SameModel};
        let rank = |name: &str, model: &str| {
            let (suite, pipeline) = ("blocks".to_owned(), "llm-p".to_owned());
            CassetteRank::of(name, &CellKey { suite, pipeline, model: model.to_owned(), seed: 1 })
        };
        for (name, without, with) in [
            ("blocks.llm-p.1.jsonl", Some(Own), None),
            ("blocks.tic.1.jsonl.gz", Some(SameModel), None),
            ("blocks.llm-p@small.1.jsonl", Some(NamedModel), Some(Own)),
            ("blocks.tic@small.1.jsonl.gz", Some(NamedModel), Some(SameModel)),
            ("blocks.tic@large.1.jsonl", Some(NamedModel), None),
            ("blocks.llm-p.2.jsonl", None, None),
            ("blocks-L2.llm-p.1.jsonl", None, None),
            ("README.md", None, None),
        ] {
            assert_eq!((rank(name, ""), rank(name, "small")), (without, with), "{name}");
        }
        assert!(Own < SameModel && SameModel < NamedModel);
    }

    #[test]
    fn a_negative_cell_does_not_hide_a_failed_cell() {
        use Status::{Budget, Good, Interrupted, Negative, Pending, Provider, Undecided, Unusable};
        for (statuses, whole) in [
            (&[Good, Good][..], Good),
            (&[Good, Negative], Negative),
            (&[Unusable, Undecided], Undecided),
            (&[Good, Unusable], Unusable),
            (&[Negative, Provider], Provider),
            (&[Negative, Undecided, Provider], Undecided),
            (&[Budget, Pending, Provider], Pending),
            (&[Pending, Interrupted, Negative], Interrupted),
        ] {
            assert_eq!(status_of_all(statuses), whole, "{statuses:?}");
        }
    }
}
