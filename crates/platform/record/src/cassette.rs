//! The one exchange format: a JSONL file whose first line is a header and whose other lines are records with everything
//! inline. A run folder is itself a cassette.

use crate::disk::{MAX_RECORD_BYTES, RealDisk, read_argument, write_atomically};
use crate::index::request_text;
use crate::{
    CompletionRecord, EffectRecord, Journal, Lookup, MemoryJournal, RecordError, Redactor, RunFolder,
    sha256_hex,
};
use planforge_contract::{CompletionResult, ProviderFailure, Usage};
use planforge_diagnostics::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The first line of a cassette file: where the replies come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CassetteHeader {
    /// Version of the format, 1.
    pub planforge_cassette: u32,
    /// Requested model names.
    pub models: Vec<String>,
    /// Kind of the endpoint, for example `llama-cpp-python, local`. Never a URL with a key.
    pub endpoint: String,
    /// The day of the recording, `YYYY-MM-DD`.
    pub date: String,
    pub planforge: String,
    /// Parameters that were the same for all requests, for a person.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Sample path -> out of how many samples this reply was picked. Replies that are not listed were the only ones.
    #[serde(default)]
    pub picked: BTreeMap<String, u32>,
    /// Anything else worth knowing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl CassetteHeader {
    /// The number that [`CassetteHeader::planforge_cassette`] has today.
    pub const VERSION: u32 = 1;
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
enum Line {
    Completion {
        path: String,
        role: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        llm: String,
        request: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Box<CompletionResult>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Box<ProviderFailure>>,
        #[serde(default)]
        usage: Box<Usage>,
        attempts: u32,
        elapsed_ms: u64,
    },
    Effect {
        key: String,
        path: String,
        call: String,
        result: Value,
        timed: bool,
        elapsed_ms: u64,
    },
}

/// Recorded replies to look up: a cassette file or a run folder.
#[derive(Debug)]
pub struct Cassette {
    /// The file's header; `None` for a run folder, whose manifest has the same data.
    pub header: Option<CassetteHeader>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    File(MemoryJournal),
    Folder(Box<RunFolder>),
}

impl Cassette {
    /// Opens a file or a run folder for look-ups. A file may be compressed with gzip.
    ///
    /// # Errors
    /// `record.not-a-cassette`, `record.version`, `record.corrupt`, `record.io`, or as [`RunFolder::open`].
    pub fn open(path: &Path, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        if path.is_dir() {
            let run = RunFolder::open(path, redactor)?;
            return Ok(Self { header: None, source: Source::Folder(Box::new(run)) });
        }
        let bytes = read(path).map_err(|e| RecordError::io("read the cassette", path, &e))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| RecordError::new("record.not-a-cassette", "this file is not UTF-8 text").at(path))?;
        Self::parse(&text, redactor).map_err(|e| e.at(path))
    }

    /// Reads the text of a cassette file.
    ///
    /// # Errors
    /// `record.not-a-cassette`, `record.version`, `record.corrupt`.
    pub fn parse(text: &str, redactor: Arc<Redactor>) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Version {
            planforge_cassette: u32,
        }
        let first = text.lines().next().unwrap_or_default();
        let version: Version = serde_json::from_str(first).map_err(|_| {
            RecordError::new("record.not-a-cassette", "the first line is not the header of a cassette").line(1).help(
                "a cassette is a JSONL file that `planforge` exported; its first line begins with {\"planforge_cassette\":1",
            )
        })?;
        if version.planforge_cassette != CassetteHeader::VERSION {
            return Err(RecordError::new(
                "record.version",
                format!(
                    "the cassette has version {}, this planforge reads version {}",
                    version.planforge_cassette,
                    CassetteHeader::VERSION
                ),
            )
            .line(1));
        }
        let corrupt = |line: usize| {
            move |e: serde_json::Error| {
                RecordError::new("record.corrupt", format!("unreadable line: {e}")).line(line)
            }
        };
        let header: CassetteHeader = serde_json::from_str(first).map_err(corrupt(1))?;
        let journal = MemoryJournal::new(redactor);
        for (number, line) in text.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty()) {
            let line: Line = serde_json::from_str(line).map_err(corrupt(number + 1))?;
            line.insert(&journal)?;
        }
        Ok(Self { header: Some(header), source: Source::File(journal) })
    }

    /// Warnings from reading a run folder.
    pub fn warnings(&self) -> &[Diagnostic] {
        match &self.source {
            Source::File(_) => &[],
            Source::Folder(run) => run.warnings(),
        }
    }

    /// The run folder, where it is one.
    pub fn run(&self) -> Option<&RunFolder> {
        match &self.source {
            Source::File(_) => None,
            Source::Folder(run) => Some(run),
        }
    }

    fn lookup(&self) -> &dyn Lookup {
        match &self.source {
            Source::File(journal) => journal,
            Source::Folder(run) => run.as_ref(),
        }
    }
}

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A cassette's bytes. With the log-probabilities of tokens, which take most of the room, compression is worth a factor of ten.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let bytes = read_argument(path, MAX_RECORD_BYTES)?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes.as_slice())
        .take(MAX_RECORD_BYTES + 1)
        .read_to_end(&mut text)?;
    // A few kilobytes can expand to any size.
    if read as u64 > MAX_RECORD_BYTES {
        return Err(std::io::Error::other(format!(
            "decompressed, it has more than {MAX_RECORD_BYTES} bytes"
        )));
    }
    Ok(text)
}

