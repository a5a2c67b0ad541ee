//! The options of the plugin.

use planforge_contract::Sentences;
use planforge_plugin_common::judging::JudgingLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of `environment-pddl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PddlEnvironmentOptions {
    /// Lets verifiers read the reference model, so that they can compute exactly. With
    /// `false` the environment is a black box that can only be tried.
    pub model: bool,
    /// Wording of facts: predicate or function name -> sentence, with `{1}`, `{2}`, ... for its arguments and
    /// `{value}` for a function's value; or `{ yes = "...", no = "..." }`, with the second for a fact that
    /// does not hold. These sentences take precedence over the suite's. Facts without a sentence are
    /// described by their name.
    pub sentences: BTreeMap<String, FactWording>,
    /// Limits on each call: walks, executions, the judgement of a plan, the description of a state.
    pub limits: JudgingLimits,
}

/// The wording of one predicate or function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FactWording {
    /// The sentence for a true fact.
    Yes(String),
    /// The sentences for a true and a false fact.
    Both(Sentences),
}

impl PddlEnvironmentOptions {
    /// The sentences in one form.
    pub(crate) fn wording(&self) -> BTreeMap<String, Sentences> {
        let one = |told: &FactWording| match told {
            FactWording::Yes(yes) => Sentences { yes: yes.clone(), no: String::new() },
            FactWording::Both(both) => both.clone(),
        };
        self.sentences.iter().map(|(name, told)| (name.clone(), one(told))).collect()
    }
}

impl Default for PddlEnvironmentOptions {
    fn default() -> Self {
        Self { model: true, sentences: BTreeMap::new(), limits: JudgingLimits::default() }
    }
}
