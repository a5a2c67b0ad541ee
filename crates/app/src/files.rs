//! Reading and writing of files, each complete or not at all.

use crate::error::Error;
use crate::status::Status;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::{read_argument, read_regular};
use serde::de::DeserializeOwned;
use std::fs::Permissions;
use std::path::Path;

/// Reads a text file that an argument of the command names.
///
/// # Errors
/// Missing, a device, too large, binary, not UTF-8, empty.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    text_of(path).map_err(|diagnostic| unreadable(path, *diagnostic))
}

/// The error of a file that cannot be read.
pub(crate) fn unreadable(path: &Path, diagnostic: Diagnostic) -> Error {
    let sources = SourceMap::single(path.display().to_string(), "");
    Error::findings(Status::Input, vec![diagnostic], sources)
}

/// Parses a JSON document that an earlier command wrote.
///
/// # Errors
/// `record.corrupt`.
pub(crate) fn parse_json<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|e| {
        let message = format!("{}: {e}", path.display());
        Failure::new(FailureClass::System, "record.corrupt", message).into()
    })
}

/// As [`read_text`], with the reason as a diagnostic.
///
/// # Errors
/// As of [`read_text`].
pub(crate) fn text_of(path: &Path) -> Result<String, Box<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = read_file(&name, path)?;
    planforge_pddl::read_bytes(&name, &bytes).map_err(|diagnostic| refused(&name, diagnostic))
}

/// The bytes of a file of at most the size that is read, which an argument of the command names. Messages have `name`.
pub(crate) fn read_file(name: &str, path: &Path) -> Result<Vec<u8>, Box<Diagnostic>> {
    checked(name, read_argument(path, MAX_TEXT_BYTES as u64))
}

/// As [`read_text`], for a file that another file names, which may come from somebody else. No stream is read.
///
/// # Errors
/// As of [`read_text`].
pub(crate) fn read_named_text(path: &Path) -> Result<String, Error> {
    let name = path.display().to_string();
    let bytes = checked(&name, read_regular(path, MAX_TEXT_BYTES as u64));
    let text = bytes.and_then(|bytes| {
        planforge_pddl::read_bytes(&name, &bytes).map_err(|diagnostic| refused(&name, diagnostic))
    });
    text.map_err(|diagnostic| unreadable(path, *diagnostic))
}

fn checked(name: &str, read: std::io::Result<Vec<u8>>) -> Result<Vec<u8>, Box<Diagnostic>> {
    read.map_err(|error| {
        Box::new(match error.kind() {
            std::io::ErrorKind::FileTooLarge => {
                Diagnostic::error("pddl.too-large", format!("{name} is too large: {error}"))
                    .help("is this the right file?")
            }
            _ => Diagnostic::error("cli.unreadable-file", format!("{name} cannot be read: {error}"))
                .help("check the path and its permissions"),
        })
    })
}

/// The diagnostic of a refused file. The PDDL reader's help for empty files does not fit plans and pipelines.
pub(crate) fn refused(name: &str, mut diagnostic: Diagnostic) -> Box<Diagnostic> {
    if diagnostic.code == "pddl.empty" {
        diagnostic.message = format!("{name} is empty");
        diagnostic.help = vec!["is this the right file?".to_owned()];
    }
    Box::new(diagnostic)
}

/// Writes a temporary file, then renames it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_with(path, bytes, None)
}

/// As [`write()`], for a file that exists: it keeps its permissions, and a link to it stays one.
pub(crate) fn rewrite(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |e| unwritable(path, &e);
    let target = path.canonicalize().map_err(failed)?;
    let permissions = std::fs::metadata(&target).map_err(failed)?.permissions();
    write_with(&target, bytes, Some(permissions))
}

fn write_with(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> Result<(), Error> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, bytes)?;
        // Its name may reach the disk before its bytes otherwise, and a machine that loses power would leave an empty file.
        file.as_file().sync_data()?;
        permissions.map(|permissions| file.as_file().set_permissions(permissions)).transpose()?;
        file.persist(path).map(drop).map_err(|e| e.error)
    };
    write().map_err(|e| unwritable(path, &e))
}

/// Refuses a target that is one of a run folder's own files: writing there would destroy the record.
pub(crate) fn refuse_part_of_run(path: &Path) -> Result<(), Failure> {
    let Some(run) = planforge_record::run_that_owns(path) else { return Ok(()) };
    let message = format!(
        "`{}` belongs to the record of the run `{}`; nothing was written",
        path.display(),
        run.display()
    );
    Err(Failure::new(FailureClass::Request, "record.own-file", message)
        .help("write to a place outside the run folder"))
}

/// The error of a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let message = format!("{} cannot be written: {error}", path.display());
    Failure::new(FailureClass::System, "record.io", message).into()
}
