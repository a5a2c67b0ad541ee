//! The settings that all cells of an evaluation share.

use super::FailThreshold;
use super::columns::ColumnFile;
use crate::batch::Batch;
use crate::context::Context;
use crate::exit::Exit;
use crate::pipeline::{LoadedPipeline, PluginsAndPrices};
use planforge_evaluate::matrix::{Axes, Matrix, Selection};
use planforge_llm::PendingRequest;
use planforge_pipeline::Suite;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    pub(super) record: Option<&'a PathBuf>,
    pub(super) replay: Option<&'a PathBuf>,
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

    pub(super) fn check(&self, column: &ColumnFile, seed: u64) -> Result<LoadedPipeline, Exit> {
        let name = column.path.display().to_string();
        self.plugins.check(self.context, &column.text, &name, &self.overrides(column, seed))
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
