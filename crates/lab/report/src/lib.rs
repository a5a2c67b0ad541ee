//! One self-contained HTML file from a run folder or an evaluation: a table to drill into, the lineage of
//! every candidate, every prompt and reply, and diagnostics in place. It opens from a disk without a network,
//! and shows ten thousand candidates.
//!
//! [`Contents`] reads runs one after the other and documents one by one. `chunks` packs pages and texts so
//! that a browser unpacks only the shown ones; `documents` are the pages, which assets/js draws. Texts of
//! models are data throughout: they cross as JSON inside base64 and become text nodes.

mod calls;
mod candidates;
mod cell;
pub mod changes;
mod chunks;
pub mod curve;
mod documents;
mod metrics;
pub mod otlp;
mod outline;
mod page;
pub mod picture;
mod prices;
mod source;
pub mod states;
mod tree;

use chunks::{Chunks, Stores};
use documents::{Index, MethodsEntry};
use planforge_contract::Failure;
use planforge_diagnostics::{CodeInfo, code_table};
use source::{Source, SuiteTexts};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// The name in [`planforge_record::RunManifest::settings`] of the list of `[llm.NAME]` tables whose provider only simulates a model.
pub const SIMULATED: &str = "simulated";

/// The name in [`planforge_record::RunManifest::settings`] of the prices that came from a list, by `[llm.NAME]` table.
pub const PRICES: &str = "prices";

/// Counts of a written report.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Runs that there are.
    pub runs: usize,
    /// Tasks of these runs.
    pub tasks: usize,
    pub candidates: usize,
    /// Questions to models.
    pub calls: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// Unreadable parts, for a person; they are in the report too.
    pub warnings: Vec<String>,
}

/// Everything that a report shows: an index, and pages and texts in compressed chunks. The one-file report has all of it; the page of a
/// server asks for one chunk after the other. The chunks are in a temporary file.
pub struct Contents {
    index: Index,
    json: String,
    chunks: Chunks,
    written: Written,
}

impl Contents {
    /// Reads these folders, each of a run or of an evaluation. `progress` is called with the number of runs that are done and of all.
    /// The same folders give the same contents.
    ///
    /// # Errors
    /// `report.nothing` where a folder is neither, `report.io` where the temporary file cannot be written, `record.*` where a run cannot be read.
    pub fn read(folders: &[PathBuf], progress: &mut dyn FnMut(usize, usize)) -> Result<Self, Failure> {
        let source = Source::open_all(folders)?;
        let mut written = Written { warnings: source.warnings.clone(), ..Written::default() };
        let mut stores = Stores::new()?;
        let mut texts = SuiteTexts::default();
        let mut cells = Vec::new();
        for (done, cell) in source.cells.iter().enumerate() {
            progress(done, source.cells.len());
            let entry = cell::write(cell, &mut stores, &mut texts, &mut written.warnings)?;
            written.runs += usize::from(entry.page.is_some());
            let counts = &entry.counts;
            written.tasks +=
                counts.solved + counts.not_solved + counts.undecided + counts.failed + counts.unfinished;
            written.candidates += entry.candidates;
            written.calls += entry.calls;
            cells.push(entry);
        }
        let mut tables = Vec::new();
        for (name, text) in &source.tables {
            tables.push((name.clone(), stores.text(text)?));
        }
        let mut methods = Vec::new();
        for own in source.methods {
            let figure = own.figure.map(|figure| stores.text(&figure)).transpose()?;
            methods.push(MethodsEntry::new(&own.methods, figure));
        }
        progress(source.cells.len(), source.cells.len());
        let finished = stores.finish()?;
        let styles =
            BTreeMap::from([("curve", planforge_evaluate::chart::STYLE), ("picture", picture::STYLE)]);
        let index = Index {
            schema: 1,
            kind: source.kind,
            title: source.title,
            planforge: env!("CARGO_PKG_VERSION").to_owned(),
            cells,
            tables,
            methods,
            warnings: written.warnings.clone(),
            styles,
            text_chunks: finished.text_chunks,
            page_chunks: finished.page_chunks,
        };
        let json = serde_json::to_string(&index).map_err(|error| chunks::broken(&error.into()))?;
        Ok(Self { index, json, chunks: finished.chunks, written })
    }

    /// The index as JSON: the first table, and which chunk has which pages and texts.
    pub fn index(&self) -> &str {
        &self.json
    }

    /// The chunk of this name (`page-0`, `text-3`): a JSON array, compressed with gzip. `None` if there is no such chunk.
    ///
    /// # Errors
    /// `report.io` where the temporary file cannot be read.
    pub fn chunk(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.chunks.get(name)
    }

    /// Counts of the contents; `bytes` is 0.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// Writes the one-file report.
    ///
    /// # Errors
    /// `report.io`.
    pub fn write(mut self, out: &mut dyn Write) -> Result<Written, Failure> {
        self.written.bytes = page::write(&self.index, &self.json, &self.chunks, out)?;
        Ok(self.written)
    }
}

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
