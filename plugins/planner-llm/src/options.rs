//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `planner-llm`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Whether the model is asked to think step by step before it writes the plan.
    pub chain_of_thought: bool,
    /// Whether the in-context example (`example.text` and `example.plan` of the suite) is shown. Left out: where the suite has
    /// one. `true`: a suite without one is an error.
    pub example: Option<bool>,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}
