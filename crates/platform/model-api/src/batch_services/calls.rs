//! A connection to a batch service: requests with retries, and the download of results into a file of answers.

use crate::batch::{
    CHAT_URL, MAX_LINE_BYTES, MESSAGES_URL, RESPONSES_URL, WrittenFile, failure_name, io_failure,
    read_answer, redact_line,
};
use crate::batch_services::ServiceBatch;
use crate::http::{HttpSettings, ModelServer, download, receive};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{Failure, FailureClass, ProviderFailure, ProviderFailureClass};
use planforge_diagnostics::skip_byte_order_mark;
use planforge_llm::{ArrivedResult, Clock};
use planforge_record::Redactor;
use reqwest::RequestBuilder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Most attempts of a request.
pub(crate) const MAX_ATTEMPTS: u32 = 5;
/// Wait before the second attempt; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Longest wait before an attempt, whatever the service asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Time until a request counts as unanswered, except uploads and downloads.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);
/// Most bytes of a file of results.
const MAX_RESULT_BYTES: u64 = 4_000_000_000;

/// A host that only knows whether the command was interrupted.
struct InterruptedHost<'a>(&'a (dyn Fn() -> bool + Send + Sync));

impl Host for InterruptedHost<'_> {
    fn log(&self, _: LogLevel, _: &str) {}
    fn progress(&self, _: u64, _: u64, _: &str) {}
    fn cancelled(&self) -> bool {
        (self.0)()
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}

/// Requests to one service.
#[derive(Clone, Copy)]
pub(crate) struct Calls<'a> {
    pub(crate) connection: &'a ServiceConnection,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) cancelled: &'a (dyn Fn() -> bool + Send + Sync),
    pub(crate) redactor: &'a Redactor,
}

