//! Recorded runs: listed, inspected, exported, and with other limits while they are in progress.

pub mod explain;
pub mod survey;

use crate::context::Context;
use crate::error::Error;
use crate::files::{refuse_part_of_run, unwritable};
use crate::running::changes::{CHANGED, NOT_CHANGED, limits_file, parse_limits};
use crate::status::Status;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::render::escape;
use planforge_evaluate::history::History;
use planforge_evaluate::results::TaskOutcome;
use planforge_pipeline::load_leniently;
use planforge_record::{
    Event, JournalTail, MAX_RECORD_BYTES, RunFolder, RunManifest, TaskVerdict, read_regular,
};
use planforge_report::otlp::write_otlp;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use planforge_evaluate::rounds::{
    ActionChange, ActionClass, RefineRound, RefinedTask, Refinement, Rounds, StageFeedback, Version,
};
pub use planforge_report::otlp::WrittenTrace;

/// The folder of runs if no other one is named.
pub const RUNS: &str = "runs";

/// The word for the newest run in [`RUNS`].
const LAST: &str = "last";

/// A run folder, with its manifest.
pub(crate) struct StoredRun {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: RunManifest,
}

/// The folder that a word names: a path, or `last` for the newest run in [`RUNS`].
///
/// # Errors
/// There is no run for `last`.
pub fn run_path(text: OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path != Path::new(LAST) || path.exists() {
        return Ok(path);
    }
    let newest = stored_runs(Path::new(RUNS)).into_iter().next();
    newest.map(|run| run.folder).ok_or_else(|| format!("the folder `{RUNS}` holds no run: name a run folder"))
}

/// The runs in a folder, newest first. Other files and folders are passed over.
pub(crate) fn stored_runs(folder: &Path) -> Vec<StoredRun> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut runs: Vec<StoredRun> = entries
        .filter_map(|entry| {
            let folder = entry.path();
            let manifest = RunManifest::read(&folder.join("run.json")).ok()?;
            Some(StoredRun { folder, manifest })
        })
        .collect();
    // The id begins with the time to the millisecond.
    runs.sort_by(|a, b| {
        (&b.manifest.created_at, &b.manifest.id).cmp(&(&a.manifest.created_at, &a.manifest.id))
    });
    runs
}

/// New events of a run that another process writes.
pub struct RunWatch {
    run: PathBuf,
    tail: JournalTail,
    /// The time of the last look for the process that writes.
    looked: Option<Instant>,
}

/// Shortest time between two looks for the process that writes a run: they read its manifest, which names every task.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl RunWatch {
    /// Starts before the first event.
    ///
    /// # Errors
    /// The folder is not a run.
    pub fn open(context: &Context, run: &Path) -> Result<Self, Error> {
        let run = context.path(run);
        let tail = JournalTail::open(&run)?;
        Ok(Self { run, tail, looked: None })
    }

    /// The next events; `None` if there are none and no process writes the run.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn next_events(&mut self) -> Result<Option<Vec<Event>>, Error> {
        let events = self.tail.next_events()?;
        if !events.is_empty() || self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return Ok(Some(events));
        }
        self.looked = Some(Instant::now());
        let in_progress = RunFolder::is_in_progress(&self.run)?;
        // The last ones may have been written before the process ended.
        let events = self.tail.next_events()?;
        Ok((in_progress || !events.is_empty()).then_some(events))
    }
}

/// A run in a list.
#[derive(Debug, Clone, Serialize)]
pub struct ListedRun {
    /// Name of the folder.
    pub run: String,
    /// Time of the start, UTC.
    pub created_at: String,
    /// Name of the pipeline file without its ending.
    pub pipeline: String,
    /// Number of tasks.
    pub tasks: usize,
    /// Tasks solved; absent if the run has no report: it is in progress or was stopped.
    pub solved: Option<usize>,
    /// Results of the tasks, empty if the run has no report.
    #[serde(skip)]
    pub outcomes: Vec<TaskOutcome>,
    /// True if a process writes it now.
    pub in_progress: bool,
}

/// The runs of a folder, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<ListedRun>,
}

/// The part of `report.json` that the list shows.
#[derive(Deserialize)]
struct ReportedTasks {
    tasks: Vec<ReportedTask>,
}

