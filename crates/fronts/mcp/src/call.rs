//! One tool call: its limits, its texts, its client.

use crate::backend::Backend;
use crate::client::ClientPort;
use crate::codes::{cancelled, file_failure, wrong_arguments};
use crate::limits::{CallLimits, LimitArguments};
use crate::reports::Reports;
use crate::roots::Roots;
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::SourceId;
use planforge_pddl::{PddlText, read_pddl_bytes};
use planforge_pipeline::read_sentences;
use planforge_plugin_common::judging::{NamedText, TaskTexts};
use planforge_plugin_sdk::wording::Wording;
use schemars::JsonSchema;
use serde::Deserialize;
use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::sync::Arc;

/// A text: given as it is, or as a file under a root of the client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum TextArgument {
    /// The text itself.
    Text(String),
    /// A file under a root that the client grants: relative to a root, or with its full path.
    Path(String),
}

/// A tool call under way, on its own thread.
pub(crate) struct Call {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) client: Arc<ClientPort>,
    /// Reports of this connection.
    pub(crate) reports: Arc<Reports>,
    pub(crate) cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// The texts of a call, within its limit on input.
pub(crate) struct CallTexts<'c> {
    call: &'c Call,
    roots: OnceCell<Roots>,
    /// Bytes that may still be read.
    left: Cell<u64>,
    most: u64,
}

impl Call {
    /// The limits of the call, whose time begins now.
    pub(crate) fn limits(&self, given: LimitArguments) -> Result<CallLimits, Failure> {
        CallLimits::new(given, Arc::clone(&self.cancelled))
    }

    /// A reader of the call's texts.
    pub(crate) fn texts(&self, limits: &CallLimits) -> CallTexts<'_> {
        let most = limits.input_bytes;
        CallTexts { call: self, roots: OnceCell::new(), left: Cell::new(most), most }
    }

    /// The failure of a call that the client has cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), Failure> {
        if (self.cancelled)() { Err(cancelled()) } else { Ok(()) }
    }
}

impl CallTexts<'_> {
    /// Reads PDDL or a plan. `role` names a text that is not a file.
    pub(crate) fn read(&self, role: &str, argument: &TextArgument) -> Result<NamedText, Failure> {
        let (name, bytes) = match argument {
            TextArgument::Text(text) => (role.to_owned(), text.as_bytes().to_vec()),
            TextArgument::Path(path) => (path.clone(), self.roots()?.read(path, self.left.get())?),
        };
        self.charge(bytes.len())?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(NamedText::new(name, ""));
        }
        Ok(match read_pddl_bytes(&name, &bytes) {
            Ok(PddlText { text, warning }) => NamedText { name, text: Some(text), finding: warning },
            Err(finding) => NamedText { name, text: None, finding: Some(finding) },
        })
    }

    /// Counts a text that is not PDDL, and returns it.
    pub(crate) fn text(&self, text: &str) -> Result<String, Failure> {
        self.charge(text.len())?;
        Ok(text.to_owned())
    }

    /// The sentences of the file `sentences.toml` beside a domain file, whose mistakes are added to the findings. Without the file, and
    /// for a domain given as text, facts read by their names.
    pub(crate) fn wording(&self, domain: &TextArgument, texts: &mut TaskTexts) -> Wording {
        let beside = |path: &str| {
            let place = self.roots().ok()?.open(path).ok()?.1.with_file_name("sentences.toml");
            self.read("sentences", &TextArgument::Path(place.display().to_string())).ok()
        };
        let TextArgument::Path(path) = domain else { return Wording::default() };
        let Some(named) = beside(path) else { return Wording::default() };
        let (source, text) = texts.add(named);
        let domain = texts.sources.get(SourceId(0)).map(|file| file.text.clone()).unwrap_or_default();
        let sentences = text
            .map(|text| read_sentences(&text, source, &domain, &mut texts.diagnostics))
            .unwrap_or_default();
        Wording::new(&sentences.facts)
    }

    /// Reads a text file under a root; returns its full path too.
    pub(crate) fn file(&self, path: &str) -> Result<(PathBuf, String), Failure> {
        let (place, bytes) = self.roots()?.read_with_place(path, self.left.get())?;
        self.charge(bytes.len())?;
        let text = String::from_utf8(bytes).map_err(|_| file_failure(path, "it is not UTF-8"))?;
        Ok((place, text))
    }

    /// The roots that the client grants.
    pub(crate) fn roots(&self) -> Result<&Roots, Failure> {
        if self.roots.get().is_none() {
            let uris = self.call.client.root_uris()?;
            // Set once: the call has one thread.
            drop(self.roots.set(Roots::of_uris(uris.iter().map(String::as_str))));
        }
        self.roots.get().ok_or_else(|| wrong_arguments("the client grants no roots"))
    }

    fn charge(&self, bytes: usize) -> Result<(), Failure> {
        match self.left.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                let message = format!("the texts of the call exceed the limit of {} MB", self.most >> 20);
                Err(Failure::new(FailureClass::Limit, "mcp.input-size", message)
                    .help("raise `input_mb` in `limits`, up to 64"))
            }
        }
    }
}

/// The host of a plugin that a call uses: cancellation, time, progress.
pub(crate) struct CallHost<'c> {
    pub(crate) call: &'c Call,
    pub(crate) limits: &'c CallLimits,
}

/// Milliseconds that a plugin gets to answer after its own limit, also on a busy machine.
const HOST_MARGIN_MS: u64 = 10_000;

impl Host for CallHost<'_> {
    fn log(&self, _level: LogLevel, message: &str) {
        self.call.client.progress(0.0, None, message);
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.call.client.progress(done as f64, (total > 0).then_some(total as f64), what);
    }
    fn cancelled(&self) -> bool {
        self.limits.is_cancelled()
    }
    fn remaining_ms(&self) -> Option<u64> {
        Some(self.limits.remaining_ms().saturating_add(HOST_MARGIN_MS))
    }
}