impl Calls<'_> {
    /// A GET request to a path.
    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        let server = &self.connection.server;
        server.client().get(format!("{}{path}", server.base_url())).headers(server.headers().clone())
    }

    /// A POST request to a path.
    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        let server = &self.connection.server;
        server.client().post(format!("{}{path}", server.base_url())).headers(server.headers().clone())
    }

    /// Sends a short request until it is answered or has failed for good.
    pub(crate) fn json(&self, request: impl Fn(&Self) -> RequestBuilder) -> Result<Value, Failure> {
        self.retried(|calls| calls.once(request(calls).timeout(REQUEST_TIMEOUT)))
    }

    /// Sends a request that may take as long as a transfer until it is answered or has failed for good.
    pub(crate) fn transfer(&self, request: impl Fn(&Self) -> RequestBuilder) -> Result<Value, Failure> {
        self.retried(|calls| calls.once(request(calls)))
    }

    /// Sends a request once.
    pub(crate) fn once(&self, request: RequestBuilder) -> Result<Result<Value, ProviderFailure>, Failure> {
        let server = &self.connection.server;
        let request = built(request)?;
        let received = receive(server.client(), request, server.max_body());
        let received = server.wait(&InterruptedHost(self.cancelled), received)?;
        Ok(received.and_then(|bytes| {
            serde_json::from_slice(&bytes).map_err(|e| ProviderFailure {
                class: ProviderFailureClass::Malformed,
                status: Some(200),
                retry_after_ms: None,
                usage: None,
                message: format!("not JSON: {e}"),
            })
        }))
    }

    /// Downloads a file once; `sink` gets its pieces in order.
    fn download_once(
        &self,
        path: &str,
        sink: &mut (dyn FnMut(&[u8]) -> Result<(), Failure> + Send),
    ) -> Result<Result<(), ProviderFailure>, Failure> {
        let server = &self.connection.server;
        let request = built(self.get(path))?;
        let mut broken = None;
        let mut take = |piece: &[u8]| match sink(piece) {
            Ok(()) => true,
            Err(failure) => {
                broken = Some(failure);
                false
            }
        };
        let downloaded = download(server.client(), request, MAX_RESULT_BYTES, &mut take);
        let downloaded = server.wait(&InterruptedHost(self.cancelled), downloaded)?;
        match broken {
            Some(failure) => Err(failure),
            None => Ok(downloaded),
        }
    }

    /// Repeats a request while its failure may pass.
    fn retried<T>(
        &self,
        mut send: impl FnMut(&Self) -> Result<Result<T, ProviderFailure>, Failure>,
    ) -> Result<T, Failure> {
        let mut attempt = 1;
        loop {
            match send(self)? {
                Ok(value) => return Ok(value),
                Err(failure) if failure.class.is_transient() && attempt < MAX_ATTEMPTS => {
                    self.wait_to_retry(attempt, &failure)?;
                    attempt += 1;
                }
                Err(failure) => return Err(self.failure(&failure, attempt)),
            }
        }
    }

    /// Waits before the next attempt.
    pub(crate) fn wait_to_retry(&self, attempt: u32, failure: &ProviderFailure) -> Result<(), Failure> {
        let doubled = FIRST_WAIT.saturating_mul(1 << (attempt - 1).min(16));
        let wait = failure.retry_after_ms.map_or(doubled, Duration::from_millis).min(LONGEST_WAIT);
        self.sleep(wait)
    }

    /// Waits; an interrupt of the command is a failure.
    pub(crate) fn sleep(&self, wait: Duration) -> Result<(), Failure> {
        if self.clock.sleep(wait, &|| (self.cancelled)()) {
            return Ok(());
        }
        let message = "interrupted; what was submitted is recorded";
        Err(Failure::new(FailureClass::Cancelled, "batch.interrupted", message))
    }

    /// The failure of a request for a person.
    pub(crate) fn failure(&self, failure: &ProviderFailure, attempts: u32) -> Failure {
        let (service, server) = (self.connection.service.name(), self.connection.server.base_url());
        let status = failure.status.map(|status| format!(" {status}")).unwrap_or_default();
        let after = if attempts > 1 { format!(" after {attempts} attempts") } else { String::new() };
        let message = format!("{service} ({server}){status}{after}: {}", failure.message);
        let help = match (failure.class, &self.connection.key_variable) {
            (ProviderFailureClass::Authentication, Some(variable)) => {
                format!("check the key in {variable}")
            }
            (ProviderFailureClass::Authentication, None) => {
                "name the variable of the key in `api_key_env` of the `[llm.NAME]` table".to_owned()
            }
            (ProviderFailureClass::NotFound, _) => {
                "the service no longer has it, or `base_url` is wrong; to submit a file again, remove its entry from \
                 batch/submitted.json"
                    .to_owned()
            }
            (class, _) if class.is_transient() => "repeat the command; it goes on where it stopped".to_owned(),
            _ => "nothing was submitted by this request".to_owned(),
        };
        self.redactor.failure(Failure::new(FailureClass::Provider, "batch.service", message).help(help))
    }

    /// The failure for a response that is not what the service documents.
    pub(crate) fn malformed(&self, what: &str, response: &Value) -> Failure {
        let text: String = response.to_string().chars().take(300).collect();
        let service = self.connection.service.name();
        let message = format!("{service} sent a response without a valid {what}: {text}");
        self.redactor.failure(Failure::new(FailureClass::Provider, "batch.service", message))
    }

    /// The identifier in a field of a response. It becomes part of addresses and file names, so only plain characters pass.
    pub(crate) fn id(&self, response: &Value, field: &str) -> Result<String, Failure> {
        let id = response.get(field).and_then(Value::as_str).filter(|id| is_plain(id));
        id.map(str::to_owned).ok_or_else(|| self.malformed(&format!("`{field}`"), response))
    }
}

/// True for identifiers of letters, digits, `-` and `_`.
pub(crate) fn is_plain(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=128).contains(&id.len()) && id.bytes().all(plain)
}

fn built(request: RequestBuilder) -> Result<reqwest::Request, Failure> {
    request.build().map_err(|e| {
        let message = format!("cannot build the request: {}", e.without_url());
        Failure::new(FailureClass::Request, "batch.request", message)
    })
}

/// Seconds until an upload or a download counts as unanswered.
const TRANSFER_S: f64 = 3600.0;
/// Seconds until a connection counts as failed.
const CONNECT_S: f64 = 10.0;
/// Most megabytes of a response that is not a file of results.
const MAX_BODY_MB: u32 = 16;
/// The version of Anthropic's interface.
const ANTHROPIC_VERSION: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// Services that answer batch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// OpenAI's Batch API.
    Openai,
    /// Anthropic's Message Batches.
    Anthropic,
}

impl Service {
    /// The service whose interface the `url` of a request file names.
    pub fn of_url(url: &str) -> Option<Self> {
        match url {
            CHAT_URL | RESPONSES_URL => Some(Self::Openai),
            MESSAGES_URL => Some(Self::Anthropic),
            _ => None,
        }
    }

