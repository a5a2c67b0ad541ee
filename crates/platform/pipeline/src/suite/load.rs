//! Finds a suite's files by their names and reads them all, or those of one task; further problems for verifiers that compare domains
//! over several; and add-ons, whose files replace a suite's own where the suite's folder is read-only.
//!
//! An add-on has knowledge that is not PDDL: `knowledge.lp`, `p_example.lp`, `sentences.toml`. It never has texts, a domain or tasks,
//! so that the tasks of a published suite stay unchanged.

use super::picture::read_picture;
use super::texts::{ActionFile, Declared, SentenceFile, read_action_file, read_sentence_file};
use super::{Example, Folder, Manifest, Suite, SuiteTask, Texts, read_manifest};
use crate::reader::help_for;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::PddlText;
use planforge_record::sha256_hex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The result of reading a suite.
#[derive(Debug, Clone)]
pub struct LoadedSuite {
    /// The suite; absent where there is an error among the diagnostics.
    pub suite: Option<Suite>,
    /// Everything that is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The manifest and the sentences, where they are.
    pub sources: SourceMap,
}

/// The tasks to read.
#[derive(Clone, Copy)]
enum TaskSelection<'a> {
    All(Texts),
    One(&'a str, Texts),
    None,
    /// Every task that has a text or a problem; what is missing is a warning.
    Everything,
}

/// Reads a suite with all its tasks, which have texts.
pub fn load_suite(folder: &Path) -> LoadedSuite {
    load_suite_with(folder, Texts::Required)
}

/// Reads a suite with all its tasks.
pub fn load_suite_with(folder: &Path, texts: Texts) -> LoadedSuite {
    Loader::default().load(folder, TaskSelection::All(texts))
}

/// Reads a suite without its tasks: there may be none yet.
pub fn load_without_tasks(folder: &Path) -> LoadedSuite {
    Loader::default().load(folder, TaskSelection::None)
}

/// Reads a folder for inspection, with all its mistakes: also tasks without a text or without a problem.
/// Missing files are warnings.
pub fn load_leniently(folder: &Path) -> LoadedSuite {
    Loader::default().load(folder, TaskSelection::Everything)
}

/// Reads a suite with one task, which has a text: `FOLDER/STEM`, with or without the ending `.nl` or `.pddl`.
pub fn load_task(path: &Path) -> LoadedSuite {
    load_task_with(path, Texts::Required)
}

/// Reads a suite with one task: `FOLDER/STEM`, with or without the ending `.nl` or `.pddl`.
pub fn load_task_with(path: &Path, texts: Texts) -> LoadedSuite {
    let stem = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let stem = stem.strip_suffix(".nl").or_else(|| stem.strip_suffix(".pddl")).unwrap_or(stem);
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Loader::default().load(folder, TaskSelection::One(stem, texts))
}

#[derive(Default)]
struct Loader {
    found: Vec<Diagnostic>,
    sources: SourceMap,
}

impl Loader {
    fn load(mut self, path: &Path, wanted: TaskSelection<'_>) -> LoadedSuite {
        let suite = self.suite(path, wanted);
        let failed =
            self.found.iter().any(Diagnostic::is_error) && !matches!(wanted, TaskSelection::Everything);
        LoadedSuite { suite: suite.filter(|_| !failed), diagnostics: self.found, sources: self.sources }
    }

