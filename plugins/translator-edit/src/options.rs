//! The options of the plugin.

use planforge_plugin_common::translating::GrammarUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `translator-edit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EditOptions {
    /// The in-context example: the texts `example.domain-text` and `example.domain`, with the domain written as calls. Left out: shown if the
    /// task has one. `true`: required. `false`: none.
    pub example: Option<bool>,
    /// Joint repair: the model may edit the problem as well (objects, initial state, goal), and sees it and the task's text. Without it a
    /// problem that no domain repairs (unreadable, an undeclared object, an empty goal) does not enter the rounds of a refine stage.
    pub problem: bool,
    /// Asks the model to reason before it calls the functions.
    pub reason: bool,
    /// Requests token log-probabilities. Their sum is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Grammars in the requests: `"off"`, `"prefer"` (where the provider enforces them) or `"require"`.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

impl Default for EditOptions {
    fn default() -> Self {
        Self {
            example: None,
            problem: false,
            reason: true,
            logprobs: false,
            grammar: GrammarUse::Off,
            system: None,
        }
    }
}
