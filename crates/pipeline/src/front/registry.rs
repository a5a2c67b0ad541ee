//! The host's registry as the checker's catalogue.

use super::catalogue::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind};
use planforge_contract::{JsonObject, PluginInfo};
use planforge_plugin_host::Registry;

impl Catalogue for Registry {
    fn ids(&self) -> Vec<String> {
        Registry::ids(self)
    }

    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        match Registry::info(self, id) {
            Ok(info) => Ok((*info).clone()),
            Err(failure) if failure.code == "plugin.unknown" => Err(CatalogueError::Unknown),
            Err(failure) => Err(CatalogueError::Unavailable { code: failure.code, message: failure.message }),
        }
    }

    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem> {
        // A plugin that is not there, or did not pass its gates, was reported where it is named.
        let problems = Registry::check_options(self, id, options).unwrap_or_default();
        problems.into_iter().map(OptionProblem::from).collect()
    }
}

impl From<planforge_plugin_host::OptionProblem> for OptionProblem {
    fn from(problem: planforge_plugin_host::OptionProblem) -> Self {
        Self {
            kind: match problem.code {
                "options.unknown" => OptionProblemKind::Unknown,
                "options.missing" => OptionProblemKind::Missing,
                _ => OptionProblemKind::Invalid,
            },
            pointer: problem.pointer,
            message: problem.message,
            help: problem.suggestion.map(|near| format!("did you mean `{near}`?")),
        }
    }
}
