//! A separate suite with the same tasks in other words.
//!
//! Everything that a method may learn the domain from is copied byte for byte: domain, its text, in-context
//! example, sentences, knowledge. Only the tasks' texts differ, so a difference in results is the effect of
//! the words. At level 4 the domain's text differs, too.

use super::files::{Entry, Files};
use super::{inferred, template_renderer};
use crate::context::Context;
use crate::error::Error;
use crate::status::Status;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pipeline::{Suite, SuiteFolder, SuiteTask, load_suite};
use planforge_suites::paraphrase::LAST_SECTION;
use planforge_suites::paraphrase::Paraphraser;
use planforge_suites::{codes, template};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The text of the domain at level 4.
pub(crate) const BRIEF: &str = "domain_brief.nl";

/// Files copied unchanged, if they exist.
const COPIED: [&str; 12] = [
    "actions.toml",
    "domain.nl",
    "domain.pddl",
    "domain_template.pddl",
    "domain_validation.pddl",
    "knowledge.lp",
    "p_example.lp",
    "p_example.nl",
    "p_example.pddl",
    "p_example.sol",
    "p_example_template.pddl",
    "sentences.toml",
];

/// A suite to write in other words.
#[derive(Debug, Clone)]
pub struct ParaphraseRequest {
    /// The suite's folder.
    pub suite: PathBuf,
    /// The folder that the new suite is written into.
    pub out: PathBuf,
    /// The seed of order and words.
    pub seed: u64,
    /// Number or level of the texts.
    pub form: TextForm,
    /// At most so many tasks, the first by name.
    pub tasks: Option<usize>,
    /// True to replace files that are there with other content.
    pub force: bool,
}

/// The written suite.
#[derive(Debug, Clone, Serialize)]
pub struct ParaphraseResult {
    /// Its folder.
    pub folder: String,
    /// The seed.
    pub seed: u64,
    /// Stems of the texts.
    pub tasks: Vec<String>,
    /// The files.
    pub files: Vec<Entry>,
}

/// Rewords each task with the suite's wordings.jinja.
///
/// # Errors
/// The suite has no such templates, a mistake in them, or files that are there.
pub fn paraphrase(context: &Context, request: &ParaphraseRequest) -> Result<ParaphraseResult, Error> {
    let loaded = load_suite(&context.path(&request.suite));
    let Some(mut suite) = loaded.suite else {
        return Err(Error::findings(Status::Input, loaded.diagnostics, loaded.sources));
    };
    context.findings(&loaded.diagnostics, &loaded.sources);
    suite.tasks.truncate(request.tasks.unwrap_or(usize::MAX));
    let (tasks, files) = paraphrased_files(context, &suite, request.form, request.seed)?;
    let files = Files::new(&context.path(&request.out), files).write(request.force)?;
    Ok(ParaphraseResult { folder: request.out.display().to_string(), seed: request.seed, tasks, files })
}

/// The texts of a paraphrased suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// So many for each task, which state the facts.
    Wordings(u32),
    /// One for each task, which implies the facts as texts of this level do.
    Level(u8),
}

/// Names and texts of files.
pub(crate) type NamedTexts = Vec<(String, String)>;

