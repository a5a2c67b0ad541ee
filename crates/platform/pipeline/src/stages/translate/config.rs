//! The table of a translate stage.

use planforge_contract::{FixPolicy, JsonObject};
use planforge_llm::RoleModels;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "translate"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslateStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a translator plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Number of samples of each candidate.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 1000))]
    pub n: u32,
    /// Most times that a sample is asked for again: if its reply could not be used, or if its problem has a mistake that no
    /// domain repairs (an unreadable problem, an undeclared object, an empty goal). The last reply counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = 10))]
    pub resample: u32,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Applies safe fixes to what a model wrote; each is recorded.
    #[serde(default)]
    pub fixes: FixPolicy,
    /// Labels of the stages whose feedback becomes part of the request: verify stages for their feedback,
    /// plan stages for the reason why there is no plan, and translate stages for the mistakes in the reply.
    /// They stand before this one; in a round, stages behind this one are those of the round before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// Candidates that have this already pass through unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_without: Option<Artefact>,
}

const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The parts of a candidate that are PDDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Artefact {
    /// The domain.
    Domain,
    /// The problem.
    Problem,
}
