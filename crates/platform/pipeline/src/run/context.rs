//! What all calls of a run share, and what all calls of a task share.

use super::beam::Entry;
use super::copies::Copies;
use super::pool::Pool;
use super::recorder::Recorder;
use super::report::TaskUsage;
use super::services::{RunTask, Services};
use crate::config::Pipeline;
use planforge_contract::{Failure, TaskView};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One run.
pub(crate) struct Context<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) services: &'a Services,
    pub(crate) recorder: Recorder,
    pub(crate) pool: Pool,
    /// How long a plugin call may take.
    pub(crate) deadline: Option<Duration>,
    /// The first failure of the record itself: without a record the run cannot go on.
    pub(crate) broken: Mutex<Option<Failure>>,
}

impl Context<'_> {
    /// Whether no further call is to be made.
    pub(crate) fn stopping(&self) -> bool {
        (self.services.cancelled)() || lock(&self.broken).is_some()
    }

    /// A stage's position among all, those of rounds included.
    pub(crate) fn position(&self, label: &str) -> usize {
        self.pipeline.all_stages().position(|stage| stage.label() == label).unwrap_or(0)
    }

    /// Remembers that the record failed.
    pub(crate) fn note(&self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            lock(&self.broken).get_or_insert(failure);
        }
    }
}

/// One task of a run.
pub(crate) struct TaskRun<'a> {
    pub(crate) task: &'a RunTask,
    pub(crate) usage: Mutex<BTreeMap<String, TaskUsage>>,
    pub(crate) copies: Arc<Copies>,
    pub(crate) moves: Arc<Mutex<Moves>>,
}

/// How many questions a table left to another one: by table, the other, and the code of the failure.
pub(crate) type Moves = BTreeMap<(String, String, String), u64>;

impl<'a> TaskRun<'a> {
    pub(crate) fn new(task: &'a RunTask) -> Self {
        Self { task, usage: Mutex::default(), copies: Arc::default(), moves: Arc::default() }
    }

    /// The same task with a use of its own; what was replied to questions, and by whom not, is known to both.
    pub(crate) fn metered(&self) -> Self {
        let (copies, moves) = (Arc::clone(&self.copies), Arc::clone(&self.moves));
        Self { task: self.task, usage: Mutex::default(), copies, moves }
    }

    /// What plugins may know of the task when they are asked about this candidate.
    pub(crate) fn view(&self, entry: &Entry) -> TaskView {
        let mut view = self.task.view.clone();
        view.materials.extend(entry.materials.iter().map(|(name, text)| (name.clone(), text.clone())));
        view
    }
}

/// A lock on data that is whole at every moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
