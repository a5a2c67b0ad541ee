//! Files and suites under the roots that the client grants. Nothing else is read.

use crate::answers::{file_failure, wrong_arguments};
use crate::folders::{CopyLimits, copy_opened, open_part, temporary_folder};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use planforge_app::contract::{Failure, FailureClass, ReportedSeverity};
use planforge_app::suite::{SuiteTask, SuiteTasks, suite_tasks};
use planforge_app::{Context, Error};
use schemars::JsonSchema;
use serde::Serialize;
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

    /// Copies a file or a folder that is found and opened as in [`Roots::read`]. Libraries that open files by their paths read the copy,
    /// which no other process changes.
    ///
    /// # Errors
    /// As of [`Roots::read`].
    pub(crate) fn copy(&self, path: &str, to: &Path) -> Result<(), Failure> {
        let (fd, place) = self.open(path)?;
        copy_opened(fd, &place, to, 0, &mut CopyLimits::default())
    }

    /// Copies a file as [`Roots::copy`] does, and the file `beside` of the same folder under the same root, if it is there. Both copies are in
    /// the folder `to` and have the names of the files.
    ///
    /// # Errors
    /// As of [`Roots::read`], except for a missing file `beside`.
    pub(crate) fn copy_with(&self, path: &str, beside: &str, to: &Path) -> Result<(), Failure> {
        let (fd, root, below) = self.find(path)?;
        let name = below.file_name().ok_or_else(|| file_failure(path, "it is not a regular file"))?;
        copy_opened(fd, &root.join(&below), &to.join(name), 0, &mut CopyLimits::default())?;
        let second = below.with_file_name(beside);
        match open_below(root, &second) {
            Ok(fd) => copy_opened(fd, &root.join(&second), &to.join(beside), 0, &mut CopyLimits::default()),
            Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(unopened(&second.display().to_string(), error)),
        }
    }

    /// The full path of a folder that is under a root, or that may be made in a folder under one.
    ///
    /// # Errors
    /// As of [`Roots::read`].
    pub(crate) fn place(&self, path: &str) -> Result<PathBuf, Failure> {
        let missing = match self.open(path) {
            Ok((_, place)) => return Ok(place),
            Err(failure) => failure,
        };
        let asked = Path::new(path);
        let (Some(name), Some(above)) = (asked.file_name(), asked.parent().and_then(Path::to_str)) else {
            return Err(missing);
        };
        let place = self.open(above)?.1.join(name);
        // A link is there, and is not opened.
        if place.symlink_metadata().is_ok() { Err(missing) } else { Ok(place) }
    }

    /// Opens a file or folder below the first root that has it; returns its full path too.
    pub(crate) fn open(&self, path: &str) -> Result<(OwnedFd, PathBuf), Failure> {
        self.find(path).map(|(fd, root, below)| (fd, root.join(below)))
    }

    /// As [`Roots::open`], with the root and the path below it.
    fn find(&self, path: &str) -> Result<(OwnedFd, &Path, PathBuf), Failure> {
        let asked = Path::new(path);
        if asked.components().any(|part| part == Component::ParentDir) {
            return Err(file_failure(path, "`..` is not allowed"));
        }
        let mut failure = None;
        for root in &self.0 {
            let below = if asked.is_absolute() { asked.strip_prefix(root).ok() } else { Some(asked) };
            let Some(below) = below else { continue };
            match open_below(root, below) {
                Ok(fd) => return Ok((fd, root.as_path(), below.to_owned())),
                Err(Errno::ENOENT) => {}
                Err(error) => failure = Some(unopened(path, error)),
            }
        }
        Err(failure.unwrap_or_else(|| file_failure(path, "no root of the client has it")))
    }
}

