//! PDDL files from the command line: read, parsed and checked together, with every mistake in one list.

use crate::exit::Exit;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::PddlText;
use planforge_pddl::ast::{Domain, Problem};
use std::path::Path;

/// The readable parts of a domain and a problem, and all diagnostics.
pub(crate) struct Inputs {
    pub(crate) sources: SourceMap,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) domain: Option<Domain>,
    pub(crate) problem: Option<Problem>,
    /// True if a file could not be read, so nothing was judged.
    pub(crate) unreadable: bool,
}

impl Inputs {
    /// Reads the domain and, where given, the problem; checks each and both together.
    pub(crate) fn read(domain: &Path, problem: Option<&Path>) -> Self {
        let mut inputs = Self {
            sources: SourceMap::default(),
            diagnostics: Vec::new(),
            domain: None,
            problem: None,
            unreadable: false,
        };
        let (domain_source, text) = inputs.load(domain);
        if let Some(text) = text {
            let parsed = planforge_pddl::parse_domain(&text, domain_source);
            inputs.diagnostics.extend(parsed.diagnostics);
            inputs.domain = read_anything(parsed.value);
        }
        let Some(problem) = problem else {
            inputs.check_domain(domain_source);
            return inputs;
        };
        let (problem_source, text) = inputs.load(problem);
        if let Some(text) = text {
            let parsed = planforge_pddl::parse_problem(&text, problem_source);
            inputs.diagnostics.extend(parsed.diagnostics);
            inputs.problem = read_anything(parsed.value);
        }
        match (&inputs.domain, &inputs.problem) {
            (Some(domain), Some(problem)) => {
                let sources = planforge_pddl::TaskSources { domain: domain_source, problem: problem_source };
                inputs.diagnostics.extend(planforge_pddl::check_domain(domain, domain_source));
                inputs.diagnostics.extend(planforge_pddl::check_problem(domain, problem, sources));
            }
            _ => inputs.check_domain(domain_source),
        }
        inputs
    }

    fn check_domain(&mut self, source: SourceId) {
        if let Some(domain) = &self.domain {
            self.diagnostics.extend(planforge_pddl::check_domain(domain, source));
        }
    }

    /// Adds a PDDL file or a plan to the sources. A file that cannot be read is one diagnostic and no text.
    pub(crate) fn load(&mut self, path: &Path) -> (SourceId, Option<String>) {
        self.add(path, read_pddl(path))
    }

    /// As [`Inputs::load`], for a file that is not PDDL.
    pub(crate) fn load_text(&mut self, path: &Path) -> (SourceId, Option<String>) {
        self.add(path, read_text(path).map(|text| PddlText { text, warning: None }))
    }

    fn add(&mut self, path: &Path, read: Result<PddlText, Box<Diagnostic>>) -> (SourceId, Option<String>) {
        let (text, diagnostic) = match read {
            Ok(PddlText { text, warning }) => (Some(text), warning),
            Err(diagnostic) => {
                self.unreadable = true;
                (None, Some(*diagnostic))
            }
        };
        let source = self.sources.add(path.display().to_string(), text.clone().unwrap_or_default());
        self.diagnostics.extend(diagnostic.map(|mut diagnostic| {
            diagnostic.labels.iter_mut().for_each(|label| label.source = source);
            diagnostic
        }));
        (source, text)
    }

    /// As [`Inputs::load`]; but a plan file may be empty: the empty plan is right where the goal holds already.
    pub(crate) fn load_plan(&mut self, path: &Path) -> (SourceId, Option<String>) {
        match std::fs::read(path) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {
                (self.sources.add(path.display().to_string(), ""), Some(String::new()))
            }
            _ => self.load(path),
        }
    }

    /// True if a diagnostic makes the texts unusable.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The exit code of what was read, before any verdict about a plan.
    pub(crate) fn exit(&self) -> Exit {
        match (self.unreadable, self.has_errors()) {
            (true, _) => Exit::Input,
            (false, true) => Exit::Negative,
            (false, false) => Exit::Good,
        }
    }
}

/// Reads a text file.
///
/// # Errors
/// Missing, too large, binary, not UTF-8, empty.
pub(crate) fn read_text(path: &Path) -> Result<String, Box<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = read_file(path)?;
    planforge_pddl::read_bytes(&name, &bytes).map_err(|diagnostic| refused(&name, diagnostic))
}

/// Reads a PDDL file or a plan. Comments may hold bytes that are not UTF-8.
///
/// # Errors
/// As [`read_text`].
pub(crate) fn read_pddl(path: &Path) -> Result<PddlText, Box<Diagnostic>> {
    let name = path.display().to_string();
    let bytes = read_file(path)?;
    planforge_pddl::read_pddl_bytes(&name, &bytes).map_err(|diagnostic| refused(&name, diagnostic))
}

fn read_file(path: &Path) -> Result<Vec<u8>, Box<Diagnostic>> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| {
        Box::new(
            Diagnostic::error("cli.unreadable-file", format!("{name} cannot be read: {error}"))
                .help("check the path and its permissions"),
        )
    };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > planforge_pddl::MAX_TEXT_BYTES as u64 {
        let limit = planforge_pddl::MAX_TEXT_BYTES >> 20;
        return Err(Box::new(
            Diagnostic::error(
                "pddl.too-large",
                format!("{name} has {size} bytes; at most {limit} MiB are read"),
            )
            .help("is this the right file?"),
        ));
    }
    std::fs::read(path).map_err(failed)
}

/// The diagnostic of a refused file. The PDDL reader's help for empty files does not fit plans and pipelines.
pub(crate) fn refused(name: &str, mut diagnostic: Diagnostic) -> Box<Diagnostic> {
    if diagnostic.code == "pddl.empty" {
        diagnostic.message = format!("{name} is empty");
        diagnostic.help = vec!["is this the right file?".to_owned()];
    }
    Box::new(diagnostic)
}

/// `None` if nothing could be read: the reason is already reported, and an empty value would give follow-up
/// errors.
fn read_anything<T: Default + PartialEq>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}
