//! From the text of a pipeline file to a checked pipeline, with every mistake at its place.

mod budget;
mod catalogue;
mod check;
mod llm;
mod obfuscate;
mod overrides;
mod plugins;
pub(crate) mod reader;
mod roles;
mod rounds;
mod secrets;
mod stages;
pub(crate) mod tree;

pub(crate) use budget::price_of;
pub use catalogue::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind};
pub use check::{Checked, CheckedPipeline, MAX_PIPELINE_BYTES, check};
pub use overrides::Override;
pub(crate) use stages::{CANDIDATE, MEAN_LOG_LIKELIHOOD};
