//! What a pipeline file may set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `planner-llm`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Whether the model is asked to think step by step before it writes the plan.
    pub chain_of_thought: bool,
    /// Whether the rules of the actions are stated once more behind the task (test-time-scaling paper, section 4.6): from the
    /// domain's text, or, where the domain is given as PDDL, its conditions and effects in words.
    pub rules: bool,
    /// Whether the model is asked to check each step against the rules, to say what is true after it, whether the goal is reached,
    /// what the plan costs and whether it is valid, and for an optimal plan (Appendix F). What it claims is kept beside the plan.
    /// It goes before `chain_of_thought`.
    pub check_steps: bool,
    /// Whether the in-context example (`example.text` and `example.plan` of the suite) is shown. Left out: where the suite has
    /// one. `true`: a suite without one is an error.
    pub example: Option<bool>,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}
