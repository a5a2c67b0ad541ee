//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of `environment-pddl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Whether verifiers may see the reference model (capability `model`), so that they can compute exactly. `false` makes a
    /// black box of the environment: it can only be tried.
    pub model: bool,
    /// How facts are told: predicate or function name -> sentence, with `{1}`, `{2}`, ... for its arguments and `{value}` for a
    /// function's value. A predicate without an entry is told by its name.
    pub sentences: BTreeMap<String, String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { model: true, sentences: BTreeMap::new() }
    }
}
