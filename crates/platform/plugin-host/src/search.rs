//! Plugins on the search path. Nothing here runs a plugin's code.

use crate::gates;
use crate::limits::CallLimits;
use crate::program::{MANIFEST, Manifest, Program, folder_hash};
use planforge_contract::{Failure, FailureClass};
use planforge_plugin_abi::{BundledPlugin, id_of_crate};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Source of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// Linked into the binary.
    Bundled,
    /// A library on the search path.
    Library {
        /// The file.
        path: PathBuf,
        /// SHA-256 of the file, lower-case hexadecimal.
        sha256: String,
    },
    /// A folder with a program and its `plugin.toml`.
    Program {
        /// The folder.
        path: PathBuf,
        /// SHA-256 over the folder's files, lower-case hexadecimal.
        sha256: String,
    },
}

impl PluginSource {
    /// The file or folder with its SHA-256; `None` for a bundled plugin.
    pub fn file(&self) -> Option<(&Path, &str)> {
        match self {
            Self::Bundled => None,
            Self::Library { path, sha256 } | Self::Program { path, sha256 } => Some((path, sha256)),
        }
    }
}

/// The code of a plugin as it was found; none of it has run.
#[derive(Clone)]
pub(crate) enum Found {
    Bundled(&'static BundledPlugin),
    /// With the crate's name.
    Library(PathBuf, String),
    Program(Arc<Program>),
}

/// A plugin that was found: its id, its source, and the result of the checks that do not run it.
pub(crate) type FoundPlugin = (String, PluginSource, Result<Found, Failure>);

/// A file or folder that names no plugin.
pub(crate) struct Stray {
    /// SHA-256 of the file; empty if it could not be read.
    pub(crate) sha256: String,
    pub(crate) failure: Failure,
}

impl Stray {
    fn new(sha256: String, failure: Failure) -> Box<Self> {
        Box::new(Self { sha256, failure })
    }
}

/// The plugin in a library's file.
pub(crate) fn library(path: &Path) -> Result<FoundPlugin, Box<Stray>> {
    let bytes = std::fs::read(path).map_err(|e| Stray::new(String::new(), file_failure(path, &e)))?;
    let sha256 = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    let file = gates::read_symbols(path, &bytes).map_err(|failure| Stray::new(sha256.clone(), failure))?;
    let epoch = gates::check_epoch(&path.display().to_string(), file.epoch);
    let id = id_of_crate(&file.crate_name);
    let source = PluginSource::Library { path: path.to_owned(), sha256 };
    Ok((id, source, epoch.map(|()| Found::Library(path.to_owned(), file.crate_name))))
}

/// The plugins of a folder, by name: itself if it has a manifest, else its shared libraries and the folders in it
/// that have a manifest.
pub(crate) fn plugins_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if folder.join(MANIFEST).is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut plugins = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_library =
            path.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION) && path.is_file();
        if is_library || path.join(MANIFEST).is_file() {
            plugins.push(path);
        }
    }
    plugins.sort();
    Ok(plugins)
}

/// The program in a folder.
pub(crate) fn program(folder: &Path, limits: &CallLimits) -> Result<FoundPlugin, Box<Stray>> {
    let file = folder.join(MANIFEST);
    let wrong =
        |why: String| Stray::new(String::new(), Failure::new(FailureClass::Plugin, "plugin.file", why));
    let text =
        std::fs::read_to_string(&file).map_err(|e| Stray::new(String::new(), file_failure(&file, &e)))?;
    let manifest = Manifest::read(&text).map_err(|why| wrong(format!("{}: {why}", file.display())))?;
    let sha256 = folder_hash(folder).map_err(wrong)?;
    let id = manifest.id.clone();
    let epoch = gates::check_epoch(&file.display().to_string(), manifest.contract);
    let program = Program::of_folder(folder, manifest, limits.clone());
    let source = PluginSource::Program { path: folder.to_owned(), sha256 };
    Ok((id, source, epoch.map(|()| Found::Program(program))))
}

pub(crate) fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::Plugin, "plugin.file", format!("{}: {error}", path.display()))
}