/// The failure of a file that is there and cannot be opened.
fn unopened(path: &str, error: Errno) -> Failure {
    match error {
        Errno::ELOOP | Errno::ENOTDIR => {
            file_failure(path, "a part of its path is a symbolic link or not a folder")
        }
        error => file_failure(path, error.desc()),
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
        at = match parts.peek() {
            Some(_) => openat(&at, part.as_os_str(), folder | OFlag::O_NOFOLLOW, Mode::empty())?,
            None => open_part(&at, part.as_os_str())?,
        };
    }
    Ok(at)
}

/// A suite and its tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SuiteAnswer {
    /// The suite's name.
    name: String,
    /// One line about it; may be empty.
    title: String,
    /// The suite's folder.
    folder: String,
    /// The domain in plain language.
    domain_text: String,
    /// True if the suite has a reference domain, `domain.pddl`.
    has_reference_domain: bool,
    /// The tasks.
    tasks: Vec<TaskAnswer>,
}

/// A task of a suite.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskAnswer {
    /// The stem of its files, such as `p03`.
    task: String,
    /// One line about it; may be empty.
    title: String,
    /// The task in plain language.
    text: String,
    /// True if it has a reference problem, `NAME.pddl`.
    has_reference_problem: bool,
}

/// The texts of a suite under a root.
///
/// # Errors
/// As of [`copy_suite`].
pub(crate) fn suite_answer(context: &Context, roots: &Roots, path: &str) -> Result<SuiteAnswer, Failure> {
    let copies = temporary_folder()?;
    let copied = copy_suite(context, roots, path, copies.path())?;
    let SuiteTasks { name, title, domain_text, has_reference_domain, tasks } = copied.texts;
    let task = |task: SuiteTask| TaskAnswer {
        task: task.task,
        title: task.title,
        text: task.text,
        has_reference_problem: task.has_reference_problem,
    };
    let tasks = tasks.into_iter().map(task).collect();
    Ok(SuiteAnswer {
        name,
        title,
        folder: copied.place.display().to_string(),
        domain_text,
        has_reference_domain,
        tasks,
    })
}

/// A copy of a suite.
pub(crate) struct CopiedSuite {
    /// The folder under the root.
    place: PathBuf,
    /// The folder of the copy.
    pub(crate) copy: PathBuf,
    texts: SuiteTasks,
}

