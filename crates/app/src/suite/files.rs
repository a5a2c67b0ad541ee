//! Files for a suite's folder, or for those of several suites: all or none, and none of a person's is overwritten unasked. Texts of a suite and of its
//! tasks, without their reference.

use crate::context::Context;
use crate::error::Error;
use crate::status::Status;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_pipeline::{LoadedSuite, load_suite};
use planforge_record::read_regular;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Files to write into one folder.
pub(crate) struct Files<'a> {
    folder: &'a Path,
    files: Vec<(String, String)>,
    /// A file that may be there with less in it.
    completes: Option<&'static str>,
}

/// The result of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Became {
    /// It is new.
    Written,
    /// It had other bytes.
    Replaced,
    /// It was there with these very bytes.
    Unchanged,
}

/// A file and the result of writing it.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Entry {
    /// Name of the file.
    pub file: String,
    /// The result.
    pub became: Became,
}

impl<'a> Files<'a> {
    pub(crate) fn new(folder: &'a Path, files: Vec<(String, String)>) -> Self {
        Self { folder, files, completes: None }
    }

    /// Lets one file be replaced where its new text holds all of the old one.
    pub(crate) fn completing(self, file: &'static str) -> Self {
        Self { completes: Some(file), ..self }
    }

    /// Writes them all. Where one exists with other content and `force` is off, none is written and all such are named.
    pub(crate) fn write(self, force: bool) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        let mut taken = Vec::new();
        for (file, text) in &self.files {
            let became = match read_regular(&self.folder.join(file), MAX_TEXT_BYTES as u64) {
                // Such a file is not what would be written, and reading it to compare may never end.
                Err(error) if matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidInput) => {
                    taken.push(file.as_str());
                    Became::Replaced
                }
                Err(_) => Became::Written,
                Ok(bytes) if bytes == text.as_bytes() => Became::Unchanged,
                Ok(bytes) => {
                    let old = String::from_utf8_lossy(&bytes);
                    if self.completes != Some(file.as_str()) || !text.contains(old.trim()) {
                        taken.push(file.as_str());
                    }
                    Became::Replaced
                }
            };
            entries.push(Entry { file: file.clone(), became });
        }
        if !taken.is_empty() && !force {
            let message = format!("{} already has {}", self.folder.display(), taken.join(", "));
            let diagnostic = Diagnostic::error("cli.file-exists", message)
                .help("write them elsewhere with --out, or replace them with --force");
            return Err(Error::findings(Status::Input, vec![diagnostic], SourceMap::default()));
        }
        let failed = |path: PathBuf, error: std::io::Error| {
            let message = format!("{} cannot be written: {error}", path.display());
            let diagnostic = Diagnostic::error("cli.unwritable-file", message);
            Error::findings(Status::System, vec![diagnostic], SourceMap::default())
        };
        std::fs::create_dir_all(self.folder).map_err(|e| failed(self.folder.to_owned(), e))?;
        for ((file, text), entry) in self.files.iter().zip(&entries) {
            let path = self.folder.join(file);
            if entry.became != Became::Unchanged {
                let parent = path.parent().unwrap_or(self.folder);
                std::fs::create_dir_all(parent).map_err(|e| failed(parent.to_owned(), e))?;
                std::fs::write(&path, text).map_err(|e| failed(path, e))?;
            }
        }
        Ok(entries)
    }
}

/// `12 written, 3 unchanged`.
pub fn counted(entries: &[Entry]) -> String {
    let count = |became| entries.iter().filter(|e| e.became == became).count();
    let parts = [
        (count(Became::Written), "written"),
        (count(Became::Replaced), "replaced"),
        (count(Became::Unchanged), "unchanged"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    parts.join(", ")
}

/// A suite and its tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteTasks {
    /// The suite's name.
    pub name: String,
    /// One line about it; may be empty.
    pub title: String,
    /// The domain in plain language.
    pub domain_text: String,
    /// True if the suite has a reference domain, `domain.pddl`.
    pub has_reference_domain: bool,
    /// The tasks.
    pub tasks: Vec<SuiteTask>,
}

/// A task of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteTask {
    /// The stem of its files, such as `p03`.
    pub task: String,
    /// One line about it; may be empty.
    pub title: String,
    /// The task in plain language.
    pub text: String,
    /// True if it has a reference problem, `NAME.pddl`.
    pub has_reference_problem: bool,
}

/// Reads a suite's texts.
///
/// # Errors
/// Everything wrong with the suite.
pub fn suite_tasks(context: &Context, folder: &Path) -> Result<SuiteTasks, Error> {
    let LoadedSuite { suite, diagnostics, sources } = load_suite(&context.path(folder));
    let Some(suite) = suite else { return Err(Error::findings(Status::Input, diagnostics, sources)) };
    let tasks = suite.tasks.into_iter().map(|task| SuiteTask {
        task: task.stem,
        title: task.title,
        text: task.text,
        has_reference_problem: task.reference_problem.is_some(),
    });
    Ok(SuiteTasks {
        name: suite.name,
        title: suite.title,
        domain_text: suite.domain_text,
        has_reference_domain: suite.reference_domain.is_some(),
        tasks: tasks.collect(),
    })
}
