//! PDDL files from the command line: read, parsed and checked together, with every mistake in one list.

use crate::exit::Exit;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::PddlText;
use planforge_plugin_common::judging::{NamedText, TaskTexts};
use std::path::Path;

/// A domain and a problem from files.
pub(crate) struct Inputs {
    pub(crate) texts: TaskTexts,
    /// True if a file could not be read, so nothing was judged.
    pub(crate) unreadable: bool,
}

impl Inputs {
    /// Reads the domain and, where given, the problem; checks each and both together.
    pub(crate) fn read(domain: &Path, problem: Option<&Path>) -> Self {
        let mut unreadable = false;
        let mut named = |path: &Path| named_text(path, read_pddl(path), &mut unreadable);
        let domain = named(domain);
        let problem = problem.map(named);
        Self { texts: TaskTexts::read(domain, problem), unreadable }
    }

    /// Adds a PDDL file or a plan to the sources. A file that cannot be read is one diagnostic and no text.
    pub(crate) fn load(&mut self, path: &Path) -> (SourceId, Option<String>) {
        self.texts.add(named_text(path, read_pddl(path), &mut self.unreadable))
    }

    /// As [`Inputs::load`], for a file that is not PDDL.
    pub(crate) fn load_text(&mut self, path: &Path) -> (SourceId, Option<String>) {
        let read = read_text(path).map(|text| PddlText { text, warning: None });
        self.texts.add(named_text(path, read, &mut self.unreadable))
    }

    /// As [`Inputs::load`]; but a plan file may be empty: the empty plan is right where the goal holds already.
    pub(crate) fn load_plan(&mut self, path: &Path) -> (SourceId, Option<String>) {
        match std::fs::read(path) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {
                self.texts.add(NamedText::new(path.display().to_string(), ""))
            }
            _ => self.load(path),
        }
    }

    /// True if a diagnostic makes the texts unusable.
    pub(crate) fn has_errors(&self) -> bool {
        self.texts.has_errors()
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

fn named_text(path: &Path, read: Result<PddlText, Box<Diagnostic>>, unreadable: &mut bool) -> NamedText {
    let name = path.display().to_string();
    match read {
        Ok(PddlText { text, warning }) => NamedText { name, text: Some(text), finding: warning },
        Err(diagnostic) => {
            *unreadable = true;
            NamedText { name, text: None, finding: Some(*diagnostic) }
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
