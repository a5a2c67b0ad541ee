//! PDDL files from the command line: read, parsed and checked together, with every mistake in one list.

use crate::exit::Exit;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
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

    /// Adds a file to the sources. A file that cannot be read is one diagnostic and no text.
    pub(crate) fn load(&mut self, path: &Path) -> (SourceId, Option<String>) {
        match read_text(path) {
            Ok(text) => (self.sources.add(path.display().to_string(), text.clone()), Some(text)),
            Err(mut diagnostic) => {
                self.unreadable = true;
                let source = self.sources.add(path.display().to_string(), "");
                for label in &mut diagnostic.labels {
                    label.source = source;
                }
                self.diagnostics.push(*diagnostic);
                (source, None)
            }
        }
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

/// The text of a file, or why there is none: missing, too large, binary, not UTF-8, empty.
pub(crate) fn read_text(path: &Path) -> Result<String, Box<Diagnostic>> {
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
    let bytes = std::fs::read(path).map_err(failed)?;
    planforge_pddl::read_bytes(&name, &bytes).map_err(|mut diagnostic| {
        // The reader's way out is about PDDL; plans and pipelines come through here too.
        if diagnostic.code == "pddl.empty" {
            diagnostic.message = format!("{name} is empty");
            diagnostic.help = vec!["is this the right file?".to_owned()];
        }
        Box::new(diagnostic)
    })
}

/// `None` if nothing could be read: the reason is already reported, and an empty value would give follow-up
/// errors.
fn read_anything<T: Default + PartialEq>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}
