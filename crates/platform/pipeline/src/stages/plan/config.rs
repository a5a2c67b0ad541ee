//! The table of a plan stage.

use planforge_contract::JsonObject;
use planforge_llm::RoleModels;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "plan"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a planner plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Limits of the search for one candidate.
    #[serde(default)]
    pub limits: PlanStageLimits,
    /// Plans for rejected candidates too.
    #[serde(default)]
    pub plan_rejected: bool,
    /// Number of plans of each candidate. With more than one, each is a child of its own; one whose planner
    /// breaks is left out.
    #[serde(default = "crate::stages::one", skip_serializing_if = "crate::stages::is_one")]
    #[schemars(range(min = 1, max = 1000))]
    pub n: u32,
    /// Labels of the stages whose feedback the planner gets, as in a translate stage. The planner then also
    /// gets the candidate's current plan and rewrites it: the new plan is a child, and results about the old
    /// one do not count for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
}

impl Default for PlanStage {
    fn default() -> Self {
        Self {
            label: String::new(),
            plugin: String::new(),
            roles: BTreeMap::new(),
            options: JsonObject::new(),
            limits: PlanStageLimits::default(),
            plan_rejected: false,
            n: 1,
            feedback: Vec::new(),
        }
    }
}

impl PlanStage {
    /// True if its plans are children of the candidate; else the plan is added to the candidate itself.
    pub fn makes_children(&self) -> bool {
        self.n > 1 || self.rewrites()
    }
    /// True if it rewrites the candidate's plan.
    pub fn rewrites(&self) -> bool {
        !self.feedback.is_empty()
    }
}

/// Limits of one planner call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanStageLimits {
    /// Seconds of wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub time_s: Option<f64>,
    /// Megabytes (of 1024 * 1024 bytes) of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub memory_mb: Option<u64>,
    /// Expanded nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub nodes: Option<u64>,
}
