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

/// Who executes a plan on the candidate's own domain and problem.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The validator of planforge.
    #[default]
    Own,
    /// An installed VAL decides. Places, trace and feedback still come from the own validator; where the two disagree, the
    /// summary says so. A crash of VAL, or an answer that is none, leaves the candidate undecided.
    Val,
}

/// Options of `verifier-val`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What is judged: `auto`, `pddl` or `plan`.
    pub what: What,
    /// What a plan is judged against: `candidate` or `environment`.
    pub against: Against,
    /// Who executes a plan: `own`, or `val` for an installed VAL (`against = "candidate"` only).
    pub backend: Backend,
    /// The VAL program and the words before its files; looked for on the search path where it is a name.
    pub val_command: Vec<String>,
    /// Most seconds of wall time for VAL.
    pub val_time_limit_s: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            what: What::default(),
            against: Against::default(),
            backend: Backend::default(),
            val_command: vec!["Validate".to_owned()],
            val_time_limit_s: 60,
        }
    }
}