impl Lookup for Cassette {
    fn completion(&self, key: &str) -> Result<Option<CompletionRecord>, RecordError> {
        self.lookup().completion(key)
    }
    fn effect(&self, key: &str) -> Result<Option<EffectRecord>, RecordError> {
        self.lookup().effect(key)
    }
    fn completion_keys(&self) -> Vec<String> {
        self.lookup().completion_keys()
    }
    fn effect_keys(&self) -> Vec<String> {
        self.lookup().effect_keys()
    }
}

impl Line {
    fn insert(self, journal: &MemoryJournal) -> Result<(), RecordError> {
        match self {
            Self::Completion { path, role, llm, request, result, failure, usage, attempts, elapsed_ms } => {
                let mut record = CompletionRecord {
                    key: String::new(),
                    path,
                    role,
                    llm,
                    request,
                    result: result.map(|result| *result),
                    failure: failure.map(|failure| *failure),
                    usage: *usage,
                    attempts,
                    elapsed_ms,
                };
                // The key is computed, not stored: a request that somebody edited is then simply another request.
                record.key = format!("{}:{}", sha256_hex(request_text(&record).as_bytes()), record.path);
                journal.record_completion(&record)?;
            }
            Self::Effect { key, path, call, result, timed, elapsed_ms } => {
                journal.record_effect(&EffectRecord { key, path, call, result, timed, elapsed_ms })?;
            }
        }
        Ok(())
    }
}

/// Writes all records of `source` as one cassette file, sorted by sample path, so that the same replies give
/// the same bytes in any order of arrival. Contains only effects that depended on time; others are
/// recomputed.
///
/// # Errors
/// A record cannot be read, or the file cannot be written; no partial file remains.
pub fn export_cassette(
    source: &dyn Lookup,
    header: &CassetteHeader,
    path: &Path,
    redactor: &Redactor,
) -> Result<(), RecordError> {
    let mut text = line(header)?;
    for key in source.completion_keys() {
        if let Some(r) = source.completion(&key)? {
            text.push_str(&line(&Line::Completion {
                path: r.path,
                role: r.role,
                llm: r.llm,
                request: r.request,
                result: r.result.map(Box::new),
                failure: r.failure.map(Box::new),
                usage: Box::new(r.usage),
                attempts: r.attempts,
                elapsed_ms: r.elapsed_ms,
            })?);
        }
    }
    for key in source.effect_keys() {
        if let Some(r) = source.effect(&key)?.filter(|r| r.timed) {
            text.push_str(&line(&Line::Effect {
                key: r.key,
                path: r.path,
                call: r.call,
                result: r.result,
                timed: r.timed,
                elapsed_ms: r.elapsed_ms,
            })?);
        }
    }
    write_atomically(&RealDisk, path, &redactor.bytes(text.as_bytes()))
}

fn line<T: Serialize>(value: &T) -> Result<String, RecordError> {
    let mut text = serde_json::to_string(value)
        .map_err(|e| RecordError::new("record.corrupt", format!("a record cannot be written: {e}")))?;
    text.push('\n');
    Ok(text)
}
