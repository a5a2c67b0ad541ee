//! A server of a model.

use crate::http::client::client;
use crate::http::rate_limits;
use crate::http::receive::{Received, receive};
use crate::http::settings::HttpSettings;
use planforge_contract::api::Host;
use planforge_contract::{Failure, FailureClass, ProgressTimer};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use std::future::Future;
use std::time::Duration;

/// Interval at which a call checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);

/// A client for one server, with its headers and its runtime.
pub struct ModelServer {
    base_url: String,
    headers: HeaderMap,
    client: reqwest::Client,
    max_body: usize,
    // Taken only when dropped: a runtime that is dropped in place waits for its threads.
    runtime: Option<tokio::runtime::Runtime>,
}

impl std::fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelServer").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl ModelServer {
    /// A client with these settings; nothing is contacted yet. `secret` returns the value for an option, as in
    /// [`HttpSettings::all_headers`].
    ///
    /// # Errors
    /// `provider.options`, `provider.key`, `provider.tls`, `provider.client`.
    pub fn new<'s>(
        settings: &HttpSettings<'_>,
        secret: impl Fn(&str) -> Option<&'s str>,
    ) -> Result<Self, Failure> {
        let headers = settings.all_headers(secret)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("provider")
            .enable_io()
            .enable_time()
            .build();
        let runtime = runtime.map_err(|e| {
            let message = format!("cannot start the async runtime: {e}");
            Failure::new(FailureClass::System, "provider.client", message)
        })?;
        Ok(Self {
            base_url: settings.base_url.trim_end_matches('/').to_owned(),
            headers,
            client: client(settings)?,
            max_body: settings.max_body_mb as usize * 1_000_000,
            runtime: Some(runtime),
        })
    }

    /// The address without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// All headers of a request.
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The HTTP client.
    pub const fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Most bytes of a response.
    pub const fn max_body(&self) -> usize {
        self.max_body
    }

    /// Sends a JSON body to a path of the server.
    ///
    /// # Errors
    /// `provider.cancelled`, `provider.request`, `provider.client`. Failures of the server are in the result.
    pub fn post(&self, host: &dyn Host, path: &str, body: &Value) -> Result<Received, Failure> {
        let request = self.client.post(format!("{}{path}", self.base_url)).headers(self.headers.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        let request = request.build().map_err(|e| {
            let message = format!("cannot build the request: {}", e.without_url());
            Failure::new(FailureClass::Request, "provider.request", message)
        })?;
        self.wait(host, receive(&self.client, request, self.max_body))
    }

    /// Waits for a future, checks for an interrupt of the run meanwhile, and reports the quotas of its response.
    ///
    /// # Errors
    /// `provider.cancelled`, `provider.client`.
    pub fn wait<T>(&self, host: &dyn Host, future: impl Future<Output = T>) -> Result<T, Failure> {
        self.wait_with(&ProgressTimer::new(host, "seconds for the server's answer"), future)
    }

    fn wait_with<T>(&self, timer: &ProgressTimer<'_>, future: impl Future<Output = T>) -> Result<T, Failure> {
        let runtime = self.runtime.as_ref().ok_or_else(|| {
            Failure::new(FailureClass::Plugin, "provider.client", "the provider is shutting down")
        })?;
        let (result, limits) = runtime.block_on(rate_limits::collect(async {
            let mut future = std::pin::pin!(future);
            // The client's own time limit ends the wait.
            loop {
                match tokio::time::timeout(POLL, future.as_mut()).await {
                    Ok(result) => return Ok(result),
                    // Dropping the request closes its connection, so the server need not go on either.
                    Err(_) if timer.is_cancelled() => {
                        return Err(Failure::new(
                            FailureClass::Cancelled,
                            "provider.cancelled",
                            "the run was interrupted while the server was answering",
                        ));
                    }
                    Err(_) => {}
                }
            }
        }));
        if let Some(limits) = limits {
            timer.host().rate_limits(&limits);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::api::LogLevel;
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    /// Interrupts the run at the first report of progress, and keeps its number.
    #[derive(Default)]
    struct StopsAtProgress(AtomicU64);

    impl Host for StopsAtProgress {
        fn log(&self, _level: LogLevel, _message: &str) {}
        fn progress(&self, done: u64, _total: u64, _what: &str) {
            self.0.store(done, Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            self.0.load(Ordering::SeqCst) > 0
        }
        fn remaining_ms(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn a_wait_for_the_server_is_progress() {
        let settings = HttpSettings {
            base_url: "http://127.0.0.1:1",
            api_key_env: None,
            api_key_header: "Authorization",
            own_headers: &[],
            headers: &BTreeMap::new(),
            headers_env: &BTreeMap::new(),
            timeout_s: 3600.0,
            connect_timeout_s: 3600.0,
            proxy: None,
            ca_file: None,
            max_body_mb: 1,
        };
        let server = ModelServer::new(&settings, |_| None).unwrap();
        let host = StopsAtProgress::default();
        let hour_ago = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        let timer = ProgressTimer::since(&host, "seconds for the server's answer", hour_ago);
        // The answer never comes: the report interrupts the wait.
        let failure = server.wait_with(&timer, std::future::pending::<()>()).unwrap_err();
        assert_eq!(failure.code, "provider.cancelled");
        assert!(host.0.load(Ordering::SeqCst) >= 3600);
    }
}
