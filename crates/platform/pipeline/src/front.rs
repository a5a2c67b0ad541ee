//! From the text of a pipeline file to a checked pipeline, with every mistake at its place.

mod catalogue;
mod check;
mod llm;
pub(crate) mod metrics;
mod moved;
mod obfuscate;
mod overrides;
pub(crate) mod plugins;
pub(crate) mod reader;
mod roles;
mod secrets;
pub(crate) mod stage_checker;
pub(crate) mod tree;

pub use catalogue::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind};
pub use check::{Checked, CheckedPipeline, MAX_PIPELINE_BYTES, check};
pub(crate) use llm::price_of;
pub use overrides::Override;
pub use secrets::hide_keys_near_errors;