    fn suite(&mut self, path: &Path, wanted: TaskSelection<'_>) -> Option<Suite> {
        let folder = self.keep(Folder::open(path))?;
        let names = self.keep(folder.names())?;
        let manifest = match self.read(&folder, "suite.toml") {
            Some(text) => {
                let source = self.sources.add(path.join("suite.toml").display().to_string(), text.clone());
                read_manifest(&text, source, &mut self.found)
            }
            None => Manifest::default(),
        };
        let stems = self.stems(&folder, &names, wanted)?;
        // Looked through, missing texts are told once and together.
        let complete = matches!(
            wanted,
            TaskSelection::None
                | TaskSelection::All(Texts::Required)
                | TaskSelection::One(_, Texts::Required)
        );
        let warns = matches!(wanted, TaskSelection::All(Texts::Required));
        // The task's text may contain the domain's: several tasks without it are worth a warning.
        let missing = warns.then(|| {
            let message =
                format!("{} has no domain.nl: the text of each task stands for it", folder.path.display());
            Diagnostic::warning("suite.no-domain-text", message).help(
                "write domain.nl if the tasks share their rules: what the domain is about, in plain language",
            )
        });
        let domain_text = self.text(&folder, "domain.nl", "suite.no-domain-text", complete, missing);
        let tasks = stems.iter().map(|stem| self.task(&folder, stem, &manifest, complete)).collect();
        let example = self.read(&folder, "p_example.nl").map(|text| Example {
            text,
            problem: self.read(&folder, "p_example.pddl"),
            plan: self.read(&folder, "p_example.sol"),
            ir: self.read(&folder, "p_example.lp"),
        });
        let materials = self.materials(&folder, &manifest);
        let reference_domain = self.read(&folder, "domain.pddl");
        let told = self.sentences(&folder, reference_domain.as_deref());
        let described = self.action_file(&folder, reference_domain.as_deref());
        let picture = self.picture(&folder, reference_domain.as_deref());
        Some(Suite {
            name: suite_name(&manifest, path),
            title: manifest.title,
            licence: manifest.licence,
            folder: path.to_owned(),
            domain_text,
            reference_domain,
            validation_domain: self.read(&folder, "domain_validation.pddl"),
            domain_template: self.read(&folder, "domain_template.pddl"),
            example,
            materials,
            sentences: told.facts,
            types: told.types,
            action_texts: described.actions,
            predicate_texts: described.predicates,
            knowledge: self.read(&folder, "knowledge.lp"),
            add_on: None,
            generator: self.read(&folder, "generator.jinja"),
            ladder: self.read(&folder, "ladder.toml"),
            reading: self.read(&folder, "reading.toml"),
            wordings: self.read(&folder, "wordings.jinja"),
            picture,
            generate: manifest.generate,
            level: manifest.level.unwrap_or(1),
            withheld: manifest.withheld,
            disguise: None,
            tasks,
        })
    }

