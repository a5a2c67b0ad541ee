//! The table of a verify stage.

use planforge_contract::JsonObject;
use planforge_llm::RoleModels;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "verify"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The id of a verifier plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Role -> who takes it: the name of an `[llm.NAME]` table, names in an order, or names with weights.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, RoleModels>,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
    /// Labels of the stages whose feedback the verifier gets in `VerifyRequest.feedback`, as in a translate
    /// stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feedback: Vec<String>,
    /// The assessment is a measurement alone: it decides neither the task's verdict, nor whether a planner is asked, nor
    /// whether a round's child is accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measure: bool,
}
