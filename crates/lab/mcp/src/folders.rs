//! Suites and runs below the roots of a client.

use crate::codes::file_failure;
use planforge_contract::Failure;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Most entries of folders that are looked at in one search.
const MOST_ENTRIES: usize = 20_000;
/// Deepest folder below a root.
const MOST_DEPTH: usize = 5;

/// Folders below a root that have this file, in order of their paths. Hidden folders and symbolic links are left out.
pub(crate) fn folders_with(root: &Path, file: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(root.to_owned(), 0)]);
    let mut entries = 0;
    while let Some((folder, depth)) = open.pop_front() {
        let Ok(listed) = std::fs::read_dir(&folder) else { continue };
        for entry in listed.flatten() {
            entries += 1;
            if entries > MOST_ENTRIES {
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() && depth < MOST_DEPTH && !name.to_string_lossy().starts_with('.') {
                open.push_back((entry.path(), depth + 1));
            } else if kind.is_file() && name == file {
                found.push(folder.clone());
            }
        }
    }
    found.sort();
    found
}

/// Checks that nothing in a folder is a symbolic link, which would lead out of the roots.
///
/// # Errors
/// `mcp.file`: a link, or more entries than are looked at.
pub(crate) fn refuse_links(folder: &Path) -> Result<(), Failure> {
    let mut open = vec![folder.to_owned()];
    let mut entries = 0;
    while let Some(folder) = open.pop() {
        let shown = folder.display().to_string();
        let listed = std::fs::read_dir(&folder).map_err(|error| file_failure(&shown, &error.to_string()))?;
        for entry in listed.flatten() {
            entries += 1;
            let kind = entry.file_type().map_err(|error| file_failure(&shown, &error.to_string()))?;
            if entries > MOST_ENTRIES {
                return Err(file_failure(&shown, &format!("it has more than {MOST_ENTRIES} entries")));
            }
            if kind.is_symlink() {
                return Err(file_failure(&entry.path().display().to_string(), "it is a symbolic link"));
            }
            if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_found_without_following_links() {
        let place = tempfile::tempdir().unwrap();
        let suite = place.path().join("a/suite");
        let hidden = place.path().join(".git/suite");
        for folder in [&suite, &hidden] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("domain.nl"), "text").unwrap();
        }
        std::os::unix::fs::symlink(&suite, place.path().join("link")).unwrap();
        assert_eq!(folders_with(place.path(), "domain.nl"), vec![suite.clone()]);
        assert!(refuse_links(&suite).is_ok());
        assert_eq!(refuse_links(place.path()).unwrap_err().code, "mcp.file");
    }
}
