//! The registry as the pipeline checker sees it: libraries are described in a child process, so that checking a file runs
//! no foreign code in this one.

use planforge_contract::{JsonObject, PluginInfo};
use planforge_pipeline::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind};
use planforge_plugin_host::{Registry, check_against_schema};

/// Answers from a registry. Describes plugins, makes none.
pub(crate) struct OfRegistry<'a>(pub(crate) &'a Registry);

impl Catalogue for OfRegistry<'_> {
    fn ids(&self) -> Vec<String> {
        self.0.ids()
    }

    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        self.0.info_apart(id).map(|info| PluginInfo::clone(&info)).map_err(|failure| {
            if failure.code == "plugin.unknown" {
                CatalogueError::Unknown
            } else {
                CatalogueError::Unavailable { code: failure.code, message: failure.message }
            }
        })
    }

    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem> {
        // A plugin that is not there, or did not pass its gates, was reported where it is named.
        let info = self.0.info_apart(id);
        let problems =
            info.ok().and_then(|i| check_against_schema(&i.options_schema, options).ok()).unwrap_or_default();
        problems
            .into_iter()
            .map(|p| OptionProblem {
                kind: match p.code {
                    "options.unknown" => OptionProblemKind::Unknown,
                    "options.missing" => OptionProblemKind::Missing,
                    _ => OptionProblemKind::Invalid,
                },
                pointer: p.pointer,
                message: p.message,
                help: p.suggestion.map(|near| format!("did you mean `{near}`?")),
            })
            .collect()
    }
}
