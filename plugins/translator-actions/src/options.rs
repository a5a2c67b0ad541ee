//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the predicates come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are given with their descriptions (domain-generators paper, section 3).
    #[default]
    Given,
    /// Each action may propose new ones, which later actions may use; a last question asks which say the same and makes them one.
    Grown,
}

/// Options of `translator-actions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Where the predicates come from: `given`, or `grown` action by action.
    pub mode: Mode,
    /// In-context examples of each question, drawn from the actions of the suites in `action_examples` of [given], for each sample anew.
    #[schemars(range(min = 0, max = 100))]
    pub examples: u32,
    /// Whether each question shows the actions of the sample that are written already.
    pub earlier: bool,
    /// The actions to write, by name; all of them where it is left out. The others are not in the domain then.
    pub only: Option<Vec<String>>,
    /// Whether token log-probabilities are asked for; their sum over all actions becomes the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Given, examples: 3, earlier: false, only: None, logprobs: false, system: None }
    }
}
