//! Candidates compared by the results of the stages that judged them.

use super::order::Order;
use crate::run::beam::Entry;
use crate::run::path::candidate_path;
use std::cmp::Ordering;

/// A candidate with the results that refine and budget stages compare.
#[derive(Clone)]
pub(crate) struct Rated {
    pub(crate) entry: Entry,
    /// True if the stages that judge it accepted it.
    pub(crate) accepted: bool,
    /// The metric, as it was measured.
    pub(crate) value: Option<f64>,
}

impl Rated {
    /// Orders accepted candidates first, then by the metric.
    pub(crate) fn compare(&self, other: &Self, order: Order) -> Ordering {
        other.accepted.cmp(&self.accepted).then_with(|| order.compare(self.value, other.value))
    }

    /// The candidate's path in the record.
    pub(crate) fn path(&self, task: &str) -> String {
        candidate_path(task, &self.entry.candidate.lineage)
    }
}