    /// The stems to read: all that have a text, or the requested one.
    fn stems(&mut self, folder: &Folder, names: &[String], wanted: TaskSelection<'_>) -> Option<Vec<String>> {
        let with = |ending: &str| -> Vec<String> {
            let stems = names.iter().filter_map(|name| name.strip_suffix(ending));
            stems.filter(|stem| is_task(stem)).map(str::to_owned).collect()
        };
        let (texts, problems) = (with(".nl"), with(".pddl"));
        let shown = folder.path.display();
        let (only, need) = match wanted {
            TaskSelection::None => return Some(Vec::new()),
            TaskSelection::All(Texts::Required) => return self.all_stems(folder, texts, &problems),
            TaskSelection::All(Texts::Optional) => return self.all_problems(folder, texts, problems),
            TaskSelection::Everything => return Some(self.every_stem(folder, names, &texts, &problems)),
            TaskSelection::One(stem, need) => (stem, need),
        };
        let is_there = |stems: &[String]| stems.iter().any(|stem| stem == only);
        if is_there(&texts) || (need == Texts::Optional && is_there(&problems)) {
            return Some(vec![only.to_owned()]);
        }
        if need == Texts::Required && problems.iter().any(|stem| stem == only) {
            let message = format!("{shown}: task `{only}` has no text");
            let help = format!("write {only}.nl: what the task is about, in plain language");
            self.found.push(Diagnostic::error("suite.no-text", message).help(help));
        } else {
            let all = texts.iter().chain(problems.iter().filter(|_| need == Texts::Optional));
            let stems: Vec<&str> = all.map(String::as_str).collect();
            let diagnostic =
                Diagnostic::error("suite.unknown-task", format!("{shown}: there is no task `{only}`"));
            self.found.push(match help_for(only, &stems, "tasks") {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
        }
        None
    }

    fn all_stems(&mut self, folder: &Folder, texts: Vec<String>, problems: &[String]) -> Option<Vec<String>> {
        let shown = folder.path.display();
        if texts.is_empty() {
            let message = format!("{shown}: no task has a text");
            let help = "each task needs a file `NAME.nl` that describes it in plain language";
            self.found.push(Diagnostic::error("suite.no-text", message).help(help));
            return None;
        }
        let silent: Vec<&str> = problems.iter().filter(|p| !texts.contains(p)).map(String::as_str).collect();
        if !silent.is_empty() {
            let message = format!("{shown}: tasks without a text are left out: {}", silent.join(", "));
            self.found.push(Diagnostic::warning("suite.no-text", message));
        }
        Some(texts)
    }

    /// Without texts every problem is a task, as is every text.
    fn all_problems(
        &mut self,
        folder: &Folder,
        texts: Vec<String>,
        mut problems: Vec<String>,
    ) -> Option<Vec<String>> {
        problems.extend(texts);
        problems.sort();
        problems.dedup();
        if problems.is_empty() {
            let message = format!("{}: there is no task", folder.path.display());
            let help = "each task needs a file NAME.pddl with its problem";
            self.found.push(Diagnostic::error("suite.no-text", message).help(help));
            return None;
        }
        Some(problems)
    }

    fn every_stem(
        &mut self,
        folder: &Folder,
        names: &[String],
        texts: &[String],
        problems: &[String],
    ) -> Vec<String> {
        let shown = folder.path.display();
        let without = |all: &[String], others: &[String]| -> Vec<String> {
            all.iter().filter(|stem| !others.contains(stem)).cloned().collect()
        };
        let mut warn = |code: &'static str, message: String, help: &str| {
            self.found.push(Diagnostic::warning(code, message).help(help));
        };
        let has_domain_text = names.iter().any(|name| name == "domain.nl");
        if texts.is_empty() && !has_domain_text {
            let message = format!("{shown} has no texts: pipelines, which begin with text, cannot run on it");
            warn("suite.no-text", message, "`planforge suite describe` writes texts for PDDL");
        } else {
            if !has_domain_text {
                let help = "write domain.nl: what the domain is about, in plain language";
                warn("suite.no-domain-text", format!("{shown} has no domain.nl"), help);
            }
            let silent = without(problems, texts);
            if !silent.is_empty() {
                let message = format!("{shown}: tasks without a text: {}", silent.join(", "));
                warn("suite.no-text", message, "write NAME.nl for each");
            }
        }
        let open = without(texts, problems);
        // A suite may do without PDDL altogether; then its environment is a program.
        if !open.is_empty() && names.iter().any(|name| name == "domain.pddl") {
            let message = format!("{shown}: tasks without a reference problem: {}", open.join(", "));
            warn("suite.no-problem", message, "write NAME.pddl for each");
        }
        let mut all: Vec<String> = texts.iter().chain(problems).cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    fn task(&mut self, folder: &Folder, stem: &str, manifest: &Manifest, complete: bool) -> SuiteTask {
        let file = format!("{stem}.nl");
        let missing = complete.then(|| {
            let message = format!("{} is not there", folder.path.join(&file).display());
            Diagnostic::error("suite.no-text", message)
                .help("each task needs a file NAME.nl: what it is about, in plain language")
        });
        SuiteTask {
            stem: stem.to_owned(),
            title: manifest.titles.get(stem).cloned().unwrap_or_default(),
            axis: manifest.axes.get(stem).cloned(),
            gap: manifest.gaps.get(stem).cloned(),
            text: self.text(folder, &file, "suite.no-text", complete, missing),
            reference_problem: self.read(folder, &format!("{stem}.pddl")),
            reference_domain: self.read(folder, &format!("domain-{stem}.pddl")),
            objects_template: self.read(folder, &format!("{stem}_template.pddl")),
            described: None,
        }
    }

    fn materials(&mut self, folder: &Folder, manifest: &Manifest) -> BTreeMap<String, String> {
        let mut materials = BTreeMap::new();
        for (name, file) in &manifest.materials {
            match self.read(folder, file) {
                Some(text) => drop(materials.insert(name.clone(), text)),
                None => self.found.push(Diagnostic::error(
                    "suite.no-material",
                    format!(
                        "{}: the file of material `{name}` is not there",
                        folder.path.join(file).display()
                    ),
                )),
            }
        }
        materials
    }

    fn sentences(&mut self, folder: &Folder, domain: Option<&str>) -> SentenceFile {
        let Some(text) = self.read(folder, "sentences.toml") else { return SentenceFile::default() };
        let shown = folder.path.join("sentences.toml").display().to_string();
        let source = self.sources.add(shown, text.clone());
        let declared = domain.map(Declared::of);
        read_sentence_file(&text, source, declared.as_ref(), &mut self.found)
    }

    fn action_file(&mut self, folder: &Folder, domain: Option<&str>) -> ActionFile {
        let Some(text) = self.read(folder, "actions.toml") else { return ActionFile::default() };
        let shown = folder.path.join("actions.toml").display().to_string();
        let source = self.sources.add(shown, text.clone());
        read_action_file(&text, source, domain, &mut self.found)
    }

    fn picture(&mut self, folder: &Folder, domain: Option<&str>) -> Option<String> {
        let text = self.read(folder, "picture.toml")?;
        let source = self.sources.add(folder.path.join("picture.toml").display().to_string(), text.clone());
        let domain = domain.map(|domain| planforge_pddl::parse_domain(domain, SourceId(0)).value);
        read_picture(&text, source, domain.as_ref(), &mut self.found).map(|_| text)
    }

    fn keep<T>(&mut self, result: Result<T, Box<Diagnostic>>) -> Option<T> {
        result.map_err(|diagnostic| self.found.push(*diagnostic)).ok()
    }

    fn read(&mut self, folder: &Folder, name: &str) -> Option<String> {
        let PddlText { text, warning } = self.keep(folder.read(name)).flatten()?;
        self.found.extend(warning);
        Some(text)
    }

    /// A text of people. If it is missing, `missing` is reported; if the texts must be complete, an empty one is an error of this code.
    fn text(
        &mut self,
        folder: &Folder,
        name: &str,
        code: &'static str,
        complete: bool,
        missing: Option<Diagnostic>,
    ) -> String {
        let before = self.found.len();
        let text = self.read(folder, name);
        match &text {
            // What cannot be read is reported already.
            None if self.found.len() == before => self.found.extend(missing),
            Some(text) if complete && text.trim().is_empty() => {
                let shown = folder.path.join(name);
                self.found.push(Diagnostic::error(code, format!("{} is empty", shown.display())));
            }
            _ => {}
        }
        text.unwrap_or_default()
    }
}

/// True for stems of tasks, false for other files of the suite.
pub(super) fn is_task(stem: &str) -> bool {
    !stem.is_empty() && !stem.starts_with("domain") && stem != "p_example" && !stem.ends_with("_template")
}

/// True for names such as `ipc-2014`.
fn is_competition(folder: &str) -> bool {
    let year = folder.strip_prefix("ipc-");
    year.is_some_and(|year| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()))
}

fn suite_name(manifest: &Manifest, path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let last = |path: &Path| path.file_name().and_then(|n| n.to_str()).map(str::to_owned);
    // The collections of several competitions have domains of one name.
    let competition = path.parent().and_then(last).filter(|folder| is_competition(folder));
    let folder = last(&path).unwrap_or_else(|| "suite".to_owned());
    let folder = competition.map_or(folder.clone(), |competition| format!("{competition}-{folder}"));
    let name = manifest.name.clone().unwrap_or(folder);
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' }).collect()
}

/// The first so many reference problems of the suite's folder that are not the task's, in order of their names. Tasks with domains of their
/// own have none: a problem belongs to the domain that it was written for.
///
/// # Errors
/// Files that cannot be read.
pub(crate) fn further_problems(
    suite: &Suite,
    task: &SuiteTask,
    count: usize,
) -> Result<Vec<String>, Box<Diagnostic>> {
    let mut problems = Vec::new();
    if count == 0 || task.reference_domain.is_some() {
        return Ok(problems);
    }
    let folder = Folder::open(&suite.folder)?;
    let names = folder.names()?;
    let others = names.iter().filter_map(|name| Some((name, name.strip_suffix(".pddl")?)));
    for (name, stem) in others.filter(|(_, stem)| is_task(stem) && *stem != task.stem) {
        if problems.len() == count {
            break;
        }
        if !names.contains(&format!("domain-{stem}.pddl")) {
            let Some(text) = folder.text(name)? else { continue };
            problems.push(match &suite.disguise {
                Some(disguise) => disguise.names.problem(&text).map_err(|why| {
                    let message = format!("suite `{}` cannot be renamed: {name}: {why}", suite.name);
                    Box::new(Diagnostic::error("suite.disguise", message))
                })?,
                None => text,
            });
        }
    }
    Ok(problems)
}

/// The files that an add-on may bring.
pub const ADD_ON_FILES: [&str; 3] = ["knowledge.lp", "p_example.lp", "sentences.toml"];

/// Applies add-ons to suites. A folder `DIR/SUITENAME` is for the suite of that name; files in `DIR` itself
/// are for the suite of the folder's name, or for the only suite. If two add-ons have the same file, the
/// later one's is taken.
pub fn apply_add_ons(folders: &[PathBuf], suites: &mut [Suite], sources: &mut SourceMap) -> Vec<Diagnostic> {
    let mut work = AddOnReader { found: Vec::new(), sources };
    for folder in folders {
        work.folder(folder, suites);
    }
    work.found
}

struct AddOnReader<'a> {
    found: Vec<Diagnostic>,
    sources: &'a mut SourceMap,
}

