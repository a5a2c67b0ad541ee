//! The matrix, its suites, and suites at levels: the folders that `planforge suite paraphrase --level N` would write.

use super::columns::ColumnFile;
use super::{EvaluateRequest, MATRIX};
use crate::context::Context;
use crate::error::Error;
use crate::files::{read_text, unwritable, write};
use crate::pipelines::model_choice::{model_table, overrides_of};
use crate::pipelines::tasks::add_on;
use crate::status::Status;
use crate::suite::files::Files;
use crate::suite::paraphrase::{BRIEF, TextForm, paraphrased_files};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::matrix::{Matrix, MatrixModel, parse_seeds};
use planforge_pipeline::{Suite, Texts, load_suite, load_suite_with};
use planforge_suites::paraphrase::LAST_SECTION;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf, absolute};

/// Reads the matrix from the file, from the command line, or from the evaluation that is resumed.
pub(super) fn matrix(context: &Context, args: &EvaluateRequest, out: &Path) -> Result<Matrix, Error> {
    let stored = out.join(MATRIX);
    let goes_on = args.resume || args.retry_errors;
    // Shards start side by side: the first of them makes the folder.
    if stored.exists() && !goes_on && args.shard.is_none() {
        let message = format!("{} already holds an evaluation", out.display());
        let help = "continue it with --resume, or name another folder with --out";
        return Err(Error::usage(message, Some(help)));
    }
    let models = || args.models.iter().map(|name| model(context, name)).collect::<Result<Vec<_>, _>>();
    let matrix = if let Some(path) = args.matrix.as_ref().map(|path| context.path(path)) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let file = Matrix::parse(&read_text(&path)?, &path.display().to_string(), folder);
        let matrix = file.map_err(|(found, sources)| Error::findings(Status::Input, found, sources))?;
        if args.models.is_empty() { matrix } else { Matrix { models: models()?, ..matrix } }
    } else if args.suites.is_empty() && (goes_on || args.shard.is_some() && stored.exists()) {
        read_stored(context, out)?
    } else {
        let seeds = parse_seeds(args.seeds.as_deref().unwrap_or("42-45"))
            .map_err(|message| Error::usage(format!("--seeds: {message}"), None))?;
        Matrix {
            suites: args.suites.iter().map(|path| context.path(path)).collect(),
            pipelines: args.pipelines.iter().map(|path| context.path(path)).collect(),
            models: models()?,
            seeds,
            tasks: args.tasks,
            levels: Vec::new(),
            set: args.set.clone(),
            pipeline_set: BTreeMap::new(),
            add_ons: args.add_ons.iter().map(|path| context.path(path)).collect(),
        }
    };
    matrix.check().map_err(|found| Error::findings(Status::Usage, found, SourceMap::default()))?;
    Ok(matrix)
}

/// A model of `--model`. Its name in tables and folders has `-` for every character that no folder's name should have.
fn model(context: &Context, name: &str) -> Result<MatrixModel, Error> {
    let set = overrides_of(&model_table(context, name)?);
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    Ok(MatrixModel { name: name.chars().map(safe).collect(), set, pipelines: Vec::new() })
}

/// Reads the matrix of an output folder.
pub(super) fn read_stored(context: &Context, out: &Path) -> Result<Matrix, Error> {
    context.read_json(&out.join(MATRIX)).map(|matrix: Matrix| matrix.in_folder(out))
}

/// Keeps the matrix in the output folder.
pub(super) fn store(out: &Path, matrix: &Matrix) -> Result<(), Error> {
    write(&out.join(MATRIX), text(out, matrix)?.as_bytes())
}

/// Keeps the matrix in a folder that other processes may keep theirs in at the same moment: the first one counts, and all must be the same.
pub(super) fn claim(context: &Context, out: &Path, matrix: &Matrix) -> Result<(), Error> {
    let path = out.join(MATRIX);
    let text = text(out, matrix)?;
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
    if path.exists() || !write().map_err(|error| unwritable(&path, &error))? {
        let stored = read_stored(context, out)?;
        return same(&path, &from_anywhere(&stored), &from_anywhere(matrix));
    }
    Ok(())
}

/// Parts of one evaluation have one matrix.
fn same(path: &Path, stored: &Matrix, own: &Matrix) -> Result<(), Error> {
    let parts = [
        ("the suites", stored.suites != own.suites),
        ("the pipelines", stored.pipelines != own.pipelines),
        ("the models", stored.models != own.models),
        ("the seeds", stored.seeds != own.seeds),
        ("the number of tasks", stored.tasks != own.tasks),
        ("the overrides", (&stored.set, &stored.pipeline_set) != (&own.set, &own.pipeline_set)),
        ("the add-ons", stored.add_ons != own.add_ons),
    ];
    let other: Vec<&str> = parts.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
    if other.is_empty() {
        return Ok(());
    }
    let message = format!("{} is another matrix: {} differ", path.display(), other.join(", "));
    let help = "all shards are parts of one matrix, for a cell's part depends on its place: leave --matrix out to take the one that is \
                there, or name another folder with --out";
    Err(Failure::new(FailureClass::Request, "evaluate.other", message).help(help).into())
}

