//! Requests to a service, with retries.

use crate::batch_services::connection::ServiceConnection;
use crate::http::{download, receive};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{Failure, FailureClass, ProviderFailure, ProviderFailureClass};
use planforge_llm::Clock;
use planforge_record::Redactor;
use reqwest::RequestBuilder;
use serde_json::Value;
use std::time::Duration;

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
                message: format!("not JSON: {e}"),
            })
        }))
    }

    /// Downloads a file once; `sink` gets its pieces in order.
    pub(crate) fn download_once(
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
    pub(crate) fn retried<T>(
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
