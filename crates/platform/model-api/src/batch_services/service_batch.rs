//! A batch as its service describes it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A batch at its service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceBatch {
    pub(crate) id: String,
    pub(crate) progress: BatchProgress,
    /// Paths of the files of results, below the service's address.
    pub(crate) results: Vec<String>,
    /// Fewest lines that these files have together.
    pub(crate) least_lines: u64,
}

/// The progress of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchProgress {
    /// The service's word, such as `in_progress`.
    pub status: String,
    /// True if the service works on it no longer.
    pub ended: bool,
    /// The service's counts of requests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Errors of the whole batch, such as a request file that the service refuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl BatchProgress {
    /// `in_progress (completed 3, failed 0, total 12)`.
    pub fn text(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        match counts.is_empty() {
            true => self.status.clone(),
            false => format!("{} ({})", self.status, counts.join(", ")),
        }
    }
}
