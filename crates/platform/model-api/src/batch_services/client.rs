//! Submission of request files, their status, and the download of answers.

use crate::batch::{BatchFolder, MAX_FILE_BYTES, MAX_FILE_REQUESTS, WrittenFile, io_failure};
use crate::batch_services::calls::{Calls, MAX_ATTEMPTS};
use crate::batch_services::connection::{Service, ServiceConnection};
use crate::batch_services::download::{FetchedResults, fetch_results};
use crate::batch_services::service_batch::{BatchProgress, ServiceBatch};
use crate::batch_services::submitted::{SubmittedFile, SubmittedFiles};
use crate::batch_services::{anthropic, openai};
use planforge_contract::{Failure, FailureClass, ProviderFailureClass};
use planforge_llm::Clock;
use planforge_record::{Redactor, sha256_hex};
use serde::Serialize;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

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
        let id = entry
            .batch
            .as_deref()
            .filter(|id| crate::batch_services::calls::is_plain(id))
            .unwrap_or_default();
        let batch = match entry.service {
            Service::Openai => {
                openai::read(&calls, &calls.json(|calls| calls.get(&format!("/batches/{id}")))?)?
            }
            Service::Anthropic => {
                let path = format!("/messages/batches/{id}");
                anthropic::read(&calls, &calls.json(|calls| calls.get(&path))?)?
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
        let bytes = fs::read(&file.path).map_err(|e| io_failure(&file.path, "read", &e))?;
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
            entry.input_file = Some(openai::upload(&calls, &file.name, &bytes)?);
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
                Service::Openai => openai::find(calls, input_file)?,
                Service::Anthropic => {
                    anthropic::find(calls, &entry.started_at, entry.requests, &state.batches())?
                }
            };
            if let Some(batch) = found {
                (self.note)(&format!("{}: an earlier request created batch {}", file.name, batch.id));
                return Ok(batch);
            }
            let created = match entry.service {
                Service::Openai => openai::create(calls, input_file, &file.url)?,
                Service::Anthropic => anthropic::create(calls, anthropic::body(&file.name, text)?)?,
            };
            match created {
                Ok(response) => {
                    return match entry.service {
                        Service::Openai => openai::read(calls, &response),
                        Service::Anthropic => anthropic::read(calls, &response),
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
