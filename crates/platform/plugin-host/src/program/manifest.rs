//! `plugin.toml`: the id, kind and command of a program.

use planforge_contract::PluginKind;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Most files and bytes of a program's folder. A larger one holds an installation, which belongs elsewhere.
const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 64 << 20;

/// The keys of `plugin.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The plugin's id, as pipeline files write it.
    pub(crate) id: String,
    /// Kind of the plugin.
    pub(crate) kind: PluginKind,
    /// The program and its arguments. It is started in the folder of the file.
    pub(crate) command: Vec<String>,
    /// The version of the documents that it speaks.
    pub(crate) contract: u32,
    /// Most megabytes of address space of each of its processes.
    #[serde(default = "default_memory")]
    pub(crate) memory_mb: u64,
}

fn default_memory() -> u64 {
    4096
}

impl Manifest {
    /// Reads and checks a manifest. The reason of an error is the rest of a sentence.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|e| e.to_string().trim().replace('\n', " "))?;
        let mut wrong = Vec::new();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if manifest.id.is_empty() || !manifest.id.chars().all(allowed) {
            wrong.push(format!("`id` consists of lower-case words joined by dashes, not `{}`", manifest.id));
        }
        if manifest.command.first().is_none_or(String::is_empty) {
            wrong.push("`command` is a list of the program and its arguments".to_owned());
        }
        if manifest.memory_mb == 0 {
            wrong.push("`memory_mb` is at least 1".to_owned());
        }
        if wrong.is_empty() { Ok(manifest) } else { Err(wrong.join("; ")) }
    }
}

/// SHA-256 over the names and contents of the folder's files, lower-case hexadecimal. Hidden files and folders and
/// `__pycache__` do not count. The reason of an error is a sentence.
pub(crate) fn folder_hash(folder: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    for file in &files {
        let text = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        bytes += text.len() as u64;
        if bytes > MOST_BYTES {
            return Err(too_large(folder));
        }
        let name = file.strip_prefix(folder).unwrap_or(file);
        hash.update(name.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(&text);
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).map_err(|e| format!("{}: {e}", next.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("{}: {e}", next.display()))?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") || name == "__pycache__" {
                continue;
            }
            let about = entry.file_type().map_err(|e| format!("{}: {e}", entry.path().display()))?;
            // A link is not followed: it may lead out of the folder, or round in a circle.
            if about.is_dir() {
                folders.push(entry.path());
            } else if about.is_file() {
                files.push(entry.path());
            }
            if files.len() > MOST_FILES {
                return Err(too_large(folder));
            }
        }
    }
    Ok(())
}

fn too_large(folder: &Path) -> String {
    format!(
        "{}: a plugin's folder holds at most {MOST_FILES} files and {} MB, hidden ones aside",
        folder.display(),
        MOST_BYTES >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_everything_that_is_wrong() {
        let good = Manifest::read("id='a-b'\nkind='verifier'\ncommand=['x']\ncontract=2").unwrap();
        assert_eq!((good.id.as_str(), good.memory_mb), ("a-b", 4096));
        let wrong =
            Manifest::read("id='A b'\nkind='verifier'\ncommand=[]\ncontract=2\nmemory_mb=0").unwrap_err();
        for key in ["`id`", "`command`", "`memory_mb`"] {
            assert!(wrong.contains(key), "{wrong}");
        }
        assert!(Manifest::read("id='a'\nkind='verifier'\ncommand=['x']\ncontract=2\nfoo=1").is_err());
    }

    #[test]
    fn the_hash_covers_names_and_contents_of_visible_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            folder_hash(folder.path()).unwrap()
        };
        let first = write("plugin.toml", "x");
        let second = write("lib/a.py", "1");
        assert_ne!(first, second);
        assert_eq!(second, write(".venv/bin/python", "2"));
        assert_eq!(second, write("lib/__pycache__/a.pyc", "3"));
        assert_ne!(second, write("lib/a.py", "4"));
    }
}
