//! The place of a run in an evaluation: suite, pipeline, model and seed.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The key of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// The suite's name: the row.
    pub suite: String,
    /// The pipeline's name: the column, together with `model`.
    pub pipeline: String,
    /// The name of the matrix's model; empty if pipelines use their own models.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The run's seed.
    pub seed: u64,
}

impl CellKey {
    /// The name of its column: `PIPELINE`, or `PIPELINE@MODEL`.
    pub fn column(&self) -> String {
        column_name(&self.pipeline, &self.model)
    }

    /// The path of its run folder in the folder of the evaluation: `cells/SUITE/PIPELINE[@MODEL]/SEED`.
    pub fn folder(&self) -> PathBuf {
        Path::new("cells").join(&self.suite).join(self.column()).join(self.seed.to_string())
    }
}

/// The name of a pipeline with a model in tables and folders.
pub(super) fn column_name(pipeline: &str, model: &str) -> String {
    if model.is_empty() { pipeline.to_owned() } else { format!("{pipeline}@{model}") }
}
