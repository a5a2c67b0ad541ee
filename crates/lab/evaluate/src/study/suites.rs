//! Reads the suites of a study: a reference domain and its problems. Texts in plain language are not needed here.

use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{
    TaskSources, check_domain, check_problem, natural, parse_domain, parse_problem, read_pddl_bytes,
};
use std::path::{Path, PathBuf};

/// A domain with its problems.
#[derive(Debug, Clone)]
pub struct StudySuite {
    /// The folder's name.
    pub name: String,
    /// The reference domain.
    pub domain: Domain,
    /// The problems, in the order of their names.
    pub tasks: Vec<StudyTask>,
}

/// A problem of a suite.
#[derive(Debug, Clone)]
pub struct StudyTask {
    /// The file's name without `.pddl`.
    pub stem: String,
    /// The reference problem.
    pub problem: Problem,
}

/// Reads suites. Each path is a suite's folder or a folder of such folders; at most `tasks` problems of each are read, the
/// first by name.
///
/// # Errors
/// `study.no-suite`, and everything that reading and checking the PDDL files finds wrong, with the texts it points into.
/// Warnings are left out: a study judges no spelling.
pub fn load_suites(paths: &[PathBuf], tasks: usize) -> Result<Vec<StudySuite>, (Vec<Diagnostic>, SourceMap)> {
    let mut loader = Loader { tasks, ..Loader::default() };
    for path in paths {
        loader.path(path);
    }
    loader.suites.sort_by(|a, b| a.name.cmp(&b.name));
    if loader.diagnostics.is_empty() { Ok(loader.suites) } else { Err((loader.diagnostics, loader.sources)) }
}

#[derive(Default)]
struct Loader {
    tasks: usize,
    suites: Vec<StudySuite>,
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
}

impl Loader {
    fn path(&mut self, path: &Path) {
        if path.join("domain.pddl").is_file() {
            return self.suite(path);
        }
        let mut folders = entries(path);
        folders.retain(|folder| folder.join("domain.pddl").is_file());
        if folders.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("study.no-suite", format!("{} holds no suite", path.display()))
                    .help("a suite is a folder with domain.pddl and problems beside it"),
            );
        }
        for folder in folders {
            self.suite(&folder);
        }
    }

    fn suite(&mut self, folder: &Path) {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if self.suites.iter().any(|suite| suite.name == name) {
            self.diagnostics.push(
                Diagnostic::error("study.no-suite", format!("there are two suites of the name `{name}`"))
                    .help("figures are listed by name; rename one folder"),
            );
            return;
        }
        let Some((domain_source, text)) = self.text(&folder.join("domain.pddl")) else { return };
        let parsed = parse_domain(&text, domain_source);
        self.errors(parsed.diagnostics);
        let domain = parsed.value;
        self.errors(check_domain(&domain, domain_source));
        let mut files = entries(folder);
        files.retain(|file| is_problem(&file.file_name().unwrap_or_default().to_string_lossy()));
        if files.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("study.no-suite", format!("{} holds no problem", folder.display()))
                    .help("put problems beside domain.pddl, for example p01.pddl"),
            );
        }
        let mut tasks = Vec::new();
        for file in files.iter().take(self.tasks) {
            let Some((source, text)) = self.text(file) else { continue };
            let parsed = parse_problem(&text, source);
            self.errors(parsed.diagnostics);
            let sources = TaskSources { domain: domain_source, problem: source };
            self.errors(check_problem(&domain, &parsed.value, sources));
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            tasks.push(StudyTask { stem, problem: parsed.value });
        }
        self.suites.push(StudySuite { name, domain, tasks });
    }

    fn text(&mut self, path: &Path) -> Option<(planforge_diagnostics::SourceId, String)> {
        let name = path.display().to_string();
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let unreadable =
                    Diagnostic::error("study.no-suite", format!("{name} cannot be read: {error}"));
                self.diagnostics.push(unreadable.help("check the path and its permissions"));
                return None;
            }
        };
        match read_pddl_bytes(&name, &bytes) {
            // Studies report errors alone.
            Ok(read) => Some((self.sources.add(name, read.text.clone()), read.text)),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn errors(&mut self, found: Vec<Diagnostic>) {
        self.diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
    }
}

/// Neither a domain (`domain_validation.pddl`, for example) nor an in-context example nor an empty template.
fn is_problem(file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".pddl") else { return false };
    let other = ["domain", "p_example"].iter().any(|start| stem.starts_with(start));
    !other && !stem.ends_with("_template") && !stem.ends_with(".template")
}

/// The entries of a folder by name; numbers in names compare as numbers, so that p2 comes before p10.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).map(|list| list.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(suite: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites").join(suite)
    }

    #[test]
    fn a_suite_and_a_folder_of_suites_are_read() {
        let one = load_suites(&[own("garden")], 3).unwrap();
        assert_eq!((one.len(), one[0].name.as_str()), (1, "garden"));
        let stems: Vec<&str> = one[0].tasks.iter().map(|t| t.stem.as_str()).collect();
        assert_eq!(stems, ["p01", "p02", "p03"], "the example is no task");
        let all = load_suites(&[own("")], 1).unwrap();
        assert!(all.len() > 1 && all.iter().all(|s| s.tasks.len() == 1));
    }

    #[test]
    fn folders_that_are_not_suites_are_named() {
        let (diagnostics, _) =
            load_suites(&[own("../../crates"), own("garden"), own("garden")], 1).unwrap_err();
        assert_eq!(diagnostics.len(), 2, "{diagnostics:?}");
        assert!(diagnostics.iter().all(|d| d.code == "study.no-suite"));
    }
}
