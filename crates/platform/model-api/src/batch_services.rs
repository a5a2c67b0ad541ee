//! Batch services: sends request files to OpenAI's Batch API or Anthropic's Message Batches, and downloads the answers.
//!
//! The shapes are those of the services' Python SDKs, read on 2026-11-23: openai-python e43b4224 (`types/batch.py`,
//! `types/file_object.py`) and anthropic-sdk-python 009b0353 (`types/messages/message_batch.py`). Not tried against the live
//! services.
//!
//! `submitted.json` in the batch folder says what was sent where. It is written before each request that creates a batch and
//! after it, so that a crash submits nothing twice.

mod calls;
mod services;

use crate::batch::{BatchFolder, MAX_FILE_BYTES, MAX_FILE_REQUESTS, WrittenFile, io_failure};
use calls::{Calls, MAX_ATTEMPTS, fetch_results};
use planforge_contract::{Failure, FailureClass, ProviderFailureClass};
use planforge_diagnostics::{CodeInfo, code_table};
use planforge_llm::Clock;
use planforge_record::{MAX_RECORD_BYTES, Redactor, read_regular, sha256_hex};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use calls::{ConnectionSettings, FetchedResults, Service, ServiceConnection};

/// Wait before the second look at batches that are awaited; it doubles up to [`LONGEST_POLL`].
const FIRST_POLL: Duration = Duration::from_secs(2);
const LONGEST_POLL: Duration = Duration::from_secs(60);

/// Sends request files to their services and downloads the answers.
#[derive(Clone, Copy)]
pub struct BatchClient<'a> {
    pub folder: &'a BatchFolder,
    /// The request files in the folder.
    pub files: &'a [WrittenFile],
    /// Returns the connection for a request file.
    pub connect: &'a dyn Fn(&WrittenFile) -> Result<Arc<ServiceConnection>, Failure>,
    pub clock: &'a dyn Clock,
    /// Returns the time, RFC 3339.
    pub now: &'a dyn Fn() -> String,
    pub cancelled: &'a (dyn Fn() -> bool + Send + Sync),
    pub redactor: &'a Redactor,
    /// Receives lines about the progress.
    pub note: &'a dyn Fn(&str),
}

/// One request file and its batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BatchLine {
    /// Name of the request file.
    pub file: String,
    pub requests: usize,
    /// Requests without an answer in the folder.
    pub open: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// True if this command submitted the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub submitted: bool,
    /// The batch as the service describes it, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<BatchProgress>,
    /// True if the results are in the folder.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fetched: bool,
    /// The results that this command downloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<FetchedResults>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl BatchLine {
    fn new(file: &WrittenFile, entry: Option<&SubmittedFile>) -> Self {
        Self {
            file: file.name.clone(),
            requests: file.ids.len(),
            open: file.open,
            service: entry.map(|entry| entry.service),
            batch: entry.and_then(|entry| entry.batch.clone()),
            submitted: false,
            progress: None,
            fetched: entry.is_some_and(|entry| entry.fetched_at.is_some()),
            results: None,
            failure: None,
        }
    }

    /// True if answers may still arrive for the file's batch.
    pub fn is_awaited(&self) -> bool {
        self.batch.is_some() && !self.fetched
    }

    /// True if the file has to be submitted.
    pub const fn is_unsent(&self) -> bool {
        self.batch.is_none() && self.open > 0
    }
}

