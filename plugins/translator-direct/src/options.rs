//! The options of the plugin.

use planforge_plugin_common::translating::GrammarUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The PDDL to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A problem for the candidate's domain or the given one.
    #[default]
    Problem,
    /// A domain. If the candidate has a problem, the domain fits it.
    Domain,
    /// A domain, then a problem in the same conversation. Each sample has its own conversation.
    Both,
}

/// The in-context example of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// `true`: the example of the suite, or of the suite that the pipeline names. `false`: none.
    Shown(bool),
    /// An example that the run makes.
    Made(MadeExample),
}

/// Examples that a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MadeExample {
    /// The text and the problem of the lead task of a `fan_out` stage.
    Lead,
}

impl Example {
    /// The lead task of a `fan_out` stage.
    pub const LEAD: Self = Self::Made(MadeExample::Lead);
}

/// Options of `translator-direct`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DirectOptions {
    /// The PDDL to write: `problem`, `domain`, or `both`.
    pub mode: Mode,
    /// The in-context example. Left out: shown if the task has one. `true`: required. `false`: none. `"lead"`: a problem is translated
    /// after the example of the lead task of a `fan_out` stage, `lead.text` and `lead.problem`.
    /// The example of a problem is `example.text` and `example.problem`, with the text of their domain if no domain is given. The example
    /// of a domain is `example.domain-text` and `example.domain`.
    pub example: Option<Example>,
    /// Shows a template to complete: for a problem its objects, for a domain the names and parameters of its actions. Templates are the
    /// suite's texts `objects.template` and `domain.template` or, without these, the action interface that the pipeline gives.
    pub template: bool,
    /// Asks the model to reason before it answers.
    pub reason: bool,
    /// Requests token log-probabilities. Their sum is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Grammars in the requests: `"off"`, `"prefer"` (where the provider enforces them) or `"require"`. The grammar of a problem is made from its
    /// domain and objects. If no objects are given, each sample first names them in a request of its own; a correction has one request and a
    /// grammar of the domain alone. The grammar of a domain is its syntax.
    #[serde(skip_serializing_if = "GrammarUse::is_off")]
    pub grammar: GrammarUse,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}
