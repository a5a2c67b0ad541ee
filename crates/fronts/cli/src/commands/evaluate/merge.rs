//! `planforge evaluate merge`: the tables of cells that were run elsewhere, by shards into one folder or into several.

use super::ExitArgs;
use super::TableArgs;
use super::columns::columns;
use super::ending::{list_unfinished, print_failures};
use super::matrix::{read_stored, store, suites};
use super::work::EvaluationSetup;
use super::{MATRIX, write_results};
use crate::context::Context;
use crate::exit::Exit;
use crate::files::unwritable;
use crate::pipeline::PluginsAndPrices;
use clap::Args;
use planforge_contract::{Failure, FailureClass};
use planforge_evaluate::matrix::{Matrix, Selection};
use planforge_record::RunFolder;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Make the tables of an evaluation whose cells were run elsewhere.
///
/// The cells were run by shards into one shared folder, or into several folders. Runs nothing and sends no
/// request. Every cell of the matrix is in the tables; missing and unfinished ones are shown as not run and
/// listed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge evaluate merge shared
  planforge evaluate merge shared --layout accuracy --markdown --junit tasks.xml
  planforge evaluate merge part-1 part-2 --into whole

Exits as `planforge evaluate` does, and with 29 where a cell is missing or unfinished.")]
pub(crate) struct MergeArgs {
    /// Folders that `planforge evaluate --out` made: one that all shards wrote to, or several parts of one evaluation with --into.
    #[arg(required = true, value_name = "OUT")]
    pub(crate) out: Vec<PathBuf>,
    /// Folder for the copied cells of several folders, and for the tables.
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tables: TableArgs,
    #[command(flatten)]
    pub(crate) ending: ExitArgs,
}

pub(crate) fn run(context: &Context, args: &MergeArgs) -> Exit {
    match merge_folders(context, args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn merge_folders(context: &Context, args: &MergeArgs) -> Result<Exit, Exit> {
    let out = match (args.out.as_slice(), &args.into) {
        ([out], None) => out,
        (_, None) => {
            let help = "name it with --into DIR";
            return Err(context.usage_error("several folders are merged into another one", Some(help)));
        }
        (parts, Some(into)) => {
            gather(context, parts, into)?;
            into
        }
    };
    let matrix = read_stored(context, out)?;
    let plugins = PluginsAndPrices::new(context)?;
    let columns = columns(context, &args.tables, &matrix, &plugins)?;
    let suites = suites(context, &matrix, &columns)?;
    let work = EvaluationSetup {
        context,
        out,
        matrix: &matrix,
        plugins: &plugins,
        suites: &suites,
        columns: &columns,
        selection: Selection::default(),
        running: None,
        fail_on: args.ending.fail_on,
    };
    let outcomes = work.outcomes(&work.plan());
    let cells = outcomes.cells.iter().map(|outcome| outcome.result.clone()).collect();
    write_results(context, out, (&args.tables, &args.ending), (&matrix, &columns, &suites), (cells, None))?;
    print_failures(context, out, &outcomes);
    list_unfinished(context, outcomes.unfinished_cells(), outcomes.cells.len());
    let incomplete = outcomes.unfinished_cells().next().map(|_| Exit::Interrupted);
    Ok(outcomes.stopped.or(incomplete).unwrap_or_else(|| outcomes.exit()))
}

/// Copies the cells of several folders into one.
fn gather(context: &Context, parts: &[PathBuf], into: &Path) -> Result<(), Exit> {
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
                return Err(context.print_failure(&failure.help(help)));
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
            return Err(context.print_failure(&failure.help("name another folder with --into")));
        }
    } else {
        store(context, into, &matrix)?;
    }
    for part in parts.iter().filter(|part| part.as_path() != into) {
        for cell in cells(part).map_err(|error| unwritable(context, part, &error))? {
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
fn cells(part: &Path) -> io::Result<Vec<PathBuf>> {
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
fn copy_cell(context: &Context, part: &Path, cell: &Path, into: &Path) -> Result<(), Exit> {
    let (from, to) = (part.join(cell), into.join(cell));
    let io = |error: io::Error| unwritable(context, &to, &error);
    if to.join("run.json").exists() {
        let (own, known) = (report_of(context, &from)?, report_of(context, &to)?);
        match (own, known) {
            (None, None) => {
                let shown = to.display();
                context
                    .output
                    .note(&format!("warning: {shown} is unfinished twice; the one that came first is kept"));
                return Ok(());
            }
            (None, Some(_)) => return Ok(()),
            (Some(_), None) => {}
            (Some(own), Some(known)) if own == known => return Ok(()),
            (Some(_), Some(_)) => {
                let message = format!("{} and {} came to different results", from.display(), to.display());
                let failure = Failure::new(FailureClass::Request, "evaluate.twice", message);
                let help = "a cell belongs to one part: leave out one of the folders, or remove the run that does not count";
                return Err(context.print_failure(&failure.help(help)));
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
fn report_of(context: &Context, cell: &Path) -> Result<Option<Vec<u8>>, Exit> {
    let run = RunFolder::open(cell, Arc::default());
    let report = run.and_then(|run| run.report()).map_err(|e| context.print_failure(&Failure::from(e)))?;
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
