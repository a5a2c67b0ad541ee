//! One module for each family of documents.

pub(crate) mod assessment;
pub(crate) mod candidate;
pub(crate) mod capabilities;
pub(crate) mod classes;
pub(crate) mod commands;
pub(crate) mod completion;
pub(crate) mod environment;
pub(crate) mod failure;
pub(crate) mod materials;
pub(crate) mod plan;
pub(crate) mod plugin;
