//! Measurements, most of them against other programs. Each prints the table that a document quotes.

pub(crate) mod classes;
pub(crate) mod disks;
pub(crate) mod equivalence;
pub(crate) mod estimates;
pub(crate) mod inference;
pub(crate) mod load;
pub(crate) mod parser;
pub(crate) mod planning;
pub(crate) mod plugin_calls;
pub(crate) mod reading;
pub(crate) mod report;
pub(crate) mod robustness;
pub(crate) mod runner;
pub(crate) mod shards;
pub(crate) mod survival;
mod task_files;
pub(crate) mod top_k;
pub(crate) mod towers;
pub(crate) mod validation;
pub(crate) mod verdicts;
pub(crate) mod walks;
