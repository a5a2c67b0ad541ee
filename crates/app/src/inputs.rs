//! PDDL texts that a request gives or names: read, parsed and checked together, with every mistake in one list.

use crate::context::Context;
use crate::files::{read_file, refused};
use crate::status::Status;
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::{Diagnostic, Severity, SourceId, SourceMap};
use planforge_pddl::PddlText;
use planforge_plugin_common::judging::{NamedText, TaskTexts};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A text of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file. Findings name it by this path.
    File(PathBuf),
    /// A text.
    Text {
        /// Its name in findings: `domain`, `problem`, `plan`.
        name: String,
        /// The text.
        text: String,
    },
    /// A text as it was read from elsewhere, in UTF-8 except for comments.
    Bytes {
        /// Its name in findings.
        name: String,
        /// The text.
        bytes: Vec<u8>,
    },
}

impl Source {
    /// A text with its name in findings.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Text { name: name.into(), text: text.into() }
    }

    /// The name in findings.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Self::File(path) => path.display().to_string().into(),
            Self::Text { name, .. } | Self::Bytes { name, .. } => name.into(),
        }
    }

    /// A file of this name in the folder of the source; `None` if the source is not a file, or if there is no such file.
    pub(crate) fn beside(&self, context: &Context, file_name: &str) -> Option<Self> {
        let Self::File(path) = self else { return None };
        let beside = path.parent().unwrap_or(Path::new("")).join(file_name);
        context.path(&beside).exists().then_some(Self::File(beside))
    }

    /// Reads a PDDL text or a plan. Comments may hold bytes that are not UTF-8.
    ///
    /// # Errors
    /// Missing, too large, binary, not UTF-8, empty.
    pub fn read_pddl(&self, context: &Context) -> Result<PddlText, Box<Diagnostic>> {
        let name = self.name();
        planforge_pddl::read_pddl_bytes(&name, &self.bytes(context)?).map_err(|found| match self {
            Self::File(_) => refused(&name, found),
            Self::Text { .. } | Self::Bytes { .. } => Box::new(found),
        })
    }

    /// Reads a text that is not PDDL. Only a file may not be empty.
    ///
    /// # Errors
    /// As of [`Source::read_pddl`].
    pub(crate) fn read_text(&self, context: &Context) -> Result<String, Box<Diagnostic>> {
        let (name, bytes) = (self.name(), self.bytes(context)?);
        if !matches!(self, Self::File(_)) && bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(String::new());
        }
        planforge_pddl::read_bytes(&name, &bytes).map_err(|found| refused(&name, found))
    }

    /// The bytes, which a file may have too many of.
    fn bytes(&self, context: &Context) -> Result<Cow<'_, [u8]>, Box<Diagnostic>> {
        match self {
            Self::File(path) => read_file(&self.name(), &context.path(path)).map(Cow::Owned),
            Self::Text { text, .. } => Ok(text.as_bytes().into()),
            Self::Bytes { bytes, .. } => Ok(bytes.into()),
        }
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// Findings about the texts of a request.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The findings, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: SourceMap,
}

impl Findings {
    /// The findings with their places, as documents hold them.
    pub fn reported(&self) -> Vec<ReportedDiagnostic> {
        self.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &self.sources)).collect()
    }

    /// True if one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// A domain and a problem that were read.
pub(crate) struct Inputs {
    pub(crate) texts: TaskTexts,
    /// True if a file could not be read, so nothing was judged.
    pub(crate) unreadable: bool,
}

impl Inputs {
    /// Reads the domain and, where given, the problem; checks each and both together.
    pub(crate) fn read(context: &Context, domain: &Source, problem: Option<&Source>) -> Self {
        let mut unreadable = false;
        let mut named = |source: &Source| named_text(source, source.read_pddl(context), &mut unreadable);
        let domain = named(domain);
        let problem = problem.map(named);
        Self { texts: TaskTexts::read(domain, problem), unreadable }
    }

    /// Adds a PDDL text or a plan to the sources. A text that cannot be read is one diagnostic and no text.
    pub(crate) fn load(&mut self, context: &Context, source: &Source) -> (SourceId, Option<String>) {
        self.texts.add(named_text(source, source.read_pddl(context), &mut self.unreadable))
    }

    /// As [`Inputs::load`], for a text that is not PDDL.
    pub(crate) fn load_text(&mut self, context: &Context, source: &Source) -> (SourceId, Option<String>) {
        let read = source.read_text(context).map(|text| PddlText { text, warning: None });
        self.texts.add(named_text(source, read, &mut self.unreadable))
    }

    /// As [`Inputs::load`]; but a plan may be empty: the empty plan is right where the goal holds already.
    pub(crate) fn load_plan(&mut self, context: &Context, source: &Source) -> (SourceId, Option<String>) {
        match source.bytes(context) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => {
                self.texts.add(NamedText::new(source.name(), ""))
            }
            _ => self.load(context, source),
        }
    }

    /// True if a diagnostic makes the texts unusable.
    pub(crate) fn has_errors(&self) -> bool {
        self.texts.has_errors()
    }

    /// The status of what was read, before any verdict about a plan.
    pub(crate) fn status(&self) -> Status {
        match (self.unreadable, self.has_errors()) {
            (true, _) => Status::Input,
            (false, true) => Status::Negative,
            (false, false) => Status::Good,
        }
    }

    /// The text of the domain (0), of the problem (1), or of what was loaded after them.
    pub(crate) fn text(&self, source: u32) -> &str {
        self.texts.sources.get(SourceId(source)).map(|file| file.text.as_str()).unwrap_or_default()
    }

    /// The findings that touch a plan or its validation. Remarks about the texts are left out, such as an object that is not used.
    pub(crate) fn into_findings_of_result(mut self) -> Findings {
        self.texts.diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Advice);
        self.into_findings()
    }

    /// The findings, and the texts that they are about.
    pub(crate) fn into_findings(self) -> Findings {
        Findings { diagnostics: self.texts.diagnostics, sources: self.texts.sources }
    }
}

fn named_text(source: &Source, read: Result<PddlText, Box<Diagnostic>>, unreadable: &mut bool) -> NamedText {
    let name = source.name().into_owned();
    match read {
        Ok(PddlText { text, warning }) => NamedText { name, text: Some(text), finding: warning },
        Err(diagnostic) => {
            *unreadable = true;
            NamedText { name, text: None, finding: Some(*diagnostic) }
        }
    }
}
