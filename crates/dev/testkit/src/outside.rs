//! Crates outside the workspace: copied, and built with the workspace's lock file, profile and target folder, so that what is built
//! already is not built again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Copies a crate of the checkout to `to`. Paths to the checkout's crates in its manifest stay valid.
///
/// # Errors
/// A file that cannot be read or written.
pub fn copy_crate(checkout: &Path, folder: &str, to: &Path) -> std::io::Result<()> {
    let from = checkout.join(folder);
    copy_folder(&from, to)?;
    let up = "../".repeat(folder.split('/').count());
    let manifest = fs::read_to_string(to.join("Cargo.toml"))?;
    let root = format!("{}/", checkout.display());
    fs::write(to.join("Cargo.toml"), manifest.replace(&up, &root))
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name().filter(|name| *name != "target") else { continue };
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Copies a folder into the target folder under that name and returns the copy. Files that are equal are not written again and other
/// files are removed, so that a second run builds only what has changed.
///
/// # Errors
/// A file that cannot be read, written or removed.
pub fn keep_in_target(from: &Path, name: &str) -> Result<PathBuf, String> {
    let to = target_folder()?.join("tmp/outside").join(name);
    mirror(from, &to).map_err(|e| format!("{}: {e}", to.display()))?;
    Ok(to)
}

fn mirror(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(to)? {
        let path = entry?.path();
        let Some(name) = path.file_name().filter(|name| *name != "Cargo.lock") else { continue };
        if !from.join(name).exists() {
            if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
        }
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else { continue };
        let copy = to.join(name);
        if path.is_dir() {
            mirror(&path, &copy)?;
        } else {
            let bytes = fs::read(&path)?;
            if !fs::read(&copy).is_ok_and(|there| there == bytes) {
                fs::write(&copy, bytes)?;
            }
        }
    }
    Ok(())
}

/// The settings of the checkout's profile for development, as `--config` takes them. A variable of cargo replaces the setting of debug
/// information, because `--config` would win over it.
#[allow(clippy::disallowed_methods, reason = "cargo's own variable")]
fn profile_settings(manifest: &str) -> Vec<String> {
    let by_variable = std::env::var_os("CARGO_PROFILE_DEV_DEBUG").is_some();
    let mut section = None;
    let mut settings = Vec::new();
    for line in manifest.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(name).filter(|name| name.starts_with("profile.dev"));
        } else if let (Some(section), Some((key, value))) = (section, line.split_once('=')) {
            settings.push(format!("{section}.{}={}", key.trim(), value.trim()));
        }
    }
    settings.retain(|setting| !(by_variable && setting.starts_with("profile.dev.debug=")));
    settings
}

/// The target folder of the running test or program: the one above `debug` or `release`.
fn target_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let profile = program.ancestors().find(|folder| folder.ends_with("debug") || folder.ends_with("release"));
    let target = profile.and_then(Path::parent).map(Path::to_owned);
    target.ok_or_else(|| format!("{} is in no target folder", program.display()))
}

/// Makes a command run without the variables in which cargo describes the package of this process.
#[allow(clippy::disallowed_methods, reason = "the variables are removed, not used")]
pub fn remove_package_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
}

/// Runs cargo offline in a folder outside the workspace and returns everything that it printed.
///
/// # Errors
/// The output, if cargo fails.
pub fn cargo(checkout: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    fs::copy(checkout.join("Cargo.lock"), folder.join("Cargo.lock")).map_err(|e| e.to_string())?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).arg("--offline").current_dir(folder).env("CARGO_TARGET_DIR", target_folder()?);
    let manifest = fs::read_to_string(checkout.join("Cargo.toml")).map_err(|e| e.to_string())?;
    for setting in profile_settings(&manifest) {
        cargo.arg("--config").arg(setting);
    }
    remove_package_variables(&mut cargo);
    let output = cargo.output().map_err(|e| e.to_string())?;
    let text =
        format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(text) }
}

/// Builds the library of a crate outside the workspace and returns its path.
///
/// # Errors
/// The output of cargo, if the crate does not compile.
pub fn build_library(checkout: &Path, folder: &Path, crate_name: &str) -> Result<PathBuf, String> {
    cargo(checkout, folder, &["build", "--lib"])?;
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok(target_folder()?.join("debug").join(format!("{prefix}{crate_name}{suffix}")))
}
