//! The options of the plugin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to criticise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// The domain and the thoughts behind it, against the domain's text and the problem that is given (test-time-scaling paper, Eq. 3).
    #[default]
    Domain,
    /// The problem and the thoughts behind it, against the task's text and the domain.
    Problem,
    /// The plan: the rules said again, each step checked, then the goal and the cost (Appendix F).
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

/// The form that is asked for. A reply in the other form is read all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// JSON: each finding with its place, severity and a suggested change.
    #[default]
    Structured,
    /// Plain language, as in the paper.
    Prose,
}

/// What the critic is told beside the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// What the front end finds wrong with domain and problem.
    Diagnostics,
}

/// Options of `verifier-critique`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What to criticise: `domain`, `problem` or `plan`.
    pub of: Of,
    /// The form that is asked for: `structured` (findings with place, severity and change) or `prose`.
    pub form: Form,
    /// Whether the rounds of a refine stage are one conversation with the critic. Otherwise each round asks anew, and what the critic said
    /// before is known to the reader of its reply alone, who remarks on repetitions.
    pub history: bool,
    /// What the critic is told beside the candidate, found by the plugin itself: `["diagnostics"]` for what the front end finds wrong
    /// with domain and problem. What other stages found is added with the stage's `feedback = ["LABEL"]`.
    pub evidence: Vec<Evidence>,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}
