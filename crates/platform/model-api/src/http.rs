//! HTTP for providers: one request to the server of a model, without retries, redirects, environment variables or logging.
//!
//! Retries, `n`, limits, caps and the record belong to the host. A server owns its async runtime and blocks the calling
//! thread; several threads may call at the same time.

mod receive;

use planforge_contract::api::Host;
use planforge_contract::{Failure, FailureClass, ProgressTimer, is_harmless_header};
use planforge_diagnostics::{CodeInfo, code_table};
use receive::collect;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use receive::{Received, download, receive};

/// The failure for a setting that the service has no field for.
pub fn unsupported(message: impl Into<String>, help: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "provider.unsupported", message).help(help)
}

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
        let (result, limits) = runtime.block_on(collect(async {
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

/// The option that names the variable of the key.
pub const KEY_OPTION: &str = "api_key_env";

/// A provider's options about its server. The plugin's own options hold them, each under the name of its field here.
#[derive(Debug, Clone, Copy)]
pub struct HttpSettings<'a> {
    /// The address that every path is appended to.
    pub base_url: &'a str,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<&'a str>,
    /// Header that carries the key. `Authorization` carries `Bearer KEY`; any other carries the key itself.
    pub api_key_header: &'a str,
    /// Headers that the plugin sets, which carry no key.
    pub own_headers: &'a [(&'a str, &'a str)],
    /// Further headers that carry no key.
    pub headers: &'a BTreeMap<String, String>,
    /// Further headers, each with the name of the environment variable that holds its value.
    pub headers_env: &'a BTreeMap<String, String>,
    /// Seconds until a request counts as unanswered, above 0.
    pub timeout_s: f64,
    /// Seconds until a connection counts as failed, above 0.
    pub connect_timeout_s: f64,
    /// URL of a proxy. `None`: a direct connection, whatever the environment says.
    pub proxy: Option<&'a str>,
    /// Text of a PEM file with further certificate authorities to trust.
    pub ca_file: Option<&'a str>,
    /// Most megabytes of a response, at least 1.
    pub max_body_mb: u32,
}

impl HttpSettings<'_> {
    /// All headers of a request. `secret` returns the value for an option: `api_key_env`, or `headers_env.NAME`.
    ///
    /// # Errors
    /// `provider.options` with everything that is wrong; `provider.key` for a missing value, or one that no header can
    /// carry, without the value in the message.
    pub fn all_headers<'s>(&self, secret: impl Fn(&str) -> Option<&'s str>) -> Result<HeaderMap, Failure> {
        let mut headers = self.check()?;
        for (name, variable) in self.headers_env {
            let header = HeaderName::try_from(name.as_str()).map_err(|_| {
                wrong_option(format!("`headers_env`: `{name}` cannot be the name of a header"))
            })?;
            let option = format!("headers_env.{name}");
            let value = secret(&option).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| missing_key(variable, &option))?;
            headers.insert(header, sensitive(value, variable)?);
        }
        if let Some(variable) = self.api_key_env {
            let key = secret(KEY_OPTION).filter(|key| !key.is_empty());
            let (name, value) = self.key_header(key.ok_or_else(|| missing_key(variable, KEY_OPTION))?)?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// All headers but those with secret values.
    fn check(&self) -> Result<HeaderMap, Failure> {
        let mut wrong = Vec::new();
        check_url(self.base_url, "base_url", &mut wrong);
        if let Some(proxy) = self.proxy {
            check_url(proxy, "proxy", &mut wrong);
        }
        for (key, seconds) in [("timeout_s", self.timeout_s), ("connect_timeout_s", self.connect_timeout_s)] {
            if !(seconds > 0.0 && seconds <= 86_400.0) {
                wrong.push(format!("`{key}` is above 0 and at most 86400 seconds, not {seconds}"));
            }
        }
        if self.max_body_mb == 0 {
            wrong.push("`max_body_mb` is at least 1".to_owned());
        }
        let mut headers = HeaderMap::new();
        let own = self.own_headers.iter().map(|&(name, value)| (true, name, value));
        let further = self.headers.iter().map(|(name, value)| (false, name.as_str(), value.as_str()));
        for (is_own, name, value) in own.chain(further) {
            if !is_own && !is_harmless_header(name) {
                wrong.push(format!(
                    "header `{name}` may carry a key; name its variable in `headers_env` or `api_key_env` instead"
                ));
                continue;
            }
            match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                (Ok(name), Ok(value)) => drop(headers.insert(name, value)),
                (Err(_), _) => wrong.push(format!("`{name}` cannot be the name of a header")),
                (_, Err(_)) => wrong.push(format!("header `{name}` has a value that no header can have")),
            }
        }
        if HeaderName::try_from(self.api_key_header).is_err() {
            wrong.push(format!("`api_key_header`: `{}` cannot be the name of a header", self.api_key_header));
        }
        if wrong.is_empty() { Ok(headers) } else { Err(wrong_option(wrong.join("; "))) }
    }

    fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), Failure> {
        let name = HeaderName::try_from(self.api_key_header).map_err(|_| {
            wrong_option(format!(
                "`api_key_header`: `{}` cannot be the name of a header",
                self.api_key_header
            ))
        })?;
        let text = match self.api_key_header.eq_ignore_ascii_case("authorization") {
            true => format!("Bearer {key}"),
            false => key.to_owned(),
        };
        Ok((name, sensitive(&text, self.api_key_env.unwrap_or_default())?))
    }
}

