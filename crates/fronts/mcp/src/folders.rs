//! Searches and copies below the roots of a client.

use crate::answers::file_failure;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use planforge_app::contract::{Failure, FailureClass};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Most entries of folders that are looked at in one search.
const MOST_ENTRIES: usize = 20_000;
/// Deepest folder below a root.
const MOST_DEPTH: usize = 5;
/// Most bytes of a copy.
const MOST_COPIED_BYTES: u64 = 64 << 20;

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

/// A folder for copies.
///
/// # Errors
/// `mcp.file`: it cannot be made.
pub(crate) fn temporary_folder() -> Result<TempDir, Failure> {
    tempfile::tempdir().map_err(|error| temporary_failure(&error))
}

/// The failure of a temporary folder.
pub(crate) fn temporary_failure(error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::System, "mcp.file", format!("the temporary folder: {error}"))
}

/// Limits on the rest of a copy.
pub(crate) struct CopyLimits {
    entries: usize,
    bytes: u64,
}

impl Default for CopyLimits {
    fn default() -> Self {
        Self { entries: MOST_ENTRIES, bytes: MOST_COPIED_BYTES }
    }
}

/// Copies an opened file or folder. The parts of a folder are opened from it one after the other, so the copy holds nothing from outside
/// of it, also if a part is replaced by a link meanwhile. Hidden parts are left out.
///
/// # Errors
/// `mcp.file`: a link, something other than files and folders, more than a copy may hold, or an error of the system.
pub(crate) fn copy_opened(
    opened: OwnedFd,
    place: &Path,
    to: &Path,
    depth: usize,
    left: &mut CopyLimits,
) -> Result<(), Failure> {
    let refused = |why: &str| file_failure(&place.display().to_string(), why);
    let failed = |error: std::io::Error| refused(&error.to_string());
    let file = File::from(opened);
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_file() {
        let mut copy = File::create(to).map_err(failed)?;
        let copied =
            std::io::copy(&mut file.take(left.bytes.saturating_add(1)), &mut copy).map_err(failed)?;
        let rest = left.bytes.checked_sub(copied);
        left.bytes = rest.ok_or_else(|| refused("it and the files beside it exceed the limit of 64 MB"))?;
        return Ok(());
    }
    if !metadata.is_dir() || depth > MOST_DEPTH {
        return Err(refused("it is neither a file nor a folder, or folders are nested too deeply"));
    }
    std::fs::create_dir_all(to).map_err(failed)?;
    let mut folder = Dir::from_fd(file.into()).map_err(|error| refused(error.desc()))?;
    let names =
        folder.iter().flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let names: Vec<OsString> =
        names.filter(|name| !name.as_bytes().starts_with(b".")).take(left.entries + 1).collect();
    let rest = left.entries.checked_sub(names.len());
    left.entries = rest.ok_or_else(|| refused(&format!("it has more than {MOST_ENTRIES} entries")))?;
    for name in names {
        let below = place.join(&name);
        let opened = open_part(&folder, &name).map_err(|error| {
            let why = if error == Errno::ELOOP { "it is a symbolic link" } else { error.desc() };
            file_failure(&below.display().to_string(), why)
        })?;
        copy_opened(opened, &below, &to.join(&name), depth + 1, left)?;
    }
    Ok(())
}

/// Opens a file or folder in an opened folder, unless it is a symbolic link.
pub(crate) fn open_part(folder: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    // A FIFO without a writer would block.
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    openat(folder, name, flags, Mode::empty())
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
    }
}
