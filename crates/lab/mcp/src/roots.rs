//! Files under the roots that the client grants. Nothing else is read.

use crate::codes::file_failure;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use planforge_contract::{Failure, FailureClass};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use url::Url;

/// Folders that the client grants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Roots(Vec<PathBuf>);

impl Roots {
    /// The folders of `file:` URIs. Other URIs grant nothing.
    pub(crate) fn of_uris<'u>(uris: impl IntoIterator<Item = &'u str>) -> Self {
        let folder =
            |uri: &str| Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok();
        Self(uris.into_iter().filter_map(folder).collect())
    }

    /// The granted folders.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.0
    }

    /// Reads a file of at most so many bytes: relative to a root, or with a root before it.
    ///
    /// # Errors
    /// `mcp.file`: no root has the file, or the way to it has `..` or a symbolic link, or it is not a regular file.
    pub(crate) fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Failure> {
        self.read_with_place(path, most).map(|(_, bytes)| bytes)
    }

    /// As [`Roots::read`], with the full path of the file.
    ///
    /// # Errors
    /// As of [`Roots::read`].
    pub(crate) fn read_with_place(&self, path: &str, most: u64) -> Result<(PathBuf, Vec<u8>), Failure> {
        let (fd, place) = self.open(path)?;
        let failed = |error: std::io::Error| file_failure(path, &error.to_string());
        let file = File::from(fd);
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(file_failure(path, "it is not a regular file"));
        }
        if metadata.len() > most {
            let message = format!("{} has {} bytes, and {most} are allowed", place.display(), metadata.len());
            return Err(Failure::new(FailureClass::Limit, "mcp.input-size", message));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        Ok((place, bytes))
    }

    /// The full path of a folder under a root, checked as in [`Roots::read`].
    ///
    /// # Errors
    /// As of [`Roots::read`].
    pub(crate) fn folder(&self, path: &str) -> Result<PathBuf, Failure> {
        let (fd, place) = self.open(path)?;
        match File::from(fd).metadata() {
            Ok(metadata) if metadata.is_dir() => Ok(place),
            Ok(_) => Err(file_failure(path, "it is not a folder")),
            Err(error) => Err(file_failure(path, &error.to_string())),
        }
    }

    /// Opens a file or folder below the first root that has it; returns its full path too.
    pub(crate) fn open(&self, path: &str) -> Result<(OwnedFd, PathBuf), Failure> {
        let asked = Path::new(path);
        if asked.components().any(|part| part == Component::ParentDir) {
            return Err(file_failure(path, "`..` is not allowed"));
        }
        let mut failure = file_failure(path, "no root of the client has it");
        for root in &self.0 {
            let below = if asked.is_absolute() { asked.strip_prefix(root).ok() } else { Some(asked) };
            let Some(below) = below else { continue };
            match open_below(root, below) {
                Ok(fd) => return Ok((fd, root.join(below))),
                Err(Errno::ENOENT) => {}
                Err(Errno::ELOOP | Errno::ENOTDIR) => {
                    failure = file_failure(path, "a part of its path is a symbolic link or not a folder");
                }
                Err(error) => failure = file_failure(path, error.desc()),
            }
        }
        Err(failure)
    }
}

/// A path without `.` and `..`, as text: symbolic links are refused when it is opened.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Opens one component after the other, without following symbolic links: a folder that is replaced by a link in between
/// cannot lead out of the root.
fn open_below(root: &Path, below: &Path) -> Result<OwnedFd, Errno> {
    let folder = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut at = open(root, folder, Mode::empty())?;
    let mut parts = below.components().filter(|part| *part != Component::CurDir).peekable();
    while let Some(part) = parts.next() {
        let flags = match parts.peek() {
            Some(_) => folder | OFlag::O_NOFOLLOW,
            // A FIFO without a writer would block.
            None => OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK,
        };
        at = openat(&at, part.as_os_str(), flags, Mode::empty())?;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_under_a_root_are_read() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("outside"));
        std::fs::create_dir_all(root.join("in")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(root.join("in/file.pddl"), "inside").unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        symlink(&outside, root.join("link")).unwrap();
        symlink(outside.join("secret"), root.join("in/link.pddl")).unwrap();
        nix::unistd::mkfifo(&root.join("fifo"), Mode::S_IRWXU).unwrap();
        let uri = Url::from_directory_path(&root).unwrap();
        let roots = Roots::of_uris([uri.as_str(), "https://example.org/"]);
        assert_eq!(roots.folders().len(), 1);
        let full = root.join("in/file.pddl");
        for path in ["in/file.pddl", "./in/file.pddl", full.to_str().unwrap()] {
            assert_eq!(roots.read(path, 100).unwrap(), b"inside", "{path}");
        }
        let secret = outside.join("secret");
        for path in [
            secret.to_str().unwrap(),
            "../outside/secret",
            "in/../../outside/secret",
            "link/secret",
            "in/link.pddl",
            "in",
            "fifo",
            "missing",
            "",
            "/etc/hostname",
        ] {
            assert_eq!(roots.read(path, 100).unwrap_err().code, "mcp.file", "{path}");
        }
        assert_eq!(roots.read("in/file.pddl", 5).unwrap_err().code, "mcp.input-size");
        assert_eq!(roots.folder("in").unwrap(), root.join("in"));
        assert_eq!(roots.folder("link").unwrap_err().code, "mcp.file");
        assert_eq!(Roots::default().read("in/file.pddl", 100).unwrap_err().code, "mcp.file");
    }
}
