//! What a pipeline file may set.

use planforge_contract::Sentences;
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
    /// function's value; or `{ yes = "...", no = "..." }`, the second for a fact that does not hold. What is said here goes
    /// before the suite's own sentences; what neither says is told by its name.
    pub sentences: BTreeMap<String, Told>,
}

/// How one predicate or function is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Told {
    /// The sentence where it holds.
    Yes(String),
    /// The sentences where it holds and where it does not.
    Both(Sentences),
}

impl Options {
    /// The sentences in one form.
    pub(crate) fn wording(&self) -> BTreeMap<String, Sentences> {
        let one = |told: &Told| match told {
            Told::Yes(yes) => Sentences { yes: yes.clone(), no: String::new() },
            Told::Both(both) => both.clone(),
        };
        self.sentences.iter().map(|(name, told)| (name.clone(), one(told))).collect()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { model: true, sentences: BTreeMap::new() }
    }
}