impl AddOnReader<'_> {
    fn folder(&mut self, path: &Path, suites: &mut [Suite]) {
        let Some(own) = self.open(path) else { return };
        // A task may be named one by one, so one suite may be there several times.
        let several = suites.iter().any(|suite| suites.first().is_some_and(|first| first.name != suite.name));
        let named = own.path.canonicalize().ok();
        let named = named.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or("");
        let has_files = ADD_ON_FILES.iter().any(|file| path.join(file).exists());
        let mut fits = false;
        let mut looked: Vec<String> = Vec::new();
        for suite in suites.iter_mut() {
            let inner = path.join(&suite.name);
            let chosen = if inner.is_dir() {
                inner
            } else if has_files && (suite.name == named || !several) {
                path.to_owned()
            } else {
                continue;
            };
            let first = !looked.contains(&suite.name);
            looked.push(suite.name.clone());
            fits |= self.apply_folder(&chosen, suite, first);
        }
        if fits || self.found.iter().any(Diagnostic::is_error) {
            return;
        }
        let shown = path.display();
        let mut names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
        names.dedup();
        let names = names.join(", ");
        let message = match has_files {
            true => {
                format!(
                    "add-on {shown} has files, and it is unclear which of the suites {names} they belong to"
                )
            }
            false => format!("add-on {shown} has nothing for {names}"),
        };
        let help = format!(
            "an add-on has {} in a folder of the suite's name, such as {}",
            ADD_ON_FILES.join(", "),
            path.join(suites.first().map_or("SUITE", |suite| &suite.name)).display()
        );
        self.found.push(Diagnostic::error("suite.add-on", message).help(help));
    }

    /// Applies one folder's files to one suite. Returns true if there are any. Mistakes in the folder are
    /// reported once.
    fn apply_folder(&mut self, path: &Path, suite: &mut Suite, tell: bool) -> bool {
        let Some(folder) = self.open(path) else { return false };
        if tell {
            self.odd_files(&folder);
        }
        let mut used = suite.add_on.take().unwrap_or_default();
        let mut any = false;
        for file in ADD_ON_FILES {
            let text = match folder.text(file) {
                Ok(Some(text)) => text,
                Ok(None) => continue,
                Err(diagnostic) => {
                    self.found.push(*diagnostic);
                    continue;
                }
            };
            any = true;
            used.files.insert(file.to_owned(), sha256_hex(text.as_bytes()));
            match file {
                "knowledge.lp" => suite.knowledge = Some(text),
                "p_example.lp" => self.example(path, suite, text, tell),
                _ => self.sentences(path, suite, text, tell),
            }
        }
        if any {
            used.folder = path.display().to_string();
        }
        suite.add_on = (!used.files.is_empty()).then_some(used);
        any
    }

    fn example(&mut self, path: &Path, suite: &mut Suite, text: String, tell: bool) {
        match &mut suite.example {
            Some(example) => example.ir = Some(text),
            None if tell => {
                let message = format!(
                    "{}: suite `{}` has no p_example.nl, so this example has no text",
                    path.join("p_example.lp").display(),
                    suite.name
                );
                self.found.push(Diagnostic::warning("suite.add-on", message));
            }
            None => {}
        }
    }

    fn sentences(&mut self, path: &Path, suite: &mut Suite, text: String, tell: bool) {
        let source = self.sources.add(path.join("sentences.toml").display().to_string(), text.clone());
        let declared = suite.reference_domain.as_deref().map(Declared::of);
        let mut found = Vec::new();
        let told = read_sentence_file(&text, source, declared.as_ref(), &mut found);
        if tell {
            self.found.extend(found);
        }
        suite.sentences = told.facts;
        suite.types = told.types;
    }

    /// Warns about unknown files: a misspelt name would otherwise have no effect and no message.
    fn odd_files(&mut self, folder: &Folder) {
        let names = match folder.names() {
            Ok(names) => names,
            Err(diagnostic) => return self.found.push(*diagnostic),
        };
        let odd = |name: &&String| {
            let known = ADD_ON_FILES.contains(&name.as_str()) || name.starts_with('.');
            !known && !name.to_ascii_uppercase().starts_with("README") && folder.path.join(name).is_file()
        };
        let odd: Vec<&str> = names.iter().filter(odd).map(String::as_str).collect();
        if !odd.is_empty() {
            let message = format!("{}: not read: {}", folder.path.display(), odd.join(", "));
            let help = format!("an add-on's files are {}", ADD_ON_FILES.join(", "));
            self.found.push(Diagnostic::warning("suite.add-on", message).help(help));
        }
    }

    fn open(&mut self, path: &Path) -> Option<Folder> {
        match Folder::open(path) {
            Ok(folder) => Some(folder),
            Err(diagnostic) => {
                let help = format!("--add-on names a folder with {}", ADD_ON_FILES.join(", "));
                let wrong = Diagnostic::error("suite.add-on", diagnostic.message.clone()).help(help);
                if !self.found.contains(&wrong) {
                    self.found.push(wrong);
                }
                None
            }
        }
    }
}
