//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A problem, for the candidate's domain or the given one.
    #[default]
    Problem,
    /// A domain; where the candidate has a problem already, one that fits it.
    Domain,
    /// The domain first, then the problem in the same conversation. Each sample has a conversation of its own.
    Both,
}

impl Mode {
    /// The word for it, as in the option and in the tags of a request.
    pub(crate) const fn artefact(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Domain => "domain",
            Self::Both => "both",
        }
    }
}

/// Options of `translator-direct`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What to write: `problem`, `domain` or `both`.
    pub mode: Mode,
    /// Whether the in-context example is shown. Left out: where the suite has one. `true`: a suite without one is an error.
    /// A problem's example is `example.text` and `example.problem`, a domain's is `example.domain-text` and `example.domain`.
    pub example: Option<bool>,
    /// Whether the question holds a beginning to complete: for a problem its objects, for a domain the names and parameters of its
    /// actions. They come from the suite's texts `objects.template` and `domain.template` or, where it has none, from the
    /// action interface that the pipeline gives.
    pub template: bool,
    /// Whether token log-probabilities are asked for; their sum becomes the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}
