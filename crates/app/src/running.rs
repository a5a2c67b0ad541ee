//! The execution of checked pipelines: record, progress, waiting requests, and estimates.

pub(crate) mod changes;
pub(crate) mod dry_run;
pub(crate) mod ending_hint;
pub(crate) mod execution;
pub(crate) mod explain_plan;
pub(crate) mod manifest;

pub(crate) mod recorded;
pub(crate) mod waiting;
