//! The table of a fan-out stage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `do = "fan_out"`: up to here the lead task of each suite runs alone. The suite's other tasks start from
/// its survivors, with their domains and without their problems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FanOutStage {
    /// The stage's name, unique in the file.
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The stem of the lead task, for example `p01`; left out, the first task of the suite. A run of one task of a suite has
    /// that task as its lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
}
