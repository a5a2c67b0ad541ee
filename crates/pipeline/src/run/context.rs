//! What all calls of a run share, and what all calls of a task share.

use super::pool::Pool;
use super::recorder::Recorder;
use super::report::TaskUsage;
use super::services::{RunTask, Services};
use crate::config::Pipeline;
use planforge_contract::Failure;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One run.
pub(super) struct Context<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) services: &'a Services,
    pub(super) recorder: Recorder,
    pub(super) pool: Pool,
    /// How long a plugin call may take.
    pub(super) deadline: Option<Duration>,
    /// The first failure of the record itself: without a record the run cannot go on.
    pub(super) broken: Mutex<Option<Failure>>,
}

impl Context<'_> {
    /// Whether no further call is to be made.
    pub(super) fn stopping(&self) -> bool {
        (self.services.cancelled)() || lock(&self.broken).is_some()
    }

    /// Remembers that the record failed.
    pub(super) fn note(&self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            lock(&self.broken).get_or_insert(failure);
        }
    }
}

/// One task of a run.
pub(super) struct TaskRun<'a> {
    pub(super) task: &'a RunTask,
    pub(super) usage: Mutex<BTreeMap<String, TaskUsage>>,
}

/// A lock on data that is whole at every moment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