    /// The service's name in options and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The service's own address.
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The environment variable that usually holds a key of the service.
    pub const fn key_variable(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// The server of a service, and the key for it.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionSettings<'a> {
    pub service: Service,
    pub base_url: &'a str,
    /// Name of the environment variable that holds the key, and its value.
    pub key: Option<(&'a str, &'a str)>,
}

/// A connection to one server of a service.
#[derive(Debug)]
pub struct ServiceConnection {
    pub(crate) service: Service,
    pub(crate) server: ModelServer,
    /// Name of the environment variable that holds the key.
    key_variable: Option<String>,
}

impl ServiceConnection {
    /// A connection with these settings; nothing is contacted yet.
    ///
    /// # Errors
    /// `provider.options`, `provider.key`, `provider.tls`, `provider.client`.
    pub fn new(settings: &ConnectionSettings<'_>) -> Result<Self, Failure> {
        let (api_key_header, own_headers) = match settings.service {
            Service::Openai => ("authorization", &[][..]),
            Service::Anthropic => ("x-api-key", ANTHROPIC_VERSION),
        };
        let none = BTreeMap::new();
        let http = HttpSettings {
            base_url: settings.base_url,
            api_key_env: settings.key.map(|(variable, _)| variable),
            api_key_header,
            own_headers,
            headers: &none,
            headers_env: &none,
            timeout_s: TRANSFER_S,
            connect_timeout_s: CONNECT_S,
            proxy: None,
            ca_file: None,
            max_body_mb: MAX_BODY_MB,
        };
        let server = ModelServer::new(&http, |_| settings.key.map(|(_, value)| value))?;
        let key_variable = settings.key.map(|(variable, _)| variable.to_owned());
        Ok(Self { service: settings.service, server, key_variable })
    }
}

/// Unknown requests that are named one by one.
const UNKNOWN_SHOWN: usize = 10;

/// The results of a batch, as they were downloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FetchedResults {
    /// The file of answers.
    pub answers: PathBuf,
    /// Requests with a reply.
    pub replies: usize,
    /// Requests with an error, by its class.
    pub failed: BTreeMap<String, usize>,
    /// Requests without a line, which get an error that may pass.
    pub missing: usize,
    /// Number of lines about requests that the file does not have, and the first of them.
    pub unknown: (usize, Vec<String>),
}

/// Downloads the results of a batch that has ended into the folder of answers.
///
/// # Errors
/// `batch.service`, `batch.results`, `batch.io`. Then the folder is unchanged.
pub(crate) fn fetch_results(
    calls: &Calls<'_>,
    batch: &ServiceBatch,
    file: &WrittenFile,
    answers: &Path,
) -> Result<FetchedResults, Failure> {
    fs::create_dir_all(answers).map_err(|e| io_failure(answers, "write", &e))?;
    let mut lines = calls.retried(|_| {
        let mut lines = ResultLines::new(calls, batch, file, answers)?;
        for path in &batch.results {
            if let Err(failure) = calls.download_once(path, &mut |piece| lines.push(piece))? {
                return Ok(Err(failure));
            }
            lines.end_line()?;
        }
        Ok(Ok(lines))
    })?;
    if lines.count < batch.least_lines {
        let (count, least) = (lines.count, batch.least_lines);
        return Err(lines.wrong(&format!("{count} results arrived, and the service counts {least}")));
    }
    if lines.count > 0 && lines.seen.is_empty() {
        return Err(lines.wrong("no result belongs to a request of the file"));
    }
    lines.add_missing()?;
    lines.keep()
}

/// The lines of a download, written as they come.
struct ResultLines<'a> {
    calls: &'a Calls<'a>,
    batch: &'a ServiceBatch,
    file: &'a WrittenFile,
    ids: BTreeSet<&'a str>,
    seen: BTreeSet<&'a str>,
    line: Vec<u8>,
    count: u64,
    out: BufWriter<NamedTempFile>,
    results: FetchedResults,
}

