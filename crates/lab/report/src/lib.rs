//! One self-contained HTML file from a run folder or an evaluation: a table to drill into, the lineage of
//! every candidate, every prompt and reply, and diagnostics in place. It opens from a disk without a network,
//! and shows ten thousand candidates.
//!
//! [`write()`] reads runs one after the other and documents one by one; [`Contents`] reads requests and results for its index, and all other documents only of tasks that are asked for. `chunks` packs pages and texts so
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

use cell::{CellRun, TaskWriting};
use chunks::Stores;
use documents::{Firsts, Index, MethodsEntry, PageId};
use planforge_contract::Failure;
use planforge_diagnostics::{CodeInfo, code_table};
use source::{Source, SuiteTexts};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// A report that a server answers part by part: an index, and pages and texts in compressed chunks. The pages of a task are written when they are
/// asked for, so that the index of ten thousand tasks needs no plan, picture or text of them. The chunks are in a temporary file.
pub struct Contents {
    index: String,
    tasks: Mutex<OpenTasks>,
}

/// The tasks whose pages may be asked for.
struct OpenTasks {
    runs: Vec<Option<CellRun>>,
    /// Pages that were written, by run and task.
    written: HashMap<(usize, usize), PageId>,
    stores: Stores,
    texts: SuiteTexts,
}

/// Pages of tasks, and where the chunks begin now.
#[derive(serde::Serialize)]
pub struct TaskPages {
    pages: Vec<PageId>,
    #[serde(flatten)]
    chunks: Firsts,
}

impl Contents {
    /// Reads these folders, each of a run or of an evaluation. `progress` is called with the number of runs that are done and of all.
    ///
    /// # Errors
    /// As for [`write()`].
    pub fn read(folders: &[PathBuf], progress: &mut dyn FnMut(usize, usize)) -> Result<Self, Failure> {
        let ReadFolders { index, runs, stores, texts, .. } = read(folders, TaskWriting::Later, progress)?;
        let tasks = Mutex::new(OpenTasks { runs, written: HashMap::new(), stores, texts });
        Ok(Self { index: to_json(&index)?, tasks })
    }

    /// The index as JSON: the first table, and which chunk has which pages and texts.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// The chunk of this name (`page-0`, `text-3`): a JSON array, compressed with gzip. `None` if there is no such chunk.
    ///
    /// # Errors
    /// `report.io` where the temporary file cannot be read.
    pub fn chunk(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.open().stores.chunk(name)
    }

    /// The pages of tasks of a run, by places in the index and in the page of the run; those that are missing are written. `None` if there is no such run.
    ///
    /// # Errors
    /// `report.io` where the temporary file cannot be written.
    pub fn task_pages(&self, run: usize, tasks: Range<usize>) -> Result<Option<TaskPages>, Failure> {
        let mut pages = Vec::new();
        for place in tasks {
            // The lock is free between two tasks: another tab does not wait for all of them.
            let OpenTasks { runs, written, stores, texts } = &mut *self.open();
            let Some(Some(cell)) = runs.get(run) else { return Ok(None) };
            let page = match written.get(&(run, place)) {
                Some(page) => Some(*page),
                None => cell.write_task_at(place, texts, stores)?,
            };
            let Some(page) = page else { break };
            written.insert((run, place), page);
            pages.push(page);
        }
        Ok(Some(TaskPages { pages, chunks: self.open().stores.flush()? }))
    }

    fn open(&self) -> MutexGuard<'_, OpenTasks> {
        // A panic while the lock was held loses at most the value that was being added.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the one-file report of these folders, each of a run or of an evaluation. `progress` is called with the number of runs that are done and of all.
/// The same folders give the same bytes.
///
/// # Errors
/// `report.nothing` where a folder is neither, `report.io` where a file cannot be written, `record.*` where a run cannot be read.
pub fn write(
    folders: &[PathBuf],
    progress: &mut dyn FnMut(usize, usize),
    out: &mut dyn Write,
) -> Result<Written, Failure> {
    let ReadFolders { index, mut written, stores, .. } = read(folders, TaskWriting::Now, progress)?;
    written.bytes = page::write(&index, &to_json(&index)?, &stores, out)?;
    Ok(written)
}

struct ReadFolders {
    index: Index,
    /// By cell, its run, if its tasks are written later.
    runs: Vec<Option<CellRun>>,
    stores: Stores,
    texts: SuiteTexts,
    written: Written,
}

fn read(
    folders: &[PathBuf],
    tasks: TaskWriting,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ReadFolders, Failure> {
    let source = Source::open_all(folders)?;
    let mut written = Written { warnings: source.warnings.clone(), ..Written::default() };
    let mut stores = Stores::new()?;
    let mut texts = SuiteTexts::default();
    let (mut cells, mut runs) = (Vec::new(), Vec::new());
    for (done, cell) in source.cells.iter().enumerate() {
        progress(done, source.cells.len());
        let (entry, run) = cell::write(cell, tasks, &mut stores, &mut texts, &mut written.warnings)?;
        written.runs += usize::from(entry.page.is_some());
        let counts = &entry.counts;
        written.tasks +=
            counts.solved + counts.not_solved + counts.undecided + counts.failed + counts.unfinished;
        written.candidates += entry.candidates;
        written.calls += entry.calls;
        cells.push(entry);
        runs.push(run.filter(|_| tasks == TaskWriting::Later));
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
    let styles = BTreeMap::from([("curve", planforge_evaluate::chart::STYLE), ("picture", picture::STYLE)]);
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
        chunks: stores.flush()?,
    };
    Ok(ReadFolders { index, runs, stores, texts, written })
}

fn to_json(index: &Index) -> Result<String, Failure> {
    serde_json::to_string(index).map_err(|error| chunks::broken(&error.into()))
}

/// Every code of this crate, for `planforge explain`.
pub const CODES: &[CodeInfo] = code_table!("codes.md");
