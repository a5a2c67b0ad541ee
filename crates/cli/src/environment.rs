//! The one place that reads environment variables.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The value of a variable, where it is set and is text.
#[allow(clippy::disallowed_methods, reason = "the one place that may")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
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

/// The folder for files that can be recreated: `XDG_CACHE_HOME`, else `~/.cache`; none if neither is known.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache")
}

/// The user's list of what pipelines may do: `planforge/allow.toml` in `XDG_CONFIG_HOME`, else in `~/.config`; none if
/// neither is known.
pub(crate) fn allow_file() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("planforge/allow.toml"))
}

/// The user's list of prices: `planforge/prices.toml` beside the list of [`allow_file`].
pub(crate) fn price_file() -> Option<PathBuf> {
    allow_file().map(|path| path.with_file_name("prices.toml"))
}

/// The user's model tables: `planforge/config.toml` beside the list of [`allow_file`].
pub(crate) fn config_file() -> Option<PathBuf> {
    allow_file().map(|path| path.with_file_name("config.toml"))
}

/// The folder that a variable names with an absolute path, else the one of that name in the home folder.
fn user_folder(name: &str, in_home: &str) -> Option<PathBuf> {
    let named = variable(name).map(PathBuf::from).filter(|p| p.is_absolute());
    named.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(in_home)))
}

/// The file of a program on the search path.
#[allow(clippy::disallowed_methods, reason = "the one place that may")]
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).filter(|p| p.is_absolute()).map(|folder| folder.join(name));
    files.find(|file| {
        std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    })
}