#[derive(Deserialize)]
struct ReportedTask {
    verdict: Option<TaskVerdict>,
}

/// Lists the runs of a folder. Other files and folders are passed over.
pub fn list(context: &Context, folder: &Path) -> RunList {
    RunList { runs: stored_runs(&context.path(folder)).iter().map(listed).collect() }
}

fn listed(run: &StoredRun) -> ListedRun {
    let StoredRun { folder, manifest } = run;
    let outcomes = outcomes(folder);
    let solved = |all: &Vec<TaskOutcome>| all.iter().filter(|one| **one == TaskOutcome::Solved).count();
    ListedRun {
        run: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        created_at: manifest.created_at.clone(),
        pipeline: Path::new(&manifest.config.path)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        tasks: manifest.tasks.len(),
        solved: outcomes.as_ref().map(solved),
        outcomes: outcomes.unwrap_or_default(),
        in_progress: RunFolder::is_in_progress(folder).unwrap_or(false),
    }
}

/// The results of the tasks in `report.json`.
fn outcomes(folder: &Path) -> Option<Vec<TaskOutcome>> {
    let text = read_regular(&folder.join("report.json"), MAX_RECORD_BYTES).ok()?;
    let report: ReportedTasks = planforge_contract::read_json(&text).ok()?;
    Some(report.tasks.iter().map(|task| TaskOutcome::of(task.verdict.as_ref())).collect())
}

/// A selection of a run's rounds of refinement.
#[derive(Debug, Clone, Default)]
pub struct RoundsRequest {
    /// The run folder.
    pub run: PathBuf,
    /// Only this task: `blocks.p01`, or `p01`.
    pub task: Option<String>,
    /// Only this action.
    pub action: Option<String>,
}

/// The rounds of refinement: critiques and changes. Its JSON form is the rounds.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct RoundsResult {
    /// The rounds.
    pub rounds: Rounds,
    /// True unless an action was named that no round changed and no critique names.
    #[serde(skip)]
    pub has_action: bool,
}

impl RoundsResult {
    /// Negative if no round changed the action that was named.
    pub fn status(&self) -> Status {
        if self.has_action { Status::Good } else { Status::Negative }
    }
}

/// Reads the rounds of a run (test-time-scaling paper, Table 3).
///
/// # Errors
/// The folder is not a run, it has no such task, or it refined no candidate (`cli.no-rounds`).
pub fn rounds(context: &Context, request: &RoundsRequest) -> Result<RoundsResult, Error> {
    let folder = RunFolder::open(&context.path(&request.run), Arc::default())?;
    let history = History::read(&folder)?;
    let refused = |message: String, help: &str| {
        let failure = Failure::new(FailureClass::Request, "cli.no-rounds", message).help(help);
        Err(Error::from(failure).with_status(Status::Input))
    };
    if let Some(task) = request.task.as_deref().filter(|task| history.task(task).is_none()) {
        let names: Vec<&str> = history.tasks.iter().map(|task| task.task.as_str()).collect();
        let message = format!("the run has no task `{}`", escape(task));
        return refused(message, &format!("its tasks are {}", names.join(", ")));
    }
    let texts = |task: &str| domain_text(folder.manifest(), task);
    let mut rounds = Rounds::of(&history, request.task.as_deref(), texts);
    if rounds.tasks.is_empty() {
        let message = format!("`{}` refined no candidate", request.run.display());
        return refused(message, "name a run of a pipeline with a refine stage, such as bon-ivml.toml");
    }
    let has_action = request.action.as_deref().is_none_or(|action| rounds.keep_action(action));
    Ok(RoundsResult { rounds, has_action })
}

/// The domain in plain language, where the suite's folder is still where it was.
fn domain_text(manifest: &RunManifest, task: &str) -> Option<String> {
    let used = manifest.tasks.iter().find(|used| used.name == task)?;
    let suite = load_leniently(Path::new(&used.suite)).suite?;
    Some(suite.domain_text).filter(|text| !text.trim().is_empty())
}

