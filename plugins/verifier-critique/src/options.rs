//! The options of the plugin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The artefact to criticise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The domain and its thought, compared with the domain's text and the given problem (test-time-scaling
    /// paper, Eq. 3).
    #[default]
    Domain,
    /// The problem and its thought, compared with the task's text and the domain.
    Problem,
    /// The plan: its rules repeated, each step checked, then the goal and the cost (Appendix F).
    Plan,
}

impl Of {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Problem => "problem",
            Self::Plan => "plan",
        }
    }
}

/// The requested form of a reply. Replies in the other form are read too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// JSON: each finding with its place, severity and a suggested change.
    #[default]
    Structured,
    /// Plain language, as in the paper.
    Prose,
}

/// Findings that the critic is shown with the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Findings of the PDDL checks on domain and problem.
    Diagnostics,
}

/// Options of `verifier-critique`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CritiqueOptions {
    /// The artefact to criticise.
    pub of: Of,
    /// The requested form.
    pub form: Form,
    /// Makes the rounds of a refine stage one conversation with the critic. Otherwise each round asks anew;
    /// repetitions are found by comparing replies.
    pub history: bool,
    /// Findings that the plugin adds to the request. The stage's `feedback = ["LABEL"]` adds the findings of other stages.
    pub evidence: Vec<Evidence>,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}
