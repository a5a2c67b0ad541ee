//! Add-ons: folders whose files replace a suite's own where the suite's folder is read-only.
//!
//! An add-on has knowledge that is not PDDL: `knowledge.lp`, `p_example.lp`, `sentences.toml`. It never has
//! texts, a domain or tasks, so that the tasks of a published suite stay unchanged.

use super::Suite;
use super::files::Folder;
use super::sentences;
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_record::sha256_hex;
use std::path::{Path, PathBuf};

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
        let declared = suite.reference_domain.as_deref().map(sentences::Declared::of);
        let mut found = Vec::new();
        let told = sentences::read(&text, source, declared.as_ref(), &mut found);
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
