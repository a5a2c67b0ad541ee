//! The options of the plugin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Writes the PDDL. Feedback is the next turn of the candidate's conversation.
    #[default]
    Write,
    /// Writes the candidate's PDDL anew from a critique: the f_update of the test-time-scaling paper (Eq. 4). The request stands alone: it
    /// shows the text, the last explanation, the last PDDL and the critique, and not the conversation.
    Update,
}

/// The PDDL that is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Artefact {
    #[default]
    Domain,
    Problem,
}

impl Artefact {
    /// The word in requests and tags.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Problem => "problem",
        }
    }
}

/// The form of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `### Thought:` with one line for each predicate and action, then `### Domain:` or `### Problem:` (test-time-scaling paper,
    /// Appendix D).
    #[default]
    Thought,
    /// PDDL alone.
    Plain,
}

/// Options of `translator-thought`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThoughtOptions {
    /// `write` writes PDDL; `update` writes the candidate's PDDL anew from a critique.
    pub mode: Mode,
    /// The PDDL that is written: `domain` or `problem`.
    pub artefact: Artefact,
    /// The form of a reply: `thought` is a thought and then PDDL, each under a heading; `plain` is PDDL alone. The thought is kept with the
    /// candidate.
    pub form: Form,
    /// Shows a template to complete: for a problem its objects, for a domain the names and parameters of its actions. Templates are the
    /// suite's texts `objects.template` and `domain.template` or, without these, the action interface that the pipeline gives.
    pub template: bool,
    /// Requests token log-probabilities. Their sum over thought and PDDL is the candidate's log-likelihood.
    pub logprobs: bool,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

impl ThoughtOptions {
    /// True if replies have a thought before the PDDL.
    pub(crate) fn has_thought(&self) -> bool {
        self.form == Form::Thought
    }
}
