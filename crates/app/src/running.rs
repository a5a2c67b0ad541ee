//! The execution of checked pipelines: record, progress, waiting requests, and estimates.

pub(crate) mod changes;
pub(crate) mod continuing;
pub(crate) mod dry_run;
pub(crate) mod execution;
pub(crate) mod manifest;

pub(crate) mod recorded;
