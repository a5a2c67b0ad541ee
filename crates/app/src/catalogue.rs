//! The plugin registry.

use crate::bundled::BUNDLED;
use crate::context::{Context, WorkerCommand};
use crate::events::Notice;
use planforge_plugin_host::{Registry, RegistrySettings, WorkerSettings};

/// Finds the plugins. Files on the search path that are not plugins are skipped with a warning.
pub(crate) fn registry(context: &Context) -> Registry {
    let worker = context.plugins.worker.clone().map(|WorkerCommand { executable, arguments }| {
        WorkerSettings { arguments, ..WorkerSettings::new(executable) }
    });
    let describe_cache = context.cache_folder().map(|cache| cache.join("planforge/plugins"));
    let isolate_libraries = context.plugins.isolate;
    let lent = context.plugins.lent.clone();
    let settings =
        RegistrySettings { lent, worker, describe_cache, isolate_libraries, ..RegistrySettings::default() };
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
