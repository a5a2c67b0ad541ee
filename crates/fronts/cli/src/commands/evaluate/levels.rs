//! Suites of a matrix at its levels: the folders that `planforge suite paraphrase --level N` would write.

use crate::commands::suite::files::Files;
use crate::commands::suite::paraphrase::{BRIEF, TextForm, paraphrased_files};
use crate::context::Context;
use crate::exit::Exit;
use crate::files::unwritable;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::matrix::Matrix;
use planforge_pipeline::{Suite, load_suite};
use planforge_suites::paraphrase::level::LAST_SECTION;
use std::path::{Path, PathBuf};

/// The seed of the texts.
const SEED: u64 = 1;

/// Replaces the levels of a matrix by suites at these levels, in `suites/NAME-LN` of the output folder. A folder with all tasks is left as it is;
/// texts are proven before a new one is there. What is not there for a dry run is written into `scratch`.
pub(super) fn with_level_suites(
    context: &Context,
    matrix: Matrix,
    out: &Path,
    scratch: Option<&Path>,
) -> Result<Matrix, Exit> {
    if matrix.levels.iter().all(|level| *level == 1) {
        return Ok(Matrix { levels: Vec::new(), ..matrix });
    }
    let mut read = Vec::new();
    for folder in &matrix.suites {
        let loaded = load_suite(folder);
        context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
        let mut suite = loaded.suite.ok_or(Exit::Input)?;
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
        context.output.diagnostics(&[diagnostic], &SourceMap::default());
        return Err(Exit::Input);
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
) -> Result<PathBuf, Exit> {
    let name = format!("{}-L{level}", suite.name);
    let kept = out.join("suites").join(&name);
    let has = |stem: &str| kept.join(format!("{stem}-L{level}.nl")).is_file();
    if suite.tasks.iter().all(|task| has(&task.stem)) {
        return Ok(kept);
    }
    let (_, files) = paraphrased_files(context, suite, TextForm::Level(level), SEED)?;
    let files = |folder: &Path| Files::new(folder, files).write(context, false);
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
    let failed = |error: std::io::Error| unwritable(context, &kept, &error);
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