/// Writes a run as OpenTelemetry spans (OTLP JSON) into a file. `content` adds prompts and replies.
///
/// # Errors
/// The folder is not a run, or the file belongs to a run or cannot be written.
pub fn export(context: &Context, run: &Path, out: &Path, content: bool) -> Result<WrittenTrace, Error> {
    let folder = RunFolder::open(&context.path(run), Arc::default())?;
    let path = &context.path(out);
    refuse_part_of_run(path)?;
    let unwritable = |error: &dyn std::fmt::Display| {
        let message = format!("{} cannot be written: {error}", path.display());
        Failure::new(FailureClass::System, "report.io", message)
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(|e| unwritable(&e))?;
    let written = write_otlp(&folder, content, &mut BufWriter::new(&mut file))?;
    file.flush().map_err(|e| unwritable(&e))?;
    file.persist(path).map_err(|e| unwritable(&e.error))?;
    Ok(written)
}

/// As [`export`], into memory.
///
/// # Errors
/// The folder is not a run.
pub fn export_bytes(context: &Context, run: &Path, content: bool) -> Result<(WrittenTrace, Vec<u8>), Error> {
    let folder = RunFolder::open(&context.path(run), Arc::default())?;
    let mut bytes = Vec::new();
    let written = write_otlp(&folder, content, &mut bytes)?;
    Ok((written, bytes))
}

/// Time within which the running process answers; it looks once a second.
const WAIT: Duration = Duration::from_secs(30);

/// Changes limits of model tables of a run in progress, as `llm.NAME.KEY=VALUE`. Returns the line that the run noted in its journal.
///
/// # Errors
/// `cli.usage`: not a limit, or the run is not in progress or refused.
pub fn set_limits(context: &Context, run: &Path, changes: &[String]) -> Result<String, Error> {
    let shown = run.display();
    let folder = &context.path(run);
    let opened = RunFolder::open(folder, Arc::default())?;
    let limits = parse_limits(changes, &opened.manifest().models)?;
    let refuse_ended = || {
        let message = format!("{shown}: the run is not in progress");
        let changes = changes.join(" --set ");
        let help = format!("`planforge run --resume {shown} --set {changes}` goes on with other limits");
        Error::usage(message, Some(&help))
    };
    if !RunFolder::is_in_progress(folder)? {
        return Err(refuse_ended());
    }
    let file = limits_file(folder);
    let before = limit_lines(&opened).len();
    let new = file.with_extension("new");
    let written = std::fs::write(&new, serde_json::Value::Object(limits).to_string());
    written.and_then(|()| std::fs::rename(&new, &file)).map_err(|error| unwritable(&file, &error))?;
    let end = Instant::now() + WAIT;
    while file.exists() && Instant::now() < end && RunFolder::is_in_progress(folder)? {
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(std::fs::remove_file(&file));
    match limit_lines(&RunFolder::open(folder, Arc::default())?).get(before) {
        Some((message, true)) => Ok(message.clone()),
        Some((message, false)) => Err(Error::usage(message.clone(), None)),
        None => Err(refuse_ended()),
    }
}

/// The lines of the journal about limits, and whether they were changed.
fn limit_lines(run: &RunFolder) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    run.each_event(|event| {
        if let Event::Log { plugin, message, .. } = event
            && plugin == "planforge"
            && (message.starts_with(CHANGED) || message.starts_with(NOT_CHANGED))
        {
            found.push((message.clone(), message.starts_with(CHANGED)));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_listed_from_the_newest_and_other_folders_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = |id: &str, created_at: &str| RunManifest {
            schema: 1,
            id: id.to_owned(),
            created_at: created_at.to_owned(),
            ..RunManifest::default()
        };
        let times = ["2026-11-21T10:15:00Z", "2026-11-22T10:15:00Z", "2026-11-22T10:15:00Z"];
        for (name, time) in ["c.001", "a.001", "b.002"].into_iter().zip(times) {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            let text = serde_json::to_string(&manifest(name, time)).unwrap();
            std::fs::write(folder.path().join(name).join("run.json"), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("other")).unwrap();
        let runs = stored_runs(folder.path());
        let ids: Vec<&str> = runs.iter().map(|run| run.manifest.id.as_str()).collect();
        assert_eq!(ids, ["b.002", "a.001", "c.001"]);
        assert!(stored_runs(&folder.path().join("none")).is_empty());
    }

    #[test]
    fn a_path_names_itself() {
        assert_eq!(run_path("runs/one".into()).unwrap(), PathBuf::from("runs/one"));
    }
}
