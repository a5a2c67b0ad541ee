//! Destinations of pages and texts while a report is built, and the source of a record's documents.
//! Unreadable documents are noted on their page and do not end the report.

use crate::chunks::{Spool, Store};
use crate::documents::{PageId, TextId, Turn};
use planforge_contract::{Failure, FailureClass, Message, Speaker};
use planforge_record::{Journal as _, RunFolder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;

/// The stores of a report that is being built.
pub(crate) struct Stores {
    spool: Spool,
    texts: Store,
    pages: Store,
    /// Documents of the run at hand that could not be read.
    pub(crate) unreadable: usize,
}

/// A finished set of stores.
pub(crate) struct Finished {
    pub(crate) spool: Spool,
    pub(crate) text_chunks: Vec<u32>,
    pub(crate) page_chunks: Vec<u32>,
}

impl Stores {
    pub(crate) fn new() -> Result<Self, Failure> {
        let spool = Spool::new().map_err(|e| broken(&e))?;
        Ok(Self { spool, texts: Store::new("text"), pages: Store::new("page"), unreadable: 0 })
    }

    pub(crate) fn text(&mut self, text: &str) -> Result<TextId, Failure> {
        self.texts.text(&mut self.spool, text).map_err(|e| broken(&e))
    }

    pub(crate) fn page(&mut self, page: &impl Serialize) -> Result<PageId, Failure> {
        self.pages.push(&mut self.spool, page).map_err(|e| broken(&e))
    }

    pub(crate) fn turns(&mut self, messages: &[Message]) -> Result<Vec<Turn>, Failure> {
        messages.iter().map(|m| Ok(Turn { role: speaker(m.role), text: self.text(&m.content)? })).collect()
    }

    pub(crate) fn finish(mut self) -> Result<Finished, Failure> {
        let text_chunks = self.texts.finish(&mut self.spool).map_err(|e| broken(&e))?;
        let page_chunks = self.pages.finish(&mut self.spool).map_err(|e| broken(&e))?;
        Ok(Finished { spool: self.spool, text_chunks, page_chunks })
    }
}

/// The report cannot be written.
pub(crate) fn broken(error: &io::Error) -> Failure {
    Failure::new(FailureClass::System, "report.io", format!("the report cannot be written: {error}"))
        .help("make room on the disk, or name another place with --out; TMPDIR is where its parts wait")
}

pub(crate) const fn speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    }
}

/// A document of the record.
///
/// # Errors
/// Reason why the artefact cannot be read.
pub(crate) fn document<T: DeserializeOwned>(run: &RunFolder, blob: &str) -> Result<T, String> {
    let bytes = run.get(blob).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("blob {blob} does not hold the document that the journal names: {error}"))
}
