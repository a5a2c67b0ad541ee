//! The one place that reads environment variables.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The variables whose names and values are text.
#[allow(clippy::disallowed_methods, reason = "the one place that may")]
pub(crate) fn variables() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Folders searched for plugin libraries, in order: the option, the variable, beside the executable. Never
/// the working directory, so that entering a folder cannot load code from it.
#[allow(clippy::disallowed_methods, reason = "the one place that may")]
pub(crate) fn plugin_search_path(flags: &[PathBuf]) -> Vec<PathBuf> {
    let mut path = flags.to_vec();
    if let Some(list) = std::env::var_os("PLANFORGE_PLUGINS") {
        // An empty entry would mean the working directory.
        path.extend(std::env::split_paths(&list).filter(|p| !p.as_os_str().is_empty()));
    }
    if let Ok(executable) = std::env::current_exe()
        && let Some(folder) = executable.parent()
    {
        let beside = folder.join("plugins");
        if beside.is_dir() {
            path.push(beside);
        }
    }
    path
}
