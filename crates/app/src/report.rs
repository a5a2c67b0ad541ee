//! One self-contained HTML file from runs and evaluations.

use crate::context::Context;
use crate::error::Error;
use crate::files::refuse_part_of_run;
use crate::status::Status;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::render::escape;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

pub use planforge_report::{Contents, TaskPages, Written};

/// Writes the report of runs and evaluations, finished or not. A file that is there is replaced once the new one is whole.
///
/// # Errors
/// A folder that is neither, or a file that cannot be written.
pub fn report(context: &Context, folders: &[PathBuf], out: &Path) -> Result<Written, Error> {
    let folders: Vec<PathBuf> = folders.iter().map(|folder| context.path(folder)).collect();
    let out = &context.path(out);
    refuse_part_of_run(out)?;
    let written = write_report(context, &folders, out).map_err(error)?;
    for warning in &written.warnings {
        context.warn(escape(warning));
    }
    Ok(written)
}

/// Reads what a report of these runs and evaluations shows, for a front that shows one part after the other.
///
/// # Errors
/// A folder that is neither, or a run that cannot be read.
pub fn contents(context: &Context, folders: &[PathBuf]) -> Result<Contents, Error> {
    let folders: Vec<PathBuf> = folders.iter().map(|folder| context.path(folder)).collect();
    let work = context.start_work("runs", Some(0));
    let progress = &mut |done, all| work.set(done as u64, Some(all as u64));
    Contents::read(&folders, progress).map_err(error)
}

/// A number that changes when a run or an evaluation in these folders does: of the lengths and times of its files.
pub fn state(context: &Context, folders: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    folders.iter().for_each(|folder| hash_files(&context.path(folder), 0, &mut hasher));
    hasher.finish()
}

/// Folders of an evaluation down to the journals of its runs.
const MOST_DEPTH: usize = 6;

fn hash_files(folder: &Path, depth: usize, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> =
        entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?))).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, metadata) in entries {
        // Documents are named by the journal, and are written before it.
        let is_document = ["blobs", "spool"].iter().any(|name| path.ends_with(name));
        if metadata.is_dir() && depth < MOST_DEPTH && !is_document {
            hash_files(&path, depth + 1, hasher);
        } else if metadata.is_file() {
            (path, metadata.len(), metadata.modified().ok()).hash(hasher);
        }
    }
}

fn error(failure: Failure) -> Error {
    match failure.class {
        FailureClass::Request => Error::from(failure).with_status(Status::Input),
        _ => Error::from(failure),
    }
}

fn write_report(context: &Context, folders: &[PathBuf], out: &Path) -> Result<Written, Failure> {
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unwritable = |error: &dyn std::fmt::Display| {
        let message = format!("{} cannot be written: {error}", out.display());
        Failure::new(FailureClass::System, "report.io", message)
    };
    let file = tempfile::NamedTempFile::new_in(folder).map_err(|e| unwritable(&e))?;
    let mut writer = BufWriter::new(file);
    let work = context.start_work("runs", Some(0));
    let progress = &mut |done, all| work.set(done as u64, Some(all as u64));
    let written = planforge_report::write(folders, progress, &mut writer)?;
    let file = writer.into_inner().map_err(|e| unwritable(&e))?;
    readable(file.as_file()).map_err(|e| unwritable(&e))?;
    file.persist(out).map_err(|e| unwritable(&e.error))?;
    Ok(written)
}

/// Gives the report the permissions of a normal new file; temporary files are private to their owner.
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}
