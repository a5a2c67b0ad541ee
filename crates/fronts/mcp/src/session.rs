//! What a connection keeps: reports of runs, and the folders of tasks that have no place under a root.

use crate::answers::file_failure;
use crate::folders::temporary_folder;
use crate::resources::Reports;
use planforge_app::contract::Failure;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// The state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Reports of runs.
    pub(crate) reports: Reports,
    /// Folders of tasks.
    pub(crate) tasks: TaskFolders,
}

/// Most folders that are kept.
const MOST_FOLDERS: usize = 20;

/// The newest temporary folders of tasks. Older ones are deleted at once, these at the end of the connection.
#[derive(Debug, Default)]
pub(crate) struct TaskFolders(Mutex<VecDeque<TempDir>>);

impl TaskFolders {
    /// The path of a new task's folder, which is not made yet.
    ///
    /// # Errors
    /// `mcp.file`: the folder above it cannot be made.
    pub(crate) fn add(&self) -> Result<PathBuf, Failure> {
        let folder = temporary_folder()?;
        let task = task_of(&folder);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(folder);
        if kept.len() > MOST_FOLDERS {
            kept.pop_front();
        }
        Ok(task)
    }

    /// True if the path is that of a kept task.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|folder| task_of(folder) == path)
    }
}

fn task_of(folder: &TempDir) -> PathBuf {
    folder.path().join("task")
}

/// Refuses a folder with symbolic links: what is written through one would lie outside of the root.
///
/// # Errors
/// `mcp.file`: a symbolic link, or a folder that cannot be read.
pub(crate) fn refuse_links(folder: &Path) -> Result<(), Failure> {
    let refused = |path: &Path, why: &str| Err(file_failure(&path.display().to_string(), why));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return refused(folder, &error.to_string()),
    };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => refuse_links(&entry.path())?,
            Ok(kind) if kind.is_file() => {}
            _ => return refused(&entry.path(), "it is neither a file nor a folder"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_folders_are_kept_and_known() {
        let tasks = TaskFolders::default();
        let paths: Vec<PathBuf> = (0..21).map(|_| tasks.add().unwrap()).collect();
        assert!(!tasks.has(&paths[0]) && !paths[0].parent().unwrap().exists());
        assert!(paths[1..].iter().all(|path| tasks.has(path)));
        assert!(!tasks.has(Path::new("/etc")));
    }

    #[test]
    fn a_folder_with_a_link_below_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("runs/one")).unwrap();
        assert!(refuse_links(folder.path()).is_ok());
        std::os::unix::fs::symlink("/etc", folder.path().join("runs/one/link")).unwrap();
        let failure = refuse_links(folder.path()).unwrap_err();
        assert!(failure.code == "mcp.file" && failure.message.contains("runs/one/link"), "{failure}");
    }
}
