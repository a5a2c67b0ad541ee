//! The plugin registry, and its view for the pipeline checker. Libraries are described in a child process, so that checking a file
//! runs no foreign code in this one.

use crate::bundled::BUNDLED;
use crate::context::Context;
use crate::events::Notice;
use crate::pipelines::prices::Prices;
use planforge_contract::{JsonObject, PluginInfo, Price};
use planforge_pipeline::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind};
use planforge_plugin_host::{Registry, RegistrySettings, WorkerSettings};

/// Finds the plugins. Files on the search path that are not plugins are skipped with a warning.
pub(crate) fn registry(context: &Context) -> Registry {
    let worker = context.plugins.worker.clone().map(WorkerSettings::new);
    let describe_cache = context.cache_folder().map(|cache| cache.join("planforge/plugins"));
    let isolate_libraries = context.plugins.isolate;
    let settings =
        RegistrySettings { worker, describe_cache, isolate_libraries, ..RegistrySettings::default() };
    let registry = Registry::new(BUNDLED, &context.plugins.search_path, settings);
    for stray in registry.strays() {
        if let Err(failure) = &stray.info {
            context.note_once(Notice::Warning(failure.to_string()));
        }
    }
    for exposed in registry.exposed() {
        let meaning =
            "whoever can write there can run code as you; allow it to yourself alone (`chmod go-w`)";
        context.note_once(Notice::Warning(format!("plugins: {exposed}: {meaning}")));
    }
    registry
}

/// Answers from a registry and lists of prices. Describes plugins, makes none.
pub(crate) struct RegistryCatalogue<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) prices: &'a Prices,
}

impl Catalogue for RegistryCatalogue<'_> {
    fn ids(&self) -> Vec<String> {
        self.registry.ids()
    }

    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        self.registry.info_apart(id).map(|info| PluginInfo::clone(&info)).map_err(|failure| {
            if failure.code == "plugin.unknown" {
                CatalogueError::Unknown
            } else {
                CatalogueError::Unavailable { code: failure.code, message: failure.message }
            }
        })
    }

    fn check_options(&self, id: &str, options: &JsonObject) -> Vec<OptionProblem> {
        // A plugin that is not there, or did not pass its gates, was reported where it is named.
        let problems = self.registry.check_options_apart(id, options).unwrap_or_default();
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

    fn price(&self, name: &str, info: &PluginInfo, settings: &JsonObject) -> Option<Price> {
        self.prices.find(name, info, settings)
    }
}
