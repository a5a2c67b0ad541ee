//! Cells that were run elsewhere, by shards into one folder or into several, gathered in one.

use super::MATRIX;
use super::matrix::{read_stored, store};
use crate::context::Context;
use crate::error::Error;
use crate::files::unwritable;
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::matrix::Matrix;
use planforge_record::RunFolder;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Copies the cells of several folders into one.
pub(super) fn gather(context: &Context, parts: &[PathBuf], into: &Path) -> Result<(), Error> {
    let mut first: Option<(&PathBuf, Matrix)> = None;
    for part in parts {
        let matrix = read_stored(context, part)?;
        match &first {
            Some((_, known)) if by_names(known) == by_names(&matrix) => {}
            Some((other, _)) => {
                let message =
                    format!("{} and {} are parts of different matrices", other.display(), part.display());
                let failure = Failure::new(FailureClass::Request, "evaluate.other", message);
                let help = "suites, pipelines, models, seeds, tasks and overrides of all parts must be the same; their paths may differ";
                return Err(failure.help(help).into());
            }
            None => first = Some((part, matrix)),
        }
    }
    let Some((_, matrix)) = first else { return Ok(()) };
    if into.join(MATRIX).exists() {
        let known = read_stored(context, into)?;
        if by_names(&known) != by_names(&matrix) {
            let message = format!("{} holds another evaluation", into.display());
            let failure = Failure::new(FailureClass::Request, "evaluate.other", message);
            return Err(failure.help("name another folder with --into").into());
        }
    } else {
        store(into, &matrix)?;
    }
    for part in parts.iter().filter(|part| part.as_path() != into) {
        for cell in cells(part).map_err(|error| unwritable(part, &error))? {
            copy_cell(context, part, &cell, into)?;
        }
    }
    Ok(())
}

/// A matrix as its parts on several machines have it, where paths differ.
fn by_names(matrix: &Matrix) -> Matrix {
    let names = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.file_name().map(PathBuf::from).unwrap_or_default()).collect()
    };
    Matrix {
        suites: names(&matrix.suites),
        pipelines: names(&matrix.pipelines),
        add_ons: names(&matrix.add_ons),
        ..matrix.clone()
    }
}

/// The run folders below `cells/SUITE/COLUMN/SEED`, relative to the folder of the evaluation.
pub(super) fn cells(part: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::from("cells")];
    for _ in 0..3 {
        let mut below = Vec::new();
        for folder in found {
            let entries = match fs::read_dir(part.join(&folder)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let mut names: Vec<OsString> = Vec::new();
            for entry in entries {
                let entry = entry?;
                // A name with a dot in front is that of a run folder or a copy that is still being made.
                let is_made = !entry.file_name().as_encoded_bytes().starts_with(b".");
                if is_made && entry.file_type()?.is_dir() {
                    names.push(entry.file_name());
                }
            }
            names.sort();
            below.extend(names.into_iter().map(|name| folder.join(name)));
        }
        found = below;
    }
    found.retain(|cell| part.join(cell).join("run.json").is_file());
    Ok(found)
}

/// Copies a cell. If it exists twice, the finished run is used; two finished runs with different results are
/// an error.
fn copy_cell(context: &Context, part: &Path, cell: &Path, into: &Path) -> Result<(), Error> {
    let (from, to) = (part.join(cell), into.join(cell));
    let io = |error: io::Error| unwritable(&to, &error);
    if to.join("run.json").exists() {
        let (own, known) = (report_of(&from)?, report_of(&to)?);
        match (own, known) {
            (None, None) => {
                let shown = to.display();
                context.warn(format!("{shown} is unfinished twice; the one that came first is kept"));
                return Ok(());
            }
            (None, Some(_)) => return Ok(()),
            (Some(_), None) => {}
            (Some(own), Some(known)) if own == known => return Ok(()),
            (Some(_), Some(_)) => {
                let message = format!("{} and {} came to different results", from.display(), to.display());
                let failure = Failure::new(FailureClass::Request, "evaluate.twice", message);
                let help = "a cell belongs to one part: leave out one of the folders, or remove the run that does not count";
                return Err(failure.help(help).into());
            }
        }
    }
    let folder = to.parent().unwrap_or(into);
    fs::create_dir_all(folder).map_err(io)?;
    // Beside its place first, so that a merge that is killed leaves no half of a cell there.
    let beside = tempfile::Builder::new().prefix(".merge-").tempdir_in(folder).map_err(io)?;
    let made = beside.path().join("cell");
    copy(&from, &made).map_err(io)?;
    if to.exists() {
        fs::rename(&to, beside.path().join("old")).map_err(io)?;
    }
    fs::rename(&made, &to).map_err(io)
}

/// The bytes of a finished cell's report.
fn report_of(cell: &Path) -> Result<Option<Vec<u8>>, Error> {
    let run = RunFolder::open(cell, Arc::default());
    let report = run.and_then(|run| run.report())?;
    Ok(report.map(|saved| saved.bytes))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
