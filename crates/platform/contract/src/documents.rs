//! One module for each family of documents.

pub(crate) mod assessment;
pub(crate) mod candidate;
pub(crate) mod capabilities;
pub(crate) mod classes;
pub(crate) mod commands;
pub(crate) mod completion;
pub(crate) mod critique;
pub(crate) mod environment;
pub(crate) mod failure;
pub(crate) mod infer;
pub(crate) mod materials;
pub(crate) mod plan;
pub(crate) mod plugin;
pub(crate) mod rate_limits;
pub(crate) mod reported;
pub(crate) mod sentences;
pub(crate) mod task;
pub(crate) mod translate;
pub(crate) mod verify;
