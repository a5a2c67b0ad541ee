//! Facts about plugins for the checker. The host's registry implements it; tests use plain data.

use planforge_contract::{JsonObject, PluginInfo, Price};

/// Reasons for missing facts about a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogueError {
    /// There is no plugin of that id.
    Unknown,
    /// There is one, but it did not pass the load gates.
    Unavailable {
        /// The gate's code.
        code: String,
        /// A message for people.
        message: String,
    },
}

/// Kinds of mistakes in an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionProblemKind {
    /// The plugin has no option of that name.
    Unknown,
    /// The plugin needs an option that is not there.
    Missing,
    /// The value does not fit.
    Invalid,
}

/// One finding about a plugin's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionProblem {
    /// JSON pointer to the value; for an unknown option to that option, for a missing one to the object that lacks it.
    pub pointer: String,
    pub kind: OptionProblemKind,
    /// One sentence without a full stop.
    pub message: String,
    /// One action to take.
    pub help: Option<String>,
}

/// Facts about plugins, without instances of them.
pub trait Catalogue {
    /// The ids of all plugins.
    fn ids(&self) -> Vec<String>;
    /// The plugin's description of itself.
    ///
    /// # Errors
    /// [`CatalogueError`]: unknown, or refused by a load gate.
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError>;
    /// Checks options against the plugin's schema; empty for an unknown plugin.
    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem>;
    /// The listed price of the model table `[llm.NAME]`, which states none.
    fn price(&self, _name: &str, _info: &PluginInfo, _settings: &JsonObject) -> Option<Price> {
        None
    }
}
