//! Imports the data of the domain-generators paper as suites: one per domain, with its actions and predicates
//! in words.
//!
//! The folder has `domainNL/{Base,Flipped,Rand}-HC.csv` (columns domain, action, pddl, preds, NL),
//! `pddl-problems/NAME.pddl` with problems in `pddl-problems/NAME/`, and `predicate-descriptions/NAME.txt`.
//! NAME.pddl defines the domain; the PDDL of actions in the tables is compared with it, and differences are
//! reported.

mod domains;
mod predicates;
mod tables;

use crate::{codes, template};
use domains::{DomainFiles, Texts};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::PddlText;
use planforge_pipeline::SuiteFolder;
use predicates::Described;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use tables::{CLASSES, Class};

/// The imported suites and all findings.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// A suite for each domain that has a file and problems, by name. Empty where there is an error among the diagnostics.
    pub suites: Vec<ImportedSuite>,
    /// Names that are only described and left out.
    pub left_out: Vec<String>,
    /// Everything that is wrong, and every difference.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the diagnostics point into.
    pub sources: SourceMap,
}

/// An imported suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedSuite {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// Number of actions.
    pub actions: usize,
    /// Texts of actions, over all classes.
    pub texts: usize,
    /// Number of predicates.
    pub predicates: usize,
    /// Number of problems.
    pub problems: usize,
    /// File names and contents.
    pub files: Vec<(String, String)>,
}

/// Reads the folder. All mistakes are reported together, each with file and line; after an error there are no
/// suites.
pub fn import_actions(folder: &Path) -> Imported {
    let mut import = Import { folder, found: Vec::new(), sources: SourceMap::default() };
    let (suites, left_out) = import.all().unwrap_or_default();
    let failed = import.found.iter().any(Diagnostic::is_error);
    Imported {
        suites: if failed { Vec::new() } else { suites },
        left_out,
        diagnostics: import.found,
        sources: import.sources,
    }
}

/// The work, and everything that is found.
struct Import<'a> {
    folder: &'a Path,
    found: Vec<Diagnostic>,
    sources: SourceMap,
}

/// A file and its text.
#[derive(Debug, Clone)]
struct Text {
    source: SourceId,
    text: String,
}

impl Import<'_> {
    fn all(&mut self) -> Option<(Vec<ImportedSuite>, Vec<String>)> {
        let licence = self.text("LICENSE");
        let domains = self.domains()?;
        let descriptions = self.descriptions();
        let rows = self.tables();
        let left_out: Vec<String> = descriptions
            .keys()
            .filter(|name| !domains.iter().any(|d| d.name.eq_ignore_ascii_case(name)))
            .cloned()
            .collect();
        for name in &left_out {
            let message = format!(
                "{}: pddl-problems has no domain of this name, so it is skipped",
                self.display_path(&format!("predicate-descriptions/{name}.txt"))
            );
            self.found.push(Diagnostic::warning(codes::LEFT_OUT, message));
        }
        let texts = self.actions(&domains, rows);
        let suites = domains
            .iter()
            .zip(&texts)
            .map(|(domain, texts)| {
                let described = self.predicates(domain, descriptions.get(&domain.name.to_lowercase()));
                suite(domain, texts, &described, licence.as_ref().map(|l| l.text.as_str()))
            })
            .collect();
        Some((suites, left_out))
    }

    /// A file of the folder, by its path below it.
    fn text(&mut self, path: &str) -> Option<Text> {
        let opened = SuiteFolder::open(self.folder).and_then(|folder| folder.read(path));
        match opened {
            Ok(read) => read.map(|PddlText { text, warning }| {
                self.found.extend(warning);
                let source = self.sources.add(self.display_path(path), text.clone());
                Text { source, text }
            }),
            Err(diagnostic) => {
                self.found.push(*diagnostic);
                None
            }
        }
    }

    /// The names of files in a folder below the folder that end so, without the ending; by number where they have one.
    fn stems(&mut self, path: &str, ending: &str) -> Option<Vec<String>> {
        let opened = SuiteFolder::open(&self.folder.join(path)).and_then(|folder| folder.names());
        match opened {
            Ok(names) => {
                let mut stems: Vec<String> =
                    names.iter().filter_map(|name| name.strip_suffix(ending)).map(str::to_owned).collect();
                stems.sort_by_key(|stem| natural(stem));
                Some(stems)
            }
            Err(diagnostic) => {
                let message = diagnostic.message.clone();
                self.found.push(Diagnostic::error(codes::LAYOUT, message).help(LAYOUT_HELP));
                None
            }
        }
    }

    fn display_path(&self, path: &str) -> String {
        self.folder.join(path).display().to_string()
    }
}