impl BatchClient<'_> {
    /// Submits every file that has requests without an answer and that was not submitted.
    ///
    /// # Errors
    /// The first failure. What was submitted before is recorded.
    pub fn submit(&self) -> Result<Vec<BatchLine>, Failure> {
        let mut state = SubmittedFiles::lock(self.folder.path())?;
        let mut lines = Vec::new();
        for file in self.files {
            let entry = state.of(&file.name).cloned();
            let is_done = match &entry {
                Some(entry) => entry.batch.is_some(),
                None => file.open == 0,
            };
            if is_done {
                lines.push(BatchLine::new(file, entry.as_ref()));
                continue;
            }
            let batch = self.send(&mut state, file, entry)?;
            let line = BatchLine::new(file, state.of(&file.name));
            lines.push(BatchLine { submitted: true, progress: Some(batch.progress), ..line });
        }
        Ok(lines)
    }

    /// Asks the services about every batch whose results are not in the folder.
    ///
    /// # Errors
    /// Failures of the folder. Those of a batch are in its line.
    pub fn status(&self) -> Result<Vec<BatchLine>, Failure> {
        let state = SubmittedFiles::read(self.folder.path())?;
        let line = |file: &WrittenFile| {
            let mut line = BatchLine::new(file, state.of(&file.name));
            if line.is_awaited() {
                match state.of(&file.name).map(|entry| self.retrieve(file, entry)) {
                    Some(Ok((_, batch))) => line.progress = Some(batch.progress),
                    Some(Err(failure)) => line.failure = Some(failure),
                    None => {}
                }
            }
            line
        };
        Ok(self.files.iter().map(line).collect())
    }

    /// Downloads the results of every batch that has ended; with `wait`, looks again until all have.
    ///
    /// # Errors
    /// Failures of the folder, and an interrupt. Those of a batch are in its line.
    pub fn fetch(&self, wait: bool) -> Result<Vec<BatchLine>, Failure> {
        let mut state = SubmittedFiles::lock(self.folder.path())?;
        let mut lines: Vec<BatchLine> =
            self.files.iter().map(|file| BatchLine::new(file, state.of(&file.name))).collect();
        let mut poll = FIRST_POLL;
        loop {
            for (file, line) in self.files.iter().zip(&mut lines) {
                if line.is_awaited() && line.failure.is_none() {
                    match self.fetch_file(&mut state, file, line) {
                        Err(failure) if failure.class == FailureClass::Cancelled => return Err(failure),
                        fetched => line.failure = fetched.err(),
                    }
                }
            }
            if !wait || !lines.iter().any(|line| line.is_awaited() && line.failure.is_none()) {
                return Ok(lines);
            }
            if !self.clock.sleep(poll, &|| (self.cancelled)()) {
                let message = "interrupted; `planforge batch fetch` goes on";
                return Err(Failure::new(FailureClass::Cancelled, "batch.interrupted", message));
            }
            poll = (poll * 2).min(LONGEST_POLL);
        }
    }

    fn fetch_file(
        &self,
        state: &mut SubmittedFiles,
        file: &WrittenFile,
        line: &mut BatchLine,
    ) -> Result<(), Failure> {
        let Some(entry) = state.of(&file.name).cloned() else { return Ok(()) };
        let (connection, batch) = self.retrieve(file, &entry)?;
        if line.progress.as_ref() != Some(&batch.progress) {
            let progress = &batch.progress;
            (self.note)(&format!("{}: batch {} is {}", file.name, batch.id, progress.text()));
        }
        line.progress = Some(batch.progress.clone());
        if !batch.progress.ended {
            return Ok(());
        }
        (self.note)(&format!("{}: downloading the results of batch {}", file.name, batch.id));
        let results = fetch_results(&self.calls(&connection), &batch, file, &self.folder.answers())?;
        state.set(&SubmittedFile { fetched_at: Some((self.now)()), ..entry })?;
        line.fetched = true;
        line.results = Some(results);
        Ok(())
    }

    fn calls<'c>(&'c self, connection: &'c ServiceConnection) -> Calls<'c> {
        Calls { connection, clock: self.clock, cancelled: self.cancelled, redactor: self.redactor }
    }

    /// The connection of an entry; its batch is at the server that it was sent to.
    fn connection_of(
        &self,
        file: &WrittenFile,
        entry: &SubmittedFile,
    ) -> Result<Arc<ServiceConnection>, Failure> {
        let connection = (self.connect)(file)?;
        let server = connection.server.base_url();
        if (connection.service, server) != (entry.service, entry.server.as_str()) {
            let message = format!(
                "{} was submitted to {}, and the model table names {server}",
                file.name, entry.server
            );
            return Err(Failure::new(FailureClass::Request, "batch.state", message));
        }
        Ok(connection)
    }

    fn retrieve(
        &self,
        file: &WrittenFile,
        entry: &SubmittedFile,
    ) -> Result<(Arc<ServiceConnection>, ServiceBatch), Failure> {
        let connection = self.connection_of(file, entry)?;
        let calls = self.calls(&connection);
        let id = entry.batch.as_deref().filter(|id| calls::is_plain(id)).unwrap_or_default();
        let batch = match entry.service {
            Service::Openai => services::read_openai_batch(
                &calls,
                &calls.json(|calls| calls.get(&format!("/batches/{id}")))?,
            )?,
            Service::Anthropic => {
                let path = format!("/messages/batches/{id}");
                services::read_anthropic_batch(&calls, &calls.json(|calls| calls.get(&path))?)?
            }
        };
        Ok((connection, batch))
    }

    /// Submits a file, or completes its submission.
    fn send(
        &self,
        state: &mut SubmittedFiles,
        file: &WrittenFile,
        known: Option<SubmittedFile>,
    ) -> Result<ServiceBatch, Failure> {
        let bytes =
            read_regular(&file.path, MAX_RECORD_BYTES).map_err(|e| io_failure(&file.path, "read", &e))?;
        check_size(file, bytes.len())?;
        let sha256 = sha256_hex(&bytes);
        if known.as_ref().is_some_and(|entry| entry.sha256 != sha256) {
            let message = format!("{} was changed after its submission began", file.name);
            return Err(Failure::new(FailureClass::Request, "batch.changed", message));
        }
        let connection = match &known {
            Some(entry) => self.connection_of(file, entry)?,
            None => (self.connect)(file)?,
        };
        let calls = self.calls(&connection);
        // A submission that was interrupted may have created a batch. OpenAI's is found by the uploaded file.
        let is_interrupted = known.as_ref().is_some_and(|entry| match entry.service {
            Service::Openai => entry.input_file.is_some(),
            Service::Anthropic => true,
        });
        let mut entry = known.unwrap_or_else(|| SubmittedFile {
            file: file.name.clone(),
            sha256,
            requests: file.ids.len(),
            service: connection.service,
            server: connection.server.base_url().to_owned(),
            started_at: (self.now)(),
            input_file: None,
            batch: None,
            fetched_at: None,
        });
        let size = bytes.len() as f64 / 1e6;
        (self.note)(&format!("{}: sending {} requests, {size:.1} MB", file.name, file.ids.len()));
        if connection.service == Service::Openai && entry.input_file.is_none() {
            entry.input_file = Some(services::upload_openai_file(&calls, &file.name, &bytes)?);
        }
        state.set(&entry)?;
        let text = String::from_utf8_lossy(&bytes);
        let batch = self.create(&calls, state, file, (&entry, &text), is_interrupted)?;
        entry.batch = Some(batch.id.clone());
        state.set(&entry)?;
        Ok(batch)
    }

    /// Creates the batch, unless an earlier request did.
    fn create(
        &self,
        calls: &Calls<'_>,
        state: &mut SubmittedFiles,
        file: &WrittenFile,
        (entry, text): (&SubmittedFile, &str),
        mut may_exist: bool,
    ) -> Result<ServiceBatch, Failure> {
        let input_file = entry.input_file.as_deref().unwrap_or_default();
        let mut attempt = 1;
        loop {
            let found = match entry.service {
                _ if !may_exist => None,
                Service::Openai => services::find_openai_batch(calls, input_file)?,
                Service::Anthropic => services::find_anthropic_batch(
                    calls,
                    &entry.started_at,
                    entry.requests,
                    &state.batches(),
                )?,
            };
            if let Some(batch) = found {
                (self.note)(&format!("{}: an earlier request created batch {}", file.name, batch.id));
                return Ok(batch);
            }
            let created = match entry.service {
                Service::Openai => services::create_openai_batch(calls, input_file, &file.url)?,
                Service::Anthropic => {
                    services::create_anthropic_batch(calls, services::anthropic_body(&file.name, text)?)?
                }
            };
            match created {
                Ok(response) => {
                    return match entry.service {
                        Service::Openai => services::read_openai_batch(calls, &response),
                        Service::Anthropic => services::read_anthropic_batch(calls, &response),
                    };
                }
                Err(failure) if failure.class.is_transient() && attempt < MAX_ATTEMPTS => {
                    // After anything but a refusal for its rate, the service may have created the batch.
                    may_exist |= failure.class != ProviderFailureClass::RateLimited;
                    calls.wait_to_retry(attempt, &failure)?;
                    attempt += 1;
                }
                Err(failure) => {
                    if !failure.class.is_transient() && !may_exist {
                        // Refused: the next submission begins anew.
                        state.remove(&file.name)?;
                    }
                    return Err(calls.failure(&failure, attempt));
                }
            }
        }
    }
}