/// Copies a suite under a root into a folder and reads the copy.
///
/// # Errors
/// `mcp.file`: it is not under a root, or has a symbolic link. `mcp.arguments`: everything that is wrong with it.
pub(crate) fn copy_suite(
    context: &Context,
    roots: &Roots,
    path: &str,
    to: &Path,
) -> Result<CopiedSuite, Failure> {
    // A suite without a manifest has its folder's name.
    let place = roots.open(path)?.1;
    let copy = to.join(place.file_name().unwrap_or("suite".as_ref()));
    roots.copy(path, &copy)?;
    let wrong = |error: Error| {
        let mut errors = error.diagnostics();
        errors.retain(|found| found.severity == ReportedSeverity::Error);
        let errors: Vec<&str> = errors.iter().map(|found| found.message.as_str()).collect();
        let errors = errors.join("; ").replace(&copy.display().to_string(), &place.display().to_string());
        wrong_arguments(format!("the suite cannot be used: {errors}"))
    };
    let texts = suite_tasks(context, &copy).map_err(wrong)?;
    Ok(CopiedSuite { place, copy, texts })
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
        let copy = place.path().join("copy");
        assert_eq!(roots.copy("link", &copy).unwrap_err().code, "mcp.file");
        assert_eq!(Roots::default().read("in/file.pddl", 100).unwrap_err().code, "mcp.file");
    }

    fn roots(folder: &Path) -> Roots {
        Roots::of_uris([url::Url::from_directory_path(folder).unwrap().as_str()])
    }

    #[test]
    fn a_folder_is_copied_without_hidden_files_and_with_a_link_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let (root, copy) = (place.path().join("root"), place.path().join("copy"));
        std::fs::create_dir_all(root.join("suite/in")).unwrap();
        for file in ["domain.nl", "in/p01.nl", ".hidden"] {
            std::fs::write(root.join("suite").join(file), file).unwrap();
        }
        roots(&root).copy("suite", &copy).unwrap();
        assert_eq!(std::fs::read_to_string(copy.join("in/p01.nl")).unwrap(), "in/p01.nl");
        assert!(copy.join("domain.nl").exists() && !copy.join(".hidden").exists());
        symlink("p01.nl", root.join("suite/in/p02.nl")).unwrap();
        let failure = roots(&root).copy("suite", &place.path().join("second")).unwrap_err();
        assert!(failure.code == "mcp.file" && failure.message.contains("in/p02.nl"), "{failure}");
        let deep = root.join("deep").join(["in"; 6].join("/"));
        std::fs::create_dir_all(deep).unwrap();
        assert_eq!(roots(&root).copy("deep", &place.path().join("third")).unwrap_err().code, "mcp.file");
    }

    #[test]
    fn a_file_beside_another_one_comes_from_the_same_root() {
        let place = tempfile::tempdir().unwrap();
        let (first, second) = (place.path().join("first"), place.path().join("second"));
        std::fs::create_dir_all(second.join("ev")).unwrap();
        std::fs::create_dir_all(&first).unwrap();
        std::fs::write(first.join("ev"), "a file").unwrap();
        std::fs::write(second.join("ev/a.json"), "{}").unwrap();
        let uris = [&first, &second].map(|root| Url::from_directory_path(root).unwrap());
        let roots = Roots::of_uris(uris.iter().map(Url::as_str));
        let copied = |to: &str| {
            let to = place.path().join(to);
            std::fs::create_dir(&to).unwrap();
            roots.copy_with("ev/a.json", "SUMS", &to).map(|()| std::fs::read_to_string(to.join("SUMS")).ok())
        };
        // The first root has no such folder, and the second one no sums.
        assert_eq!(copied("one").unwrap(), None);
        std::fs::write(second.join("ev/SUMS"), "second").unwrap();
        assert_eq!(copied("two").unwrap().unwrap(), "second");
        std::fs::remove_file(first.join("ev")).unwrap();
        std::fs::create_dir(first.join("ev")).unwrap();
        std::fs::write(first.join("ev/SUMS"), "first").unwrap();
        assert_eq!(copied("three").unwrap().unwrap(), "second");
        std::fs::remove_file(second.join("ev/SUMS")).unwrap();
        assert_eq!(copied("four").unwrap(), None);
        symlink(first.join("ev/SUMS"), second.join("ev/SUMS")).unwrap();
        assert_eq!(copied("five").unwrap_err().code, "mcp.file");
    }

    #[test]
    fn a_folder_that_is_replaced_by_a_link_meanwhile_leads_nowhere() {
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("outside"));
        let (inside, away) = (root.join("suite/in"), root.join("away"));
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(inside.join("file"), "inside").unwrap();
        std::fs::write(outside.join("file"), "secret").unwrap();
        let roots = roots(&root);
        let copied = |n: usize| {
            let copy = place.path().join(format!("copy{n}"));
            let read = || std::fs::read_to_string(copy.join("in/file")).ok();
            roots.copy("suite", &copy).map_err(|failure| failure.code).map(|()| read())
        };
        std::thread::scope(|scope| {
            let swaps = scope.spawn(|| {
                for _ in 0..500 {
                    std::fs::rename(&inside, &away).unwrap();
                    symlink(&outside, &inside).unwrap();
                    std::fs::remove_file(&inside).unwrap();
                    std::fs::rename(&away, &inside).unwrap();
                }
            });
            for n in (0..).take_while(|_| !swaps.is_finished()) {
                let seen = copied(n);
                let expected = [Ok(Some("inside".to_owned())), Ok(None), Err("mcp.file".into())];
                assert!(expected.contains(&seen), "{seen:?}");
            }
        });
        assert_eq!(copied(usize::MAX), Ok(Some("inside".to_owned())));
    }
}
