//! The options of the plugin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `planner-llm`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LlmPlannerOptions {
    /// Asks the model to reason step by step before it writes the plan.
    pub chain_of_thought: bool,
    /// Repeats the rules of the actions after the task (test-time-scaling paper, section 4.6): from the
    /// domain's text or, if the domain is given as PDDL, its conditions and effects in words.
    pub rules: bool,
    /// Asks the model to check each step against the rules, to state the facts after it, and to claim the
    /// plan's cost, validity and optimality (Appendix F). The claims are kept beside the plan. Takes
    /// precedence over `chain_of_thought`.
    pub check_steps: bool,
    /// Shows the in-context example (`example.text` and `example.plan` of the suite). Left out: if the suite
    /// has one. `true`: a suite without one is an error.
    pub example: Option<bool>,
    /// Replaces the system text. An empty text leaves the system turn out.
    pub system: Option<String>,
}