fn text(out: &Path, matrix: &Matrix) -> Result<String, Error> {
    let mut stored = from_anywhere(matrix);
    let folder = absolute(out).map_err(|e| unwritable(out, &e))?;
    // Suites inside the folder move with it.
    for suite in &mut stored.suites {
        if let Ok(inside) = suite.strip_prefix(&folder) {
            *suite = inside.to_owned();
        }
    }
    let text = serde_json::to_string_pretty(&stored).map_err(|e| unwritable(out, &e))?;
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
pub(super) fn suites(
    context: &Context,
    matrix: &Matrix,
    columns: &[ColumnFile],
) -> Result<Vec<Suite>, Error> {
    let required = columns.iter().any(|column| column.texts == Texts::Required);
    let texts = if required { Texts::Required } else { Texts::Optional };
    let mut suites: Vec<Suite> = Vec::new();
    let mut wrong = Vec::new();
    for folder in &matrix.suites {
        let loaded = load_suite_with(folder, texts);
        let Some(mut suite) = loaded.suite else {
            wrong.push(Error::findings(Status::Input, loaded.diagnostics, loaded.sources));
            continue;
        };
        context.findings(&loaded.diagnostics, &loaded.sources);
        if suites.iter().any(|known| known.name == suite.name) {
            let message = format!("two suites have the name `{}`; rows are identified by it", suite.name);
            let twice = Diagnostic::error("evaluate.matrix", message).help("name each suite once");
            wrong.push(Error::findings(Status::Input, vec![twice], SourceMap::default()));
        }
        suite.tasks.truncate(matrix.tasks.unwrap_or(usize::MAX));
        suites.push(suite);
    }
    if let Some(error) = Error::join(wrong) {
        return Err(error);
    }
    add_on(context, &matrix.add_ons, &mut suites)?;
    Ok(suites)
}

/// The seed of the texts.
const SEED: u64 = 1;

/// Replaces the levels of a matrix by suites at these levels, in `suites/NAME-LN` of the output folder. A folder with all tasks is left as it is;
/// texts are proven before a new one is there. What is not there for a dry run is written into `scratch`.
pub(super) fn with_level_suites(
    context: &Context,
    matrix: Matrix,
    out: &Path,
    scratch: Option<&Path>,
) -> Result<Matrix, Error> {
    if matrix.levels.iter().all(|level| *level == 1) {
        return Ok(Matrix { levels: Vec::new(), ..matrix });
    }
    let mut read = Vec::new();
    for folder in &matrix.suites {
        let loaded = load_suite(folder);
        let Some(mut suite) = loaded.suite else {
            return Err(Error::findings(Status::Input, loaded.diagnostics, loaded.sources));
        };
        context.findings(&loaded.diagnostics, &loaded.sources);
        suite.tasks.truncate(matrix.tasks.unwrap_or(usize::MAX));
        read.push((folder, suite));
    }
    let missing: Vec<String> = read
        .iter()
        .flat_map(|(_, suite)| matrix.levels.iter().map(move |level| (suite, *level)))
        .filter(|(suite, level)| !has_texts(suite, *level))
        .map(|(suite, level)| format!("`{}` at level {level}", suite.name))
        .collect();
    if !missing.is_empty() {
        let message = format!("`levels`: there are no templates for {}", missing.join(", "));
        let help = "leave the suite or the level out, or write `%% level N` sections in wordings.jinja and, for level 4, domain_brief.nl";
        let diagnostic = Diagnostic::error("evaluate.matrix", message).help(help);
        return Err(Error::findings(Status::Input, vec![diagnostic], SourceMap::default()));
    }
    let mut suites: Vec<PathBuf> = Vec::new();
    for (folder, suite) in &read {
        for &level in &matrix.levels {
            suites.push(match level {
                1 => (*folder).clone(),
                _ => level_folder(context, suite, level, out, scratch)?,
            });
        }
    }
    Ok(Matrix { suites, levels: Vec::new(), ..matrix })
}

/// True if the suite has templates for texts of a level.
fn has_texts(suite: &Suite, level: u8) -> bool {
    let heading = format!("%% level {}", level.min(LAST_SECTION));
    let has_section =
        || suite.wordings.as_ref().is_some_and(|w| w.lines().any(|line| line.trim() == heading));
    let has_brief = || level <= LAST_SECTION || suite.folder.join(BRIEF).is_file();
    level == 1 || has_section() && has_brief()
}

fn level_folder(
    context: &Context,
    suite: &Suite,
    level: u8,
    out: &Path,
    scratch: Option<&Path>,
) -> Result<PathBuf, Error> {
    let name = format!("{}-L{level}", suite.name);
    let kept = out.join("suites").join(&name);
    let has = |stem: &str| kept.join(format!("{stem}-L{level}.nl")).is_file();
    if suite.tasks.iter().all(|task| has(&task.stem)) {
        return Ok(kept);
    }
    let (_, files) = paraphrased_files(context, suite, TextForm::Level(level), SEED)?;
    let files = |folder: &Path| Files::new(folder, files).write(false);
    if let Some(scratch) = scratch {
        let folder = scratch.join(&name);
        files(&folder)?;
        return Ok(folder);
    }
    // The matrix has more tasks than when the folder was written: the files that are there stay.
    if kept.exists() {
        files(&kept)?;
        return Ok(kept);
    }
    let parent = out.join("suites");
    let failed = |error: std::io::Error| unwritable(&kept, &error);
    std::fs::create_dir_all(&parent).map_err(failed)?;
    let beside = tempfile::Builder::new().prefix(".level-").tempdir_in(&parent).map_err(failed)?;
    let made = beside.path().join(&name);
    files(&made)?;
    match std::fs::rename(&made, &kept) {
        // Another shard wrote the same files.
        Err(_) if kept.exists() => Ok(kept),
        Err(error) => Err(failed(error)),
        Ok(()) => Ok(kept),
    }
}
