//! Arguments of several functions, as Python passes them.

use planforge_app::run::ModelChoice;
use planforge_app::{RequestLimits, Source};
use pyo3::prelude::*;
use std::path::PathBuf;

/// A text with its name in findings, or a path.
#[derive(FromPyObject)]
pub(crate) enum SourceArgument {
    Text(String, String),
    File(PathBuf),
}

impl From<SourceArgument> for Source {
    fn from(argument: SourceArgument) -> Self {
        match argument {
            SourceArgument::Text(name, text) => Self::text(name, text),
            SourceArgument::File(path) => Self::File(path),
        }
    }
}

/// Limits of a request.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LimitsArgument {
    time_limit: Option<f64>,
    memory_limit_mb: u64,
}

impl From<LimitsArgument> for RequestLimits {
    fn from(argument: LimitsArgument) -> Self {
        Self { seconds: argument.time_limit, memory_bytes: argument.memory_limit_mb.saturating_mul(1 << 20) }
    }
}

/// A model: `file` for those of the pipeline file, `client` for the Python object of the call, or a name after `:`.
pub(crate) fn model_choice(text: &str) -> ModelChoice {
    match text.split_once(':') {
        Some(("name", name)) => ModelChoice::Named(name.to_owned()),
        _ if text == "client" => ModelChoice::Client,
        _ => ModelChoice::OfFile,
    }
}
