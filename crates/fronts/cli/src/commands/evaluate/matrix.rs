//! The matrix and its suites.

use super::EvaluateArgs;
use super::MATRIX;
use super::columns::ColumnFile;
use crate::context::Context;
use crate::exit::Exit;
use crate::files::{unwritable, write};
use crate::model_choice::{model_table, overrides_of};
use crate::tasks::add_on;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::matrix::{Matrix, MatrixModel, parse_seeds};
use planforge_pipeline::{Suite, Texts, load_suite_with};
use std::path::{Path, PathBuf, absolute};

/// Reads the matrix from the file, from the command line, or from the evaluation that is resumed.
pub(super) fn matrix(context: &Context, args: &EvaluateArgs, out: &Path) -> Result<Matrix, Exit> {
    let stored = out.join(MATRIX);
    let goes_on = args.resume || args.retry_errors;
    // Shards start side by side: the first of them makes the folder.
    if stored.exists() && !goes_on && args.shard.is_none() {
        let message = format!("{} already holds an evaluation", out.display());
        let help = "continue it with --resume, or name another folder with --out";
        return Err(context.usage_error(message, Some(help)));
    }
    let input = |path: &Path| context.read_text(path);
    let models = || args.models.iter().map(|name| model(context, name)).collect::<Result<Vec<_>, _>>();
    let matrix = if let Some(path) = &args.matrix {
        let folder = path.parent().unwrap_or(Path::new(""));
        let file = Matrix::parse(&input(path)?, &path.display().to_string(), folder);
        let matrix = file.map_err(|(found, sources)| {
            context.output.diagnostics(&found, &sources);
            Exit::Input
        })?;
        if args.models.is_empty() { matrix } else { Matrix { models: models()?, ..matrix } }
    } else if args.suite.is_empty() && (goes_on || args.shard.is_some() && stored.exists()) {
        read_stored(context, out)?
    } else {
        let seeds = parse_seeds(args.seeds.as_deref().unwrap_or("42-45"))
            .map_err(|message| context.usage_error(format!("--seeds: {message}"), None))?;
        Matrix {
            suites: args.suite.clone(),
            pipelines: args.pipeline.clone(),
            models: models()?,
            seeds,
            tasks: args.tasks,
            levels: Vec::new(),
            set: args.overrides.clone(),
            add_ons: args.add_on.clone(),
        }
    };
    matrix.check().map_err(|found| {
        context.output.diagnostics(&found, &SourceMap::default());
        Exit::Usage
    })?;
    Ok(matrix)
}

/// A model of `--model`. Its name in tables and folders has `-` for every character that no folder's name should have.
fn model(context: &Context, name: &str) -> Result<MatrixModel, Exit> {
    let set = overrides_of(&model_table(context, name)?);
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    Ok(MatrixModel { name: name.chars().map(safe).collect(), set })
}

/// Reads the matrix of an output folder.
pub(super) fn read_stored(context: &Context, out: &Path) -> Result<Matrix, Exit> {
    context.read_json(&out.join(MATRIX)).map(|matrix: Matrix| matrix.in_folder(out))
}

/// Keeps the matrix in the output folder.
pub(super) fn store(context: &Context, out: &Path, matrix: &Matrix) -> Result<(), Exit> {
    write(context, &out.join(MATRIX), text(context, out, matrix)?.as_bytes())
}

/// Keeps the matrix in a folder that other processes may keep theirs in at the same moment: the first one counts, and all must be the same.
pub(super) fn claim(context: &Context, out: &Path, matrix: &Matrix) -> Result<(), Exit> {
    let path = out.join(MATRIX);
    let text = text(context, out, matrix)?;
    let write = || -> std::io::Result<bool> {
        std::fs::create_dir_all(out)?;
        let mut file = tempfile::NamedTempFile::new_in(out)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    };
    if path.exists() || !write().map_err(|error| unwritable(context, &path, &error))? {
        let stored = read_stored(context, out)?;
        return same(context, &path, &from_anywhere(&stored), &from_anywhere(matrix));
    }
    Ok(())
}

/// Parts of one evaluation have one matrix.
fn same(context: &Context, path: &Path, stored: &Matrix, own: &Matrix) -> Result<(), Exit> {
    let parts = [
        ("the suites", stored.suites != own.suites),
        ("the pipelines", stored.pipelines != own.pipelines),
        ("the models", stored.models != own.models),
        ("the seeds", stored.seeds != own.seeds),
        ("the number of tasks", stored.tasks != own.tasks),
        ("the overrides", stored.set != own.set),
        ("the add-ons", stored.add_ons != own.add_ons),
    ];
    let other: Vec<&str> = parts.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
    if other.is_empty() {
        return Ok(());
    }
    let message = format!("{} is another matrix: {} differ", path.display(), other.join(", "));
    let help = "all shards are parts of one matrix, for a cell's part depends on its place: leave --matrix out to take the one that is \
                there, or name another folder with --out";
    Err(context.print_failure(&Failure::new(FailureClass::Request, "evaluate.other", message).help(help)))
}

fn text(context: &Context, out: &Path, matrix: &Matrix) -> Result<String, Exit> {
    let mut stored = from_anywhere(matrix);
    let folder = absolute(out).map_err(|e| unwritable(context, out, &e))?;
    // Suites inside the folder move with it.
    for suite in &mut stored.suites {
        if let Ok(inside) = suite.strip_prefix(&folder) {
            *suite = inside.to_owned();
        }
    }
    let text = serde_json::to_string_pretty(&stored).map_err(|e| unwritable(context, out, &e))?;
    Ok(text + "\n")
}

/// The matrix with absolute paths: it may be resumed from another working directory.
fn from_anywhere(matrix: &Matrix) -> Matrix {
    let absolute = |path: &PathBuf| absolute(path).unwrap_or_else(|_| path.clone());
    Matrix {
        suites: matrix.suites.iter().map(absolute).collect(),
        pipelines: matrix.pipelines.iter().map(absolute).collect(),
        add_ons: matrix.add_ons.iter().map(absolute).collect(),
        ..matrix.clone()
    }
}

/// Reads the suites and keeps the selected tasks. Texts are required only if a pipeline uses them.
pub(super) fn suites(context: &Context, matrix: &Matrix, columns: &[ColumnFile]) -> Result<Vec<Suite>, Exit> {
    let required = columns.iter().any(|column| column.texts == Texts::Required);
    let texts = if required { Texts::Required } else { Texts::Optional };
    let mut suites: Vec<Suite> = Vec::new();
    let mut good = true;
    for folder in &matrix.suites {
        let loaded = load_suite_with(folder, texts);
        context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
        let Some(mut suite) = loaded.suite else {
            good = false;
            continue;
        };
        if suites.iter().any(|known| known.name == suite.name) {
            let message = format!("two suites have the name `{}`; rows are identified by it", suite.name);
            let twice = Diagnostic::error("evaluate.matrix", message).help("name each suite once");
            context.output.diagnostics(&[twice], &SourceMap::default());
            good = false;
        }
        suite.tasks.truncate(matrix.tasks.unwrap_or(usize::MAX));
        suites.push(suite);
    }
    if !good {
        return Err(Exit::Input);
    }
    add_on(context, &matrix.add_ons, &mut suites)?;
    Ok(suites)
}