/// Refuses files that the services do not take. planforge writes none.
fn check_size(file: &WrittenFile, bytes: usize) -> Result<(), Failure> {
    if bytes <= MAX_FILE_BYTES && file.ids.len() <= MAX_FILE_REQUESTS {
        return Ok(());
    }
    let (requests, mb) = (file.ids.len(), bytes / 1_000_000);
    let message = format!("{}: {requests} requests and {mb} MB are more than a service takes", file.name);
    Err(Failure::new(FailureClass::Request, "batch.changed", message))
}

/// Name of the file in the batch folder.
pub const STATE_FILE: &str = "submitted.json";
/// Name of the file that a working process holds locked.
const LOCK_FILE: &str = "submitted.lock";

/// A request file that was submitted, or whose submission began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmittedFile {
    /// Name of the request file.
    pub file: String,
    /// SHA-256 of the request file.
    pub sha256: String,
    pub requests: usize,
    pub service: Service,
    /// Address of the service.
    pub server: String,
    /// Time when the submission began, RFC 3339.
    pub started_at: String,
    /// The service's identifier of the uploaded file (OpenAI).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_file: Option<String>,
    /// The batch; absent if the submission was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Time when the results were downloaded, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StateDocument {
    schema: u32,
    files: Vec<SubmittedFile>,
}

