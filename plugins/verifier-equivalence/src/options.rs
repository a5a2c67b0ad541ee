//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The candidate's problem with the reference problem of the task, over the same domain.
    #[default]
    Problem,
}

/// Options of `verifier-equivalence`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What is compared: `problem`.
    pub what: What,
    /// Most pairs of objects that are tried before the question is left open, at least 1.
    pub max_choices: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { what: What::default(), max_choices: 1_000_000 }
    }
}