/// The expected layout of the folder.
const LAYOUT_HELP: &str = "the folder has domainNL/Base-HC.csv (also Flipped-HC.csv and Rand-HC.csv), pddl-problems/NAME.pddl with problems in \
pddl-problems/NAME/, and predicate-descriptions/NAME.txt";

/// `instance-10` comes after `instance-2`.
fn natural(stem: &str) -> (String, u64, String) {
    let letters = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = stem.get(letters.len()..).unwrap_or_default().parse().unwrap_or_default();
    (letters.to_owned(), number, stem.to_owned())
}

/// The place of so many bytes.
fn span(start: usize, length: usize) -> Span {
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(byte(start), byte(start + length))
}

/// Everything of one suite.
fn suite(
    found: &DomainFiles,
    texts: &Texts,
    described: &[Described],
    licence: Option<&str>,
) -> ImportedSuite {
    let mut files = vec![
        ("suite.toml".to_owned(), manifest(found, licence)),
        ("domain.pddl".to_owned(), with_line_end(&found.file.text)),
        ("domain_template.pddl".to_owned(), template::of_domain(&found.file.text)),
        ("actions.toml".to_owned(), actions(found, texts, described)),
    ];
    if !described.is_empty() {
        files.push(("sentences.toml".to_owned(), sentences(described)));
    }
    files.extend(licence.map(|text| ("LICENSE".to_owned(), with_line_end(text))));
    for (index, (_, text)) in found.problems.iter().enumerate() {
        let stem = stem(index);
        files.push((template::problem_file(&stem), template::of_problem(text)));
        files.push((format!("{stem}.pddl"), with_line_end(text)));
    }
    ImportedSuite {
        name: found.name.clone(),
        actions: found.domain.actions.len(),
        texts: texts.values().map(BTreeMap::len).sum(),
        predicates: described.len(),
        problems: found.problems.len(),
        files,
    }
}

fn stem(index: usize) -> String {
    format!("p{:02}", index + 1)
}

fn with_line_end(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

const MADE: &str = "# Made by `planforge suite import-actions`.\n";

fn manifest(found: &DomainFiles, licence: Option<&str>) -> String {
    let title = format!("{}, as the domain-generators paper describes its actions", found.name);
    let mut text = format!("{MADE}schema = 1\nname = {}\ntitle = {}\n", quoted(&found.name), quoted(&title));
    if let Some(licence) = licence.and_then(name_of_licence) {
        let _ = writeln!(text, "licence = {}", quoted(&licence));
    }
    text += "\n[titles]\n";
    for (index, (own, _)) in found.problems.iter().enumerate() {
        let _ = writeln!(text, "{} = {}", stem(index), quoted(own));
    }
    text
}

/// `MIT License, Copyright (c) 2020 Somebody`.
fn name_of_licence(licence: &str) -> Option<String> {
    let mut lines = licence.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let holder = lines.find(|line| line.to_lowercase().starts_with("copyright"));
    Some(holder.map_or_else(|| first.to_owned(), |holder| format!("{first}, {holder}")))
}

fn actions(found: &DomainFiles, texts: &Texts, described: &[Described]) -> String {
    let mut text = format!(
        "{MADE}# Texts are put together as the paper's code does it: what the action does with a full stop, or with a blank and what the class adds.\n"
    );
    for action in &found.domain.actions {
        let Some(of_action) = texts.get(action.name.key()) else { continue };
        let _ = writeln!(text, "\n[actions.{}]", quoted(action.name.as_str()));
        let Some(base) = of_action.get(&Class::Base) else { continue };
        for (class, key) in CLASSES.into_iter().zip(["base", "flipped", "random"]) {
            let whole = match class.0 {
                Class::Base => Some(format!("{base}.")),
                other => of_action.get(&other).map(|added| format!("{base} {added}")),
            };
            if let Some(whole) = whole {
                let _ = writeln!(text, "{key} = {}", quoted(&whole));
            }
        }
    }
    for told in described {
        let _ = write!(
            text,
            "\n[predicates.{}]\ndeclaration = {}\ntext = {}\n",
            quoted(&told.name),
            quoted(&told.declaration),
            quoted(&told.text)
        );
    }
    text
}

fn sentences(described: &[Described]) -> String {
    let mut text = format!(
        "{MADE}# From the descriptions of the predicates, with slots for the parameters.\n\n[predicates]\n"
    );
    // A predicate whose text leaves a parameter out has no entry: it is told by its name.
    for (told, yes) in described.iter().filter_map(|told| Some((told, told.sentence.as_ref()?))) {
        let mut letters = yes.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
        let no = format!("It is not true that {first}{}", letters.as_str());
        let _ = writeln!(text, "{} = {{ yes = {}, no = {} }}", quoted(&told.name), quoted(yes), quoted(&no));
    }
    text
}
