//! The plugin of a stage.

use planforge_contract::JsonObject;
use planforge_llm::RoleModels;
use std::collections::BTreeMap;

/// The plugin of a stage.
pub(crate) struct PluginUse<'a> {
    /// The stage's label.
    pub(crate) stage: &'a str,
    pub(crate) id: &'a str,
    pub(crate) options: &'a JsonObject,
    /// Role -> the model tables that take it.
    pub(crate) roles: &'a BTreeMap<String, RoleModels>,
}
