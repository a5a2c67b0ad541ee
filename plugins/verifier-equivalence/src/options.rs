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

/// How goals are compared. Everything else is compared as it reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As they read.
    #[default]
    Syntactic,
    /// By the reachable states that satisfy them: a goal fact makes no difference that follows from the others in every such state.
    Goals,
}

/// Options of `verifier-equivalence`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What is compared: `problem`.
    pub what: What,
    /// How goals are compared: `syntactic` or `goals`.
    pub level: Level,
    /// Most pairs of objects that are tried before the question is left open, at least 1.
    pub max_choices: u64,
    /// At level `goals`: most states that are seen where invariants and searches leave the question open.
    pub max_states: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { what: What::default(), level: Level::default(), max_choices: 1_000_000, max_states: 100_000 }
    }
}