fn wrong_option(message: String) -> Failure {
    Failure::new(FailureClass::Request, "provider.options", message)
}

/// The failure for a variable without a value.
fn missing_key(variable: &str, option: &str) -> Failure {
    let message = format!("the environment variable `{variable}`, which should hold the key, is not set");
    Failure::new(FailureClass::Request, "provider.key", message).help(format!(
        "set it (`export {variable}=...`), or remove `{option}` for a server that needs no key"
    ))
}

/// A header's value that is kept out of logs.
fn sensitive(text: &str, variable: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::try_from(text).map_err(|_| {
        let message = format!("the key in variable `{variable}` has characters that no header can carry");
        Failure::new(FailureClass::Request, "provider.key", message)
            .help("a line feed at its end is the usual cause")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn check_url(text: &str, key: &str, wrong: &mut Vec<String>) {
    match reqwest::Url::parse(text) {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            wrong.push(format!("`{key}` holds a user name or password, and the pipeline file is recorded"));
        }
        Ok(url) if key == "base_url" && (url.query().is_some() || url.fragment().is_some()) => {
            wrong.push(format!("`{key}` ends before any `?` or `#`"));
        }
        Ok(url) if matches!(url.scheme(), "http" | "https") => {}
        Ok(url) => wrong.push(format!("`{key}` begins with http:// or https://, not {}://", url.scheme())),
        Err(e) => wrong.push(format!("`{key}` is not a URL: {e}")),
    }
}

/// A client without redirects, retries, or a proxy from the environment.
fn client(settings: &HttpSettings<'_>) -> Result<reqwest::Client, Failure> {
    let broken = |e: reqwest::Error| {
        Failure::new(FailureClass::System, "provider.client", format!("cannot set up the HTTP client: {e}"))
    };
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .timeout(Duration::from_secs_f64(settings.timeout_s))
        .connect_timeout(Duration::from_secs_f64(settings.connect_timeout_s))
        .user_agent(concat!("planforge/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls(settings)?);
    if let Some(proxy) = settings.proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(broken)?);
    }
    builder.build().map_err(broken)
}

/// TLS with ring and the certificate authorities of the system, plus those of `ca_file`.
fn tls(settings: &HttpSettings<'_>) -> Result<rustls::ClientConfig, Failure> {
    let fail = |what: &str| Failure::new(FailureClass::System, "provider.tls", what.to_owned());
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&crypto))
        .with_safe_default_protocol_versions()
        .map_err(|e| fail(&format!("cannot set up TLS: {e}")))?;
    let encrypted = [Some(settings.base_url), settings.proxy]
        .into_iter()
        .flatten()
        .any(|url| url.to_ascii_lowercase().starts_with("https:"));
    if !encrypted {
        // No certificate is ever looked at, so a machine without any (a bare container) can still use a local server.
        return Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth());
    }
    let mut extra = Vec::new();
    if let Some(pem) = settings.ca_file {
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            extra.push(certificate.map_err(|e| fail(&format!("`ca_file` is not a PEM file: {e}")))?);
        }
        if extra.is_empty() {
            return Err(fail("`ca_file` has no certificate"));
        }
    }
    let verifier = verifier(extra, crypto).map_err(|e| {
        fail(&format!("cannot use the system's certificate authorities: {e}"))
            .help("install them (package ca-certificates), or name a PEM file in `ca_file`")
    })?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

#[cfg(all(unix, not(target_os = "android")))]
fn verifier(
    extra: Vec<CertificateDer<'static>>,
    crypto: Arc<rustls::crypto::CryptoProvider>,
) -> Result<rustls_platform_verifier::Verifier, rustls::Error> {
    rustls_platform_verifier::Verifier::new_with_extra_roots(extra, crypto)
}

#[cfg(not(all(unix, not(target_os = "android"))))]
fn verifier(
    extra: Vec<CertificateDer<'static>>,
    crypto: Arc<rustls::crypto::CryptoProvider>,
) -> Result<rustls_platform_verifier::Verifier, rustls::Error> {
    if extra.is_empty() {
        return rustls_platform_verifier::Verifier::new(crypto);
    }
    rustls_platform_verifier::Verifier::new_with_extra_roots(extra, crypto)
}

/// The amount that a model reasons before it answers: `"none"`, `"low"`, `"medium"`, `"high"`, or a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reasoning {
    /// A level; the service decides about the tokens.
    Level(ReasoningLevel),
    /// Most tokens of the reasoning, at least 1.
    Tokens(u32),
}

impl Reasoning {
    /// The level, for the interfaces of OpenAI.
    ///
    /// # Errors
    /// `provider.unsupported` for a number of tokens.
    pub fn level(self) -> Result<ReasoningLevel, Failure> {
        match self {
            Self::Level(level) => Ok(level),
            Self::Tokens(_) => Err(unsupported(
                "OpenAI's interfaces have no field for a number of reasoning tokens",
                "set `reasoning` to \"none\", \"low\", \"medium\" or \"high\"",
            )),
        }
    }
}

/// Levels of reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningLevel {
    /// No reasoning.
    None,
    /// Little.
    Low,
    /// Between the two.
    Medium,
    /// Much.
    High,
}

impl ReasoningLevel {
    /// The level's name in options and requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Every code that this module gives.
pub const CODES: &[CodeInfo] = code_table!("http/codes.md");

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::api::LogLevel;
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
