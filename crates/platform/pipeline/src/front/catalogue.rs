//! What the checker asks about plugins. The host's registry answers it; tests answer it from plain data.

use planforge_contract::{JsonObject, PluginInfo};

/// Why nothing is known about a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogueError {
    /// There is no plugin of that id.
    Unknown,
    /// There is one, but it did not pass the load gates.
    Unavailable {
        /// The gate's code.
        code: String,
        /// What went wrong, for a person.
        message: String,
    },
}

/// What is wrong with an option.
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
    /// What is wrong.
    pub kind: OptionProblemKind,
    /// One sentence without a full stop.
    pub message: String,
    /// A way out.
    pub help: Option<String>,
}

/// Knows plugins without making any.
pub trait Catalogue {
    /// The ids of all plugins.
    fn ids(&self) -> Vec<String>;
    /// What a plugin says about itself.
    ///
    /// # Errors
    /// [`CatalogueError`]: unknown, or refused by a load gate.
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError>;
    /// Checks options against the plugin's schema; empty for an unknown plugin.
    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem>;
}
