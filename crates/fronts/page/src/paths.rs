//! Paths of requests, which stay in the folder that is served.

use crate::error::Refusal;
use http::StatusCode;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The folder that is served.
#[derive(Debug, Clone)]
pub(crate) struct ServedFolder {
    /// Without links.
    root: PathBuf,
}

impl ServedFolder {
    /// # Errors
    /// The folder does not exist.
    pub(crate) fn new(folder: &Path) -> std::io::Result<Self> {
        let root = folder.canonicalize()?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path relative to the folder, for a request to the application layer. It need not exist.
    ///
    /// # Errors
    /// 403 `page.path`: it leads out of the folder, also through a link.
    pub(crate) fn path(&self, text: &str) -> Result<PathBuf, Refusal> {
        let refused = || {
            let message = "the path leads out of the folder of the page";
            let help = "name a file or folder below the one that `planforge serve page` was started in";
            Refusal::new(StatusCode::FORBIDDEN, "page.path", message, help)
        };
        let given = Path::new(text);
        let given =
            if given.is_absolute() { given.strip_prefix(&self.root).map_err(|_| refused())? } else { given };
        let mut plain = PathBuf::new();
        for part in given.components() {
            match part {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(refused()),
            }
        }
        if text.contains('\0') {
            return Err(refused());
        }
        let mut existing = self.root.join(&plain);
        loop {
            match existing.canonicalize() {
                Ok(place) if place.starts_with(&self.root) => return Ok(plain),
                Ok(_) => return Err(refused()),
                // A link that leads nowhere has a place all the same once its target is made.
                Err(_) if existing.is_symlink() => return Err(refused()),
                Err(error) if error.kind() == ErrorKind::NotFound && existing != self.root => {
                    existing.pop();
                }
                Err(error) => {
                    let message = format!("{text} cannot be opened: {error}");
                    return Err(Refusal::missing(message));
                }
            }
        }
    }

    /// A folder or file that exists, relative to the served folder.
    ///
    /// # Errors
    /// As of [`ServedFolder::path`]; 404 if it does not exist.
    pub(crate) fn existing(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.path(text)?;
        match self.root.join(&path).exists() {
            true => Ok(path),
            false => Err(Refusal::missing(format!("there is no `{text}` in the folder of the page"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_stays_in_the_folder_also_through_links() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("outside"));
        std::fs::create_dir_all(root.join("in")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        symlink(&outside, root.join("link")).unwrap();
        symlink(outside.join("new"), root.join("dangling")).unwrap();
        symlink(root.join("in"), root.join("inner")).unwrap();
        let folder = ServedFolder::new(&root).unwrap();
        let full = folder.root().join("in/file");
        for path in ["in", "in/new/deep", "./in", "inner/x", "", ".", full.to_str().unwrap()] {
            assert!(folder.path(path).is_ok(), "{path}");
        }
        for path in [
            "../outside/secret",
            "in/../../outside",
            "link/secret",
            "link",
            "link/new",
            "dangling",
            "/etc/hostname",
            "in/\0",
        ] {
            let status = folder.path(path).map_err(|refusal| refusal.status);
            assert_eq!(status, Err(StatusCode::FORBIDDEN), "{path}");
        }
        assert_eq!(folder.existing("in/new").unwrap_err().status, StatusCode::NOT_FOUND);
    }
}