/// The stems and all files of a paraphrased suite. Texts of a level are proven by clingo.
///
/// # Errors
/// The suite has no such templates, or a mistake in them.
pub(crate) fn paraphrased_files(
    context: &Context,
    suite: &Suite,
    form: TextForm,
    seed: u64,
) -> Result<(Vec<String>, NamedTexts), Error> {
    let failed = |none: planforge_suites::generate::GenerationError| {
        Error::findings(Status::Negative, none.diagnostics, none.sources)
    };
    let paraphraser = Paraphraser::new(suite, template_renderer(context)?).map_err(failed)?;
    let level = match form {
        TextForm::Level(level) => Some(level),
        TextForm::Wordings(_) => None,
    };
    let mut files = vec![("suite.toml".to_owned(), manifest(suite, level, seed))];
    files.extend(copied_files(suite, level)?);
    let mut stems = Vec::new();
    match form {
        TextForm::Level(level) => {
            let mut sources = SourceMap::default();
            let proven = inferred::prove(context, suite, &paraphraser, &[level], seed, &mut sources)?;
            if !proven.diagnostics.is_empty() {
                return Err(Error::findings(Status::Negative, proven.diagnostics, sources));
            }
            for (task, text) in suite.tasks.iter().zip(proven.texts) {
                files.extend(task_files(task, &text.stem, text.text()));
                files.push((format!("{}.lp", text.stem), text.facts_without(None)));
                stems.push(text.stem);
            }
        }
        TextForm::Wordings(count) => {
            for task in &suite.tasks {
                for told in paraphraser.task(task, seed, count).map_err(failed)? {
                    files.extend(task_files(task, &told.stem, told.text));
                    stems.push(told.stem);
                }
            }
        }
    }
    Ok((stems, files))
}

fn manifest(suite: &Suite, level: Option<u8>, seed: u64) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (suffix, how) = match level {
        Some(level) => (format!("L{level}"), format!("told at level {level}")),
        None => ("paraphrased".to_owned(), "in other words".to_owned()),
    };
    let name = format!("{}-{suffix}", suite.name);
    let title = match suite.title.is_empty() {
        true => format!("{} {how}", suite.name),
        false => format!("{}, {how}", suite.title),
    };
    let mut text = format!(
        "# Made by `planforge suite paraphrase` from suite {}, seed {}.\nschema = 1\nname = {}\ntitle = {}\n",
        suite.name,
        seed,
        quoted(&name),
        quoted(&title)
    );
    if let Some(level) = level {
        let _ = writeln!(text, "level = {level}");
    }
    if !suite.licence.is_empty() {
        let _ = writeln!(text, "licence = {}", quoted(&suite.licence));
    }
    if !suite.withheld.is_empty() {
        text += "\n[given]\n";
        for part in &suite.withheld {
            let _ = writeln!(text, "{part} = false");
        }
    }
    if !suite.materials.is_empty() {
        text += "\n[materials]\n";
        for name in suite.materials.keys() {
            let _ = writeln!(text, "{} = {}", quoted(name), quoted(&material_file(name)));
        }
    }
    text
}

/// The file of a material in the new folder; in the suite it may lie in a subfolder.
fn material_file(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("material-{word}.txt")
}

fn copied_files(suite: &Suite, level: Option<u8>) -> Result<Vec<(String, String)>, Error> {
    let refused =
        |diagnostic: Box<Diagnostic>| Error::findings(Status::Input, vec![*diagnostic], SourceMap::default());
    let folder = SuiteFolder::open(&suite.folder).map_err(refused)?;
    let mut files = Vec::new();
    for name in COPIED {
        let brief = name == "domain.nl" && level > Some(LAST_SECTION);
        let text = folder.text(if brief { BRIEF } else { name }).map_err(refused)?;
        if brief && text.is_none() {
            let message = format!("{} has no {BRIEF}", suite.folder.display());
            let help = "write the domain's text without what everybody knows, or use --level 3";
            let diagnostic = Diagnostic::error(codes::NO_BRIEF_TEXT, message).help(help);
            return Err(Error::findings(Status::Negative, vec![diagnostic], SourceMap::default()));
        }
        files.extend(text.map(|text| (name.to_owned(), text)));
    }
    files.extend(suite.materials.iter().map(|(name, text)| (material_file(name), text.clone())));
    Ok(files)
}

fn task_files(task: &SuiteTask, stem: &str, text: String) -> Vec<(String, String)> {
    let mut files = vec![(format!("{stem}.nl"), text)];
    if let Some(problem) = &task.reference_problem {
        files.push((format!("{stem}.pddl"), problem.clone()));
        files.push((template::problem_file(stem), template::of_problem(problem)));
    }
    files
}
