//! Paths of requests, which stay in the folder that is served.

use crate::error::Refusal;
use http::StatusCode;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Most files and folders of a named folder, links included.
const MAX_ENTRIES: usize = 1_000_000;

/// The folder that is served.
#[derive(Debug)]
pub(crate) struct ServedFolder {
    /// Without links.
    root: PathBuf,
    /// Names that were given to new tasks, whose folders may not exist yet.
    given: Mutex<BTreeSet<String>>,
}

impl ServedFolder {
    /// # Errors
    /// The folder does not exist.
    pub(crate) fn new(folder: &Path) -> std::io::Result<Self> {
        let root = folder.canonicalize()?;
        match root.is_dir() {
            true => Ok(Self { root, given: Mutex::default() }),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A name for the folder of a new task, which does not exist and was given to no other one.
    pub(crate) fn new_name(&self) -> PathBuf {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let mut number = 1_u64;
        loop {
            let name = if number == 1 { "task".to_owned() } else { format!("task-{number}") };
            if self.root.join(&name).symlink_metadata().is_err() && given.insert(name.clone()) {
                return PathBuf::from(name);
            }
            number += 1;
        }
    }

    /// A path relative to the folder, for a request to the application layer. It need not exist. Everything below it is looked at, so this
    /// belongs to a thread that may wait.
    ///
    /// # Errors
    /// 403 `page.path`: it leads out of the folder, also through a link, or a link below it does.
    pub(crate) fn path(&self, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.listed(text)?;
        let place = self.root.join(&path);
        if place.is_dir() {
            self.check_links(&place)?;
        }
        Ok(path)
    }

    /// Refuses a folder with a link that leads out of the served one: a use case that reads or writes in it would follow the link.
    fn check_links(&self, folder: &Path) -> Result<(), Refusal> {
        let unreadable = |place: &Path, error: &std::io::Error| {
            Refusal::missing(format!("{} cannot be opened: {error}", place.display()))
        };
        let mut entries = 0;
        let mut seen = BTreeSet::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            let found = match std::fs::read_dir(&folder) {
                Ok(found) => found,
                // Work of the same folder may remove it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(unreadable(&folder, &error)),
            };
            for entry in found {
                entries += 1;
                if entries > MAX_ENTRIES {
                    let message = format!("{} has more than {MAX_ENTRIES} files", folder.display());
                    return Err(Refusal::request(message));
                }
                let entry = entry.map_err(|error| unreadable(&folder, &error))?;
                let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
                if kind.is_dir() {
                    open.push(entry.path());
                } else if kind.is_symlink() {
                    let link = entry.path();
                    let Ok(target) = std::fs::read_link(&link) else { continue };
                    if !self.holds(folder.join(target)) {
                        let name = link.strip_prefix(&self.root).unwrap_or(&link).display();
                        let message = format!("the link {name} leads out of the folder of the page");
                        return Err(leads_out(&message));
                    }
                    match link.canonicalize() {
                        Ok(place) if place.is_dir() && seen.insert(place.clone()) => open.push(place),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// True if the place, or the last folder on the way to it that exists, is in the folder.
    fn holds(&self, mut place: PathBuf) -> bool {
        loop {
            match place.canonicalize() {
                Ok(place) => return place.starts_with(&self.root),
                // A link that leads nowhere has a place all the same once its target is made.
                Err(_) if place.is_symlink() => return false,
                Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    return false;
                }
                // `..` after a name that does not exist leads back.
                Err(_) if place.ends_with("..") => return false,
                Err(_) => {}
            }
            if !place.pop() {
                return false;
            }
        }
    }

    /// A path relative to the folder, for lists, which follow no link.
    ///
    /// # Errors
    /// 403 `page.path`: it leads out of the folder, also through a link.
    pub(crate) fn listed(&self, text: &str) -> Result<PathBuf, Refusal> {
        let refused = || leads_out("the path leads out of the folder of the page");
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
        if !self.root.is_dir() {
            return Err(Refusal::missing("the folder of the page does not exist any more"));
        }
        if let Err(error) = self.root.join(&plain).symlink_metadata()
            && error.kind() == ErrorKind::NotADirectory
        {
            return Err(Refusal::missing(format!("{text} cannot be opened: {error}")));
        }
        let is_inside = !text.contains('\0') && self.holds(self.root.join(&plain));
        is_inside.then_some(plain).ok_or_else(refused)
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

fn leads_out(message: &str) -> Refusal {
    let help = "name a file or folder below the one that `planforge serve page` was started in";
    Refusal::new(StatusCode::FORBIDDEN, "page.path", message, help)
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
        for path in ["in", "in/new/deep", "./in", "inner/x", full.to_str().unwrap()] {
            assert!(folder.path(path).is_ok(), "{path}");
        }
        assert!(folder.listed("").is_ok() && folder.listed(".").is_ok());
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

    #[test]
    fn a_folder_with_a_link_that_leads_out_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("outside"));
        for folder in ["task/runs/1", "other", "loop"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        let folder = ServedFolder::new(&root).unwrap();
        let status = |path: &str| folder.path(path).map_err(|refusal| refusal.status);
        symlink("../other", root.join("task/inner")).unwrap();
        symlink("../loop", root.join("loop/again")).unwrap();
        assert!(status("task").is_ok() && status("loop").is_ok());
        // Through a link inside the folder.
        symlink(outside.join("secret"), root.join("other/file")).unwrap();
        assert_eq!(status("task"), Err(StatusCode::FORBIDDEN));
        std::fs::remove_file(root.join("other/file")).unwrap();
        symlink(&outside, root.join("task/runs/1/events")).unwrap();
        assert_eq!(status("task"), Err(StatusCode::FORBIDDEN));
        assert_eq!(status("task/runs"), Err(StatusCode::FORBIDDEN));
        assert!(status("other").is_ok() && folder.listed("task").is_ok());
        // The served folder may itself be that of a task.
        assert_eq!(status(""), Err(StatusCode::FORBIDDEN));
        // A link that leads nowhere, such as the lock of an editor, is not followed out.
        symlink("somebody@host.1", root.join("other/.#task.nl")).unwrap();
        assert!(status("other").is_ok());
        symlink(outside.join("new"), root.join("other/new")).unwrap();
        assert_eq!(status("other"), Err(StatusCode::FORBIDDEN));
    }

    #[test]
    fn new_tasks_get_different_names_before_their_folders_exist() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("task-2")).unwrap();
        let folder = ServedFolder::new(place.path()).unwrap();
        let names: Vec<PathBuf> = (0..3).map(|_| folder.new_name()).collect();
        assert_eq!(names, ["task", "task-3", "task-4"].map(PathBuf::from));
    }
}
