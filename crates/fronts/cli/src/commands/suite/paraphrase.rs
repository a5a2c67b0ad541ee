//! `planforge suite paraphrase`: a separate suite with the same tasks in other words.
//!
//! Everything that a method may learn the domain from is copied byte for byte: domain, its text, in-context
//! example, sentences, knowledge. Only the tasks' texts differ, so a difference in results is the effect of
//! the words. At level 4 the domain's text differs, too.

use super::files::{Entry, Files, counted};
use super::levels;
use crate::args::positive;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pipeline::{Suite, SuiteFolder, SuiteTask, load_suite};
use planforge_suites::codes;
use planforge_suites::paraphrase::Paraphraser;
use planforge_suites::paraphrase::level::LAST_SECTION;
use planforge_suites::template;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Reword each task with the suite's wordings.jinja: a separate suite with the same problems.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-paraphrased --seed 7
  planforge suite paraphrase examples/suites/blocks --out /tmp/blocks-implied --level 3")]
pub(crate) struct SuiteParaphraseArgs {
    /// The suite's folder, with domain.pddl, wordings.jinja and a problem NAME.pddl for each task.
    pub(crate) suite: PathBuf,
    /// The folder that the new suite is written into.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The seed of order and words.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of texts for each task: NAME-w1, NAME-w2, ...
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub(crate) wordings: u32,
    /// Write texts that imply facts instead of stating them: 2 counts things and describes layouts, 3 also reorders and adds what is
    /// irrelevant, 4 also omits common knowledge from the domain's text. clingo proves that each text implies its problem.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=4), conflicts_with = "wordings")]
    pub(crate) level: Option<u8>,
    /// At most so many tasks, the first by name; all where it is not given.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) tasks: Option<usize>,
    /// Replace files that are there with other content.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

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

pub(crate) fn run(context: &Context, args: &SuiteParaphraseArgs) -> Exit {
    match paraphrase(context, args) {
        Ok(()) => Exit::Good,
        Err(exit) => exit,
    }
}

fn paraphrase(context: &Context, args: &SuiteParaphraseArgs) -> Result<(), Exit> {
    let loaded = load_suite(&args.suite);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let mut suite = loaded.suite.ok_or(Exit::Input)?;
    suite.tasks.truncate(args.tasks.unwrap_or(usize::MAX));
    let form = match args.level {
        Some(level) => TextForm::Level(level),
        None => TextForm::Wordings(args.wordings),
    };
    let (stems, files) = paraphrased_files(context, &suite, form, args.seed)?;
    let entries = Files::new(&args.out, files).write(context, args.force)?;
    report(context, args, &stems, &entries);
    Ok(())
}

/// The texts of a paraphrased suite.
#[derive(Clone, Copy)]
pub(crate) enum TextForm {
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
/// The suite has no such templates, or a mistake in them; it was printed.
pub(crate) fn paraphrased_files(
    context: &Context,
    suite: &Suite,
    form: TextForm,
    seed: u64,
) -> Result<(Vec<String>, NamedTexts), Exit> {
    let failed = |none: planforge_suites::generate::GenerationError| {
        context.output.diagnostics(&none.diagnostics, &none.sources);
        Exit::Negative
    };
    let paraphraser = Paraphraser::new(suite, super::template_renderer(context)?).map_err(failed)?;
    let level = match form {
        TextForm::Level(level) => Some(level),
        TextForm::Wordings(_) => None,
    };
    let mut files = vec![("suite.toml".to_owned(), manifest(suite, level, seed))];
    files.extend(copied_files(context, suite, level)?);
    let mut stems = Vec::new();
    match form {
        TextForm::Level(level) => {
            let mut sources = SourceMap::default();
            let proven = levels::prove(context, suite, &paraphraser, &[level], seed, &mut sources)?;
            context.output.diagnostics(&proven.diagnostics, &sources);
            if !proven.diagnostics.is_empty() {
                return Err(Exit::Negative);
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

fn copied_files(context: &Context, suite: &Suite, level: Option<u8>) -> Result<Vec<(String, String)>, Exit> {
    let refused = |diagnostic: Box<Diagnostic>| {
        context.output.diagnostics(&[*diagnostic], &SourceMap::default());
        Exit::Input
    };
    let folder = SuiteFolder::open(&suite.folder).map_err(refused)?;
    let mut files = Vec::new();
    for name in COPIED {
        let brief = name == "domain.nl" && level > Some(LAST_SECTION);
        let text = folder.text(if brief { BRIEF } else { name }).map_err(refused)?;
        if brief && text.is_none() {
            let message = format!("{} has no {BRIEF}", suite.folder.display());
            let help = "write the domain's text without what everybody knows, or use --level 3";
            let diagnostic = Diagnostic::error(codes::NO_BRIEF_TEXT, message).help(help);
            context.output.diagnostics(&[diagnostic], &SourceMap::default());
            return Err(Exit::Negative);
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

fn report(context: &Context, args: &SuiteParaphraseArgs, stems: &[String], entries: &[Entry]) {
    let folder = args.out.display();
    if args.json {
        context.output.json(&serde_json::json!({
            "folder": folder.to_string(), "seed": args.seed, "tasks": stems, "files": entries,
        }));
        return;
    }
    let line = format!("{folder}: {} texts, {} from seed {}\n", stems.len(), counted(entries), args.seed);
    context.output.result(&line);
}
