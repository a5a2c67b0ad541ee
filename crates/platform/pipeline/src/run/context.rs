//! Data shared by all calls of a run, and by all calls of a task.

use super::beam::Entry;
use super::copies::Copies;
use super::pool::Pool;
use super::recorder::Recorder;
use super::report::TaskUsage;
use super::services::{RunTask, Services};
use super::sync::lock;
use crate::config::Pipeline;
use planforge_contract::{Failure, LeadMaterials, TaskView};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A run.
pub(crate) struct Context<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) services: &'a Services,
    pub(crate) recorder: Recorder,
    pub(crate) pool: Pool,
    /// Time limit of a plugin call.
    pub(crate) deadline: Option<Duration>,
    /// The first failure of the record itself: without a record the run cannot go on.
    pub(crate) broken: Mutex<Option<Failure>>,
}

impl Context<'_> {
    /// True if no further call may be made.
    pub(crate) fn stopping(&self) -> bool {
        (self.services.cancelled)() || lock(&self.broken).is_some()
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

/// Number of requests that went from one table to another: by table, the other, and the code of the failure.
pub(crate) type Moves = BTreeMap<(String, String, String), u64>;

impl<'a> TaskRun<'a> {
    pub(crate) fn new(task: &'a RunTask) -> Self {
        Self { task, usage: Mutex::default(), copies: Arc::default(), moves: Arc::default() }
    }

    /// The same task with its own usage. Both share the replies and the moves between tables.
    pub(crate) fn with_own_usage(&self) -> Self {
        let (copies, moves) = (Arc::clone(&self.copies), Arc::clone(&self.moves));
        Self { task: self.task, usage: Mutex::default(), copies, moves }
    }

    /// The task as plugins may see it in a call about this candidate.
    pub(crate) fn view(&self, entry: &Entry) -> TaskView {
        let mut view = self.task.view.clone();
        let LeadMaterials { text, problem } = entry.lead.clone();
        let lead = &mut view.materials.lead;
        *lead = LeadMaterials { text: text.or(lead.text.take()), problem: problem.or(lead.problem.take()) };
        view
    }
}
