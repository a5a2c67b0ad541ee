//! Reading a suite's files: bounded, UTF-8, and never outside the suite's folder.

use planforge_diagnostics::Diagnostic;
use planforge_pddl::PddlText;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest file of a suite, in bytes.
pub const MAX_SUITE_FILE_BYTES: u64 = 4 << 20;

/// A suite's folder itself; of a folder that is none and holds suites with PDDL, these, in the order of their names.
pub(crate) fn suites_below(path: &Path) -> Vec<PathBuf> {
    let is_suite =
        |path: &Path| ["domain.pddl", "domain.nl", "suite.toml"].iter().any(|file| path.join(file).is_file());
    let inside = || {
        let names = Folder::open(path).and_then(|folder| folder.names()).unwrap_or_default();
        let folders = names.into_iter().map(|name| path.join(name));
        folders.filter(|folder| folder.join("domain.pddl").is_file()).collect::<Vec<_>>()
    };
    match if is_suite(path) { Vec::new() } else { inside() } {
        // Whatever it is, reading it says what is wrong with it.
        none if none.is_empty() => vec![path.to_owned()],
        suites => suites,
    }
}

/// A suite's folder, resolved.
#[derive(Debug)]
pub struct Folder {
    pub(super) path: PathBuf,
    resolved: PathBuf,
}

impl Folder {
    /// Opens it.
    ///
    /// # Errors
    /// `suite.not-a-folder`.
    pub fn open(path: &Path) -> Result<Self, Box<Diagnostic>> {
        let fail = |why: String| {
            Diagnostic::error("suite.not-a-folder", format!("{}: {why}", path.display()))
                .help("a suite is a folder with domain.nl and a .nl file for each task")
        };
        let resolved = path.canonicalize().map_err(|e| fail(format!("cannot be opened: {e}")))?;
        if !resolved.is_dir() {
            return Err(Box::new(fail("is not a folder".to_owned())));
        }
        Ok(Self { path: path.to_owned(), resolved })
    }

    /// Names of the files in the folder, sorted.
    ///
    /// # Errors
    /// `suite.unreadable`.
    pub fn names(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let fail = |e: std::io::Error| {
            Diagnostic::error("suite.unreadable", format!("{}: cannot be listed: {e}", self.path.display()))
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.resolved).map_err(fail)? {
            // A name that is not UTF-8 is no name of a suite's file.
            names.extend(entry.map_err(fail)?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file in the folder; `None` where there is none.
    ///
    /// # Errors
    /// As [`Folder::read`].
    pub fn text(&self, name: &str) -> Result<Option<String>, Box<Diagnostic>> {
        Ok(self.read(name)?.map(|file| file.text))
    }

    /// The text of a file in the folder, with a warning if a comment of a PDDL file is not UTF-8; `None` where there is
    /// none.
    ///
    /// # Errors
    /// `suite.unreadable`, `suite.outside`, `suite.too-large` or `suite.encoding`.
    pub fn read(&self, name: &str) -> Result<Option<PddlText>, Box<Diagnostic>> {
        let shown = self.path.join(name).display().to_string();
        let unreadable = |e: std::io::Error| {
            Diagnostic::error("suite.unreadable", format!("{shown}: cannot be read: {e}"))
        };
        let path = match self.resolved.join(name).canonicalize() {
            Ok(path) => path,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Box::new(unreadable(e))),
        };
        if !path.starts_with(&self.resolved) {
            let outside =
                Diagnostic::error("suite.outside", format!("{shown} lies outside the suite's folder"));
            return Err(Box::new(outside.help("copy the file into the suite's folder")));
        }
        // Looked at before it is opened, for opening a pipe waits until somebody writes to it.
        if !path.metadata().map_err(unreadable)?.is_file() {
            let message = format!("{shown} is not a file");
            return Err(Box::new(Diagnostic::error("suite.unreadable", message)));
        }
        let file = std::fs::File::open(&path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(MAX_SUITE_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_SUITE_FILE_BYTES {
            let message = format!("{shown} is larger than {MAX_SUITE_FILE_BYTES} bytes");
            let too_large = Diagnostic::error("suite.too-large", message);
            let help = "a text that large fits into no model's context; is it the right file?";
            return Err(Box::new(too_large.help(help)));
        }
        let wrong_byte = |bytes: &[u8], at: usize, what: &str, help: &str| {
            let line = bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
            Diagnostic::error("suite.encoding", format!("{shown} {what}: byte {at}, in line {line}"))
                .help(help)
        };
        // Zero bytes are UTF-8, and no text that a person wrote for a model has them.
        if let Some(at) = bytes.iter().position(|b| *b == 0) {
            return Err(Box::new(wrong_byte(
                &bytes,
                at,
                "is not a text, it has a zero byte",
                "is this the right file?",
            )));
        }
        let PddlText { text, warning } = match String::from_utf8(bytes) {
            Ok(text) => PddlText { text, warning: None },
            Err(e) if name.ends_with(".pddl") => {
                let mut read = planforge_pddl::read_pddl_bytes(&shown, e.as_bytes()).map_err(|refused| {
                    Diagnostic::error("suite.encoding", refused.message).help("save the file as UTF-8")
                })?;
                // The text is not among the sources of the suite's diagnostics; the message has the place.
                read.warning.iter_mut().for_each(|warning| warning.labels.clear());
                read
            }
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let wrong = wrong_byte(e.as_bytes(), at, "is not UTF-8", "save the file as UTF-8");
                return Err(Box::new(wrong));
            }
        };
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Some(PddlText { text, warning }))
    }
}
