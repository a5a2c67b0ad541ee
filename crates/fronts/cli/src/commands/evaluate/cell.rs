//! One cell: its run folder, made, resumed or read.

use super::columns::ColumnFile;
use super::outcomes::CellOutcome;
use super::outcomes::count_failures;
use super::work::{EvaluationSetup, RunSettings};
use crate::execution::{ReplySources, RunOutcome, mode_of};
use crate::exit::Exit;
use crate::files::unwritable;
use crate::manifest::manifest;
use crate::manifest::stored_tasks;
use crate::pipeline::LoadedPipeline;
use crate::pipeline::instantiate;
use crate::recorded_run::RecordedRun;
use crate::recorded_run::open_cassettes;
use crate::recorded_run::read_report;
use crate::tasks::tasks_of;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_evaluate::history::History;
use planforge_evaluate::results::{CellClasses, CellKey, CellResult, ClassStages};
use planforge_pipeline::{Pipeline, RunReport, RunState, RunTask, Stage, Suite, named_back};
use planforge_record::{Event, RunFolder, RunManifest, TaskUse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        self.suite.tasks.iter().any(|task| self.work.selection.takes_task(&task.stem))
    }

    /// The outcome of a cell that was not run.
    pub(super) fn not_run(&self) -> CellOutcome {
        let result = CellResult::unfinished(self.key.clone(), &self.stems(), &self.column.judges);
        CellOutcome { result, selected: self.selected, exit: None, failures: (0, 0) }
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
                context.output.note(&format!("warning: {shown}: no figures from its journal: {failure}"));
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
    pub(super) fn run_or_read(&self, stopped: bool, jobs: usize) -> Result<Option<RunReport>, Exit> {
        let context = self.work.context;
        // Shards leave the cells of others alone.
        if self.work.selection.shard.is_some() && !self.selected {
            return Ok(None);
        }
        let folder = self.folder();
        let known = folder.join("run.json").exists();
        let running = self.work.running.as_ref().filter(|_| self.selected && !stopped);
        if !known && running.is_none() {
            return Ok(None);
        }
        let mut checked = self.work.check(self.column, self.key.seed)?;
        let tasks = tasks_of(context, &checked, vec![self.suite.clone()])?;
        if known {
            let stored = RunFolder::open(&folder, Arc::default())
                .map_err(|e| context.print_failure(&Failure::from(e)))?;
            self.check_inputs(&stored, &checked, &tasks)?;
            checked.use_recorded_prices(stored.manifest());
            let again =
                |report: &RunReport| running.is_some_and(|r| r.retry) && count_failures(report) != (0, 0);
            let report = read_report(context, &stored).map_err(|failure| context.print_failure(&failure))?;
            if let Some(report) = report.filter(|report| !again(report)) {
                return Ok(Some(report));
            }
        }
        running.map(|running| self.run(running, &checked, tasks, known, jobs)).transpose()
    }

    /// Runs or resumes the cell.
    fn run(
        &self,
        running: &RunSettings<'_>,
        checked: &LoadedPipeline,
        tasks: Vec<(RunTask, TaskUse)>,
        known: bool,
        jobs: usize,
    ) -> Result<RunReport, Exit> {
        let context = self.work.context;
        let folder = self.folder();
        let mode = mode_of(running.replay.is_some(), running.record.is_some());
        let (prepared, redactor) = instantiate(context, checked, mode)?;
        let answers = Some(running.batch.answers());
        let cassettes = self.cassettes_of(running);
        let lookups = open_cassettes(context, &cassettes, &redactor)?;
        let sources = ReplySources { mode, lookups, answers, failures_are_final: !running.retry };
        let opened = if known {
            RunFolder::resume(&folder, Arc::clone(&redactor))
        } else {
            let overrides = self.work.overrides(self.column, self.key.seed);
            let replayed = if running.replay.is_some() { &cassettes[..] } else { &[] };
            let manifest = manifest(checked, &prepared, &overrides, None, replayed, &tasks);
            let manifest = manifest.map_err(|failure| context.print_failure(&failure))?;
            remove_leftovers(&folder);
            let runs = folder.parent().unwrap_or(Path::new("")).to_owned();
            RunFolder::create(
                &runs,
                RunManifest { id: self.key.seed.to_string(), ..manifest },
                Arc::clone(&redactor),
            )
        };
        let opened = opened.map_err(|e| context.print_failure(&Failure::from(e)))?;
        for warning in opened.warnings() {
            context.output.note(&format!("warning: {}", warning.message));
        }
        let run = RecordedRun {
            context,
            checked,
            folder: Arc::new(opened),
            jobs: u32::try_from(jobs).unwrap_or(u32::MAX),
            title: self.title.clone(),
        };
        let all = tasks.len();
        let tasks = self.tasks_to_run(&checked.pipeline.config, &self.ended_tasks(&run.folder), tasks);
        let RunOutcome { report, pending, .. } =
            run.execute(prepared, Arc::clone(&redactor), sources, &tasks)?;
        if report.state == RunState::Parked {
            running.add_pending(pending);
        }
        if let Some(folder) = running.record {
            std::fs::create_dir_all(folder).map_err(|e| unwritable(context, folder, &e))?;
            run.export_cassette(&self.cassette(folder), &redactor)?;
        }
        if report.tasks.len() == all {
            run.save_report(&report, &redactor)?;
        }
        Ok(report)
    }

    /// The tasks that the record has a verdict for already, where that matters.
    fn ended_tasks(&self, folder: &RunFolder) -> BTreeSet<String> {
        let mut ended = BTreeSet::new();
        if self.work.selection.filters_tasks() {
            folder.each_event(|event| {
                if let Event::TaskFinished { task, .. } = event {
                    ended.insert(task.clone());
                }
            });
        }
        ended
    }

    /// The tasks that are selected, and those that have ended: looking them up costs nothing, and the cell then shows everything that is known
    /// of it. A task whose candidates all others start from is run with them.
    pub(super) fn tasks_to_run(
        &self,
        pipeline: &Pipeline,
        ended: &BTreeSet<String>,
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
            selection.takes_task(&used.task)
                || lead.as_ref() == Some(&used.task)
                || ended.contains(&task.name)
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
        match (running.replay, running.record) {
            (Some(folder), _) => {
                let found = self.cassettes(folder);
                // Opening what is not there says so.
                if found.is_empty() { vec![self.cassette(folder)] } else { found }
            }
            (None, Some(folder)) => self.cassettes(folder),
            (None, None) => Vec::new(),
        }
    }

    /// The cassettes in a folder that may have the cell's replies, plain or compressed: its own first, then
    /// those of other pipelines over the same suite and seed with the same model. A pipeline that continues
    /// another one sends the same requests up to there.
    fn cassettes(&self, folder: &Path) -> Vec<PathBuf> {
        let CellKey { model, seed, .. } = &self.key;
        let model = if model.is_empty() { String::new() } else { format!("@{model}") };
        let ends = [format!("{model}.{seed}.jsonl"), format!("{model}.{seed}.jsonl.gz")];
        let begin = format!("{}.", self.suite.name);
        let own = format!("{begin}{}.", self.key.column());
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(&begin) && ends.iter().any(|end| name.ends_with(end)))
            .collect();
        names.sort_by_key(|name| (!name.starts_with(&own), name.clone()));
        names.into_iter().map(|name| folder.join(name)).collect()
    }

    /// Refuses a cell that was made with other inputs.
    pub(super) fn check_inputs(
        &self,
        stored: &RunFolder,
        checked: &LoadedPipeline,
        tasks: &[(RunTask, TaskUse)],
    ) -> Result<(), Exit> {
        let context = self.work.context;
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
        let failure = Failure::new(FailureClass::Request, "evaluate.other", message);
        Err(context.print_failure(&failure.help("name another folder with --out, or undo the change")))
    }
}

/// Removes the empty folders of a process that was killed before its run had a manifest. Anything else stays,
/// and creating the run reports it.
fn remove_leftovers(folder: &Path) {
    for path in [folder.join("events"), folder.join("blobs"), folder.to_owned()] {
        drop(std::fs::remove_dir(path));
    }
}
