//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The plan where the candidate has one, else the PDDL.
    #[default]
    Auto,
    /// The domain and the problem, as far as there are any.
    Pddl,
    /// The plan; a candidate without one is undecided.
    Plan,
}

/// What a plan is judged against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Against {
    /// The candidate's own domain and problem (or the given ones): is it a plan of what was written?
    #[default]
    Candidate,
    /// The task's environment: is it a plan of what was meant? Its model stays unknown to the candidate: the feedback names
    /// the failing step and nothing else of the environment.
    Environment,
}

/// Options of `verifier-val`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What is judged: `auto`, `pddl` or `plan`.
    pub what: What,
    /// What a plan is judged against: `candidate` or `environment`.
    pub against: Against,
}