impl<'a> ResultLines<'a> {
    fn new(
        calls: &'a Calls<'a>,
        batch: &'a ServiceBatch,
        file: &'a WrittenFile,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let answers = folder.join(format!("{}.jsonl", batch.id));
        let out = NamedTempFile::new_in(folder).map_err(|e| io_failure(&answers, "write", &e))?;
        Ok(Self {
            calls,
            batch,
            file,
            ids: file.ids.iter().map(String::as_str).collect(),
            seen: BTreeSet::new(),
            line: Vec::new(),
            count: 0,
            out: BufWriter::new(out),
            results: FetchedResults {
                answers,
                replies: 0,
                failed: BTreeMap::new(),
                missing: 0,
                unknown: (0, Vec::new()),
            },
        })
    }

    /// Adds a piece of a file of results.
    fn push(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.extend_line(line)?;
            self.end_line()?;
            rest = after.get(1..).unwrap_or_default();
        }
        self.extend_line(rest)
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.line.extend_from_slice(bytes);
        if self.line.len() > MAX_LINE_BYTES {
            return Err(self.wrong(&format!("result {} is longer than 64 MB", self.count + 1)));
        }
        Ok(())
    }

    /// Checks and writes the line that is complete now.
    fn end_line(&mut self) -> Result<(), Failure> {
        let bytes = std::mem::take(&mut self.line);
        let unreadable = |lines: &Self, why: &dyn std::fmt::Display| {
            lines.wrong(&format!("result {} cannot be read: {why}", lines.count + 1))
        };
        let text = String::from_utf8(bytes).map_err(|_| unreadable(self, &"it is not UTF-8"))?;
        let text = if self.count == 0 { skip_byte_order_mark(&text) } else { &text };
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let answer = read_answer(text).map_err(|why| unreadable(self, &why))?;
        self.count += 1;
        match self.ids.get(answer.id.as_str()) {
            Some(id) => {
                self.seen.insert(id);
                match &answer.arrived {
                    ArrivedResult::Body(_) => self.results.replies += 1,
                    ArrivedResult::Failure(failure) => {
                        *self.results.failed.entry(failure_name(failure)).or_insert(0) += 1;
                    }
                }
            }
            None => {
                let (count, shown) = &mut self.results.unknown;
                *count += 1;
                if shown.len() < UNKNOWN_SHOWN {
                    shown.push(self.calls.redactor.text(&answer.id).into_owned());
                }
            }
        }
        let clean = redact_line(self.calls.redactor, text);
        // Two batches may end with the same error of one request, which are two errors: the batch tells them apart.
        match clean.strip_prefix('{').filter(|_| matches!(answer.arrived, ArrivedResult::Failure(_))) {
            Some(rest) => self.write(&format!("{{\"batch\":\"{}\",{rest}", self.batch.id)),
            None => self.write(&clean),
        }
    }

    /// Adds an error for each request without a line, so that it is asked again.
    fn add_missing(&mut self) -> Result<(), Failure> {
        let progress = &self.batch.progress;
        let reason = match progress.errors.first() {
            Some(error) => error.clone(),
            None => "the service returned no result".to_owned(),
        };
        let message = format!("batch {} ({}): {reason}", self.batch.id, progress.status);
        let file = self.file;
        for id in file.ids.iter().filter(|id| !self.seen.contains(id.as_str())).collect::<Vec<_>>() {
            self.results.missing += 1;
            let error = json!({"code": "no_result", "message": message});
            self.write(
                &json!({"batch": self.batch.id, "custom_id": id, "response": null, "error": error})
                    .to_string(),
            )?;
        }
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        let written = self.out.write_all(line.as_bytes()).and_then(|()| self.out.write_all(b"\n"));
        written.map_err(|e| io_failure(&self.results.answers, "write", &e))
    }

    /// Gives the complete file its name.
    fn keep(self) -> Result<FetchedResults, Failure> {
        let path = self.results.answers.clone();
        let failed = |e: &dyn std::fmt::Display| io_failure(&path, "write", e);
        let file = self.out.into_inner().map_err(|e| failed(&e))?;
        file.as_file().sync_all().map_err(|e| failed(&e))?;
        file.persist(&path).map_err(|e| failed(&e.error))?;
        Ok(self.results)
    }

    fn wrong(&self, what: &str) -> Failure {
        let message = format!("batch {} of {}: {what}", self.batch.id, self.file.name);
        let help = "fetch again; if that does not help, remove the file's entry from batch/submitted.json to submit it again";
        self.calls.redactor.failure(Failure::new(FailureClass::Provider, "batch.results", message).help(help))
    }
}
