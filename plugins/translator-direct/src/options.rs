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
    /// Changes to the candidate's domain, or to the action interface where it has none, as calls of two functions: one
    /// declares predicates, the other fills in an action (exploration-walk paper, Appendix B.3).
    Edit,
}

impl Mode {
    /// The word for it, as in the option and in the tags of a request.
    pub(crate) const fn artefact(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Domain => "domain",
            Self::Both => "both",
            Self::Edit => "edit",
        }
    }
}

/// Whether an in-context example is shown, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Example {
    /// `true`: the suite's, or that of the suite which the pipeline names; `false`: none.
    Shown(bool),
    /// One that the run itself made.
    Made(MadeExample),
}

/// Examples that a run makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MadeExample {
    /// The text and the problem of the task that a `fan_out` stage took as its lead.
    Lead,
}

impl Example {
    /// The lead task of a `fan_out` stage.
    pub const LEAD: Self = Self::Made(MadeExample::Lead);
}

/// Options of `translator-direct`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What to write: `problem`, `domain`, `both`, or `edit` for changes to a domain.
    pub mode: Mode,
    /// Whether an in-context example is shown. Left out: where there is one. `true`: that there is none is an error. `"lead"`:
    /// a problem is translated after the example of the lead task of a `fan_out` stage, `lead.text` and `lead.problem`.
    /// A problem's example is `example.text` and `example.problem`, with the text of their domain where no domain is given; a
    /// domain's is `example.domain-text` and `example.domain`; that of edits is the same written as calls.
    pub example: Option<Example>,
    /// Whether the question holds a beginning to complete: for a problem its objects, for a domain the names and parameters of its
    /// actions. Edits always begin with the latter. They come from the suite's texts `objects.template` and `domain.template` or, where it has none, from the
    /// action interface that the pipeline gives.
    pub template: bool,
    /// Whether the model is asked to reason before it answers. Left out: for edits alone.
    pub reason: Option<bool>,
    /// Whether token log-probabilities are asked for; their sum becomes the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}

impl Options {
    /// Whether the model is asked to reason first.
    pub(crate) fn reasons(&self) -> bool {
        self.reason.unwrap_or(self.mode == Mode::Edit)
    }
}
