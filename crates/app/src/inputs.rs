//! PDDL files that a request names: read, parsed and checked together, with every mistake in one list.

use crate::files::{pddl_of, text_of};
use crate::status::Status;
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
        let mut named = |path: &Path| named_text(path, pddl_of(path), &mut unreadable);
        let domain = named(domain);
        let problem = problem.map(named);
        Self { texts: TaskTexts::read(domain, problem), unreadable }
    }

    /// Adds a PDDL file or a plan to the sources. A file that cannot be read is one diagnostic and no text.
    pub(crate) fn load(&mut self, path: &Path) -> (SourceId, Option<String>) {
        self.texts.add(named_text(path, pddl_of(path), &mut self.unreadable))
    }

    /// As [`Inputs::load`], for a file that is not PDDL.
    pub(crate) fn load_text(&mut self, path: &Path) -> (SourceId, Option<String>) {
        let read = text_of(path).map(|text| PddlText { text, warning: None });
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
    pub(crate) fn exit(&self) -> Status {
        match (self.unreadable, self.has_errors()) {
            (true, _) => Status::Input,
            (false, true) => Status::Negative,
            (false, false) => Status::Good,
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