/// The entries of the file, and its lock if this process may change them.
pub(crate) struct SubmittedFiles {
    folder: PathBuf,
    files: Vec<SubmittedFile>,
    lock: Option<File>,
}

impl SubmittedFiles {
    /// Reads the entries without a lock.
    ///
    /// # Errors
    /// `batch.io`, `batch.state`.
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(STATE_FILE);
        let files = match read_regular(&path, MAX_RECORD_BYTES) {
            Ok(bytes) => {
                let wrong = |why: String| {
                    let message = format!("{} cannot be read: {why}", path.display());
                    Failure::new(FailureClass::Request, "batch.state", message)
                };
                let document: StateDocument =
                    serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?;
                if document.schema != 1 {
                    return Err(wrong(format!("it has schema {}", document.schema)));
                }
                document.files
            }
            Err(e) if e.kind() == ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(io_failure(&path, "read", &e)),
        };
        Ok(Self { folder: folder.to_owned(), files, lock: None })
    }

    /// Takes the lock, then reads the entries.
    ///
    /// # Errors
    /// `batch.io`, `batch.state`, `batch.locked`.
    pub(crate) fn lock(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(LOCK_FILE);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|e| io_failure(&path, "write", &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = format!("another `planforge batch` works on {}", folder.display());
                return Err(Failure::new(FailureClass::System, "batch.locked", message)
                    .help("wait for it or stop it; the lock ends with its process"));
            }
            Err(TryLockError::Error(e)) => return Err(io_failure(&path, "lock", &e)),
        }
        Ok(Self { lock: Some(file), ..Self::read(folder)? })
    }

    /// The entry of a request file.
    pub(crate) fn of(&self, file: &str) -> Option<&SubmittedFile> {
        self.files.iter().find(|entry| entry.file == file)
    }

    /// Every batch in the entries.
    fn batches(&self) -> BTreeSet<&str> {
        self.files.iter().filter_map(|entry| entry.batch.as_deref()).collect()
    }

    /// Adds or replaces the entry of a file, on disk before this returns.
    ///
    /// # Errors
    /// `batch.io`.
    pub(crate) fn set(&mut self, entry: &SubmittedFile) -> Result<(), Failure> {
        match self.files.iter_mut().find(|known| known.file == entry.file) {
            Some(known) => known.clone_from(entry),
            None => self.files.push(entry.clone()),
        }
        self.write()
    }

    /// Removes the entry of a file.
    ///
    /// # Errors
    /// `batch.io`.
    pub(crate) fn remove(&mut self, file: &str) -> Result<(), Failure> {
        self.files.retain(|entry| entry.file != file);
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        debug_assert!(self.lock.is_some());
        let path = self.folder.join(STATE_FILE);
        let document = StateDocument { schema: 1, files: self.files.clone() };
        let written = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            serde_json::to_writer_pretty(&mut file, &document)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|e| e.error)?;
            // The name must be on disk as well before the service gets a request.
            File::open(&self.folder)?.sync_all()
        };
        written().map_err(|e| io_failure(&path, "write", &e))
    }
}

/// A batch at its service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceBatch {
    pub(crate) id: String,
    pub(crate) progress: BatchProgress,
    /// Paths of the files of results, below the service's address.
    results: Vec<String>,
    /// Fewest lines that these files have together.
    least_lines: u64,
}

/// The progress of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchProgress {
    /// The service's word, such as `in_progress`.
    pub status: String,
    /// True if the service works on it no longer.
    pub ended: bool,
    /// The service's counts of requests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Errors of the whole batch, such as a request file that the service refuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl BatchProgress {
    /// `in_progress (completed 3, failed 0, total 12)`.
    pub fn text(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        match counts.is_empty() {
            true => self.status.clone(),
            false => format!("{} ({})", self.status, counts.join(", ")),
        }
    }
}

/// Every code that this module gives. `batch.changed` and `batch.io` are those of `batch`.
pub const CODES: &[CodeInfo] = code_table!("batch_services/codes.md");
