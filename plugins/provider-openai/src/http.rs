//! The HTTP client for async-openai, without retries, environment variables or logging.

use crate::failure;
use crate::options::OpenAiOptions;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use planforge_chat_completions::{failure_of_status, malformed_failure};
use planforge_contract::{Failure, FailureClass, ProviderFailure, ProviderFailureClass};
use reqwest::header::HeaderMap;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use secrecy::SecretString;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

/// The configuration for async-openai. Its default one reads `OPENAI_*` variables and always sends a key.
#[derive(Clone)]
pub(crate) struct Endpoint {
    base_url: String,
    headers: HeaderMap,
    // The trait wants a key to hand out; nothing here asks for it, the header holds the real one.
    no_key: SecretString,
}

impl Endpoint {
    pub(crate) fn new(base_url: &str, headers: HeaderMap) -> Self {
        Self { base_url: base_url.trim_end_matches('/').to_owned(), headers, no_key: SecretString::from("") }
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }
    fn api_base(&self) -> &str {
        &self.base_url
    }
    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

/// A client without redirects, retries, or a proxy from the environment.
pub(crate) fn client(options: &OpenAiOptions) -> Result<reqwest::Client, Failure> {
    let broken = |e: reqwest::Error| {
        Failure::new(FailureClass::System, "provider.client", format!("cannot set up the HTTP client: {e}"))
    };
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .timeout(Duration::from_secs_f64(options.timeout_s))
        .connect_timeout(Duration::from_secs_f64(options.connect_timeout_s))
        .user_agent(concat!("planforge/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls(options)?);
    if let Some(proxy) = &options.proxy {
        builder = builder.proxy(reqwest::Proxy::all(proxy.as_str()).map_err(broken)?);
    }
    builder.build().map_err(broken)
}

/// TLS with ring and the certificate authorities of the system, plus those of `ca_file`.
fn tls(options: &OpenAiOptions) -> Result<rustls::ClientConfig, Failure> {
    let fail = |what: &str| Failure::new(FailureClass::System, "provider.tls", what.to_owned());
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&crypto))
        .with_safe_default_protocol_versions()
        .map_err(|e| fail(&format!("cannot set up TLS: {e}")))?;
    let encrypted = [Some(&options.base_url), options.proxy.as_ref()]
        .into_iter()
        .flatten()
        .any(|url| url.to_ascii_lowercase().starts_with("https:"));
    if !encrypted {
        // No certificate is ever looked at, so a machine without any (a bare container) can still use a local server.
        return Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth());
    }
    let mut extra = Vec::new();
    if let Some(pem) = &options.ca_file {
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

/// Most bytes that are read of an answer that is an error.
const MOST_OF_AN_ERROR: usize = 256 << 10;

/// The response of one request, kept because async-openai may drop it.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Outcome>>>);

/// A body of status 200 that is JSON, or why there is none.
pub(crate) type Outcome = Result<Vec<u8>, ProviderFailure>;

impl Slot {
    fn set(&self, outcome: Outcome) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
    pub(crate) fn take(&self) -> Option<Outcome> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The service under async-openai: sends once, reads the body within its limit, and keeps status, Retry-After and body.
#[derive(Clone)]
pub(crate) struct Once {
    pub(crate) client: reqwest::Client,
    pub(crate) max_body: usize,
    pub(crate) slot: Slot,
}

impl tower_service::Service<HttpRequestFactory> for Once {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<reqwest::Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let once = self.clone();
        Box::pin(async move {
            let request = factory.build().await?;
            let outcome = once.send(request).await;
            // async-openai writes bodies of failures to the log, unredacted, and drops Retry-After. So it
            // only ever sees success; the outcome itself is taken from the slot.
            let body = outcome.clone().unwrap_or_else(|_| b"null".to_vec());
            once.slot.set(outcome);
            Ok(reqwest::Response::from(http::Response::new(body)))
        })
    }
}

impl Once {
    async fn send(&self, request: reqwest::Request) -> Outcome {
        let mut response = self.client.execute(request).await.map_err(failure::of_transport)?;
        let status = response.status().as_u16();
        if response.status().is_redirection() {
            let to = response.headers().get(reqwest::header::LOCATION).and_then(|to| to.to_str().ok());
            return Err(failure::of_redirect(status, to, response.url()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failure::of_transport)? {
            if !response.status().is_success() && body.len() + chunk.len() > MOST_OF_AN_ERROR {
                // Its reason comes first, if it has one.
                body.extend_from_slice(chunk.get(..MOST_OF_AN_ERROR - body.len()).unwrap_or_default());
                break;
            }
            if body.len() + chunk.len() > self.max_body {
                return Err(ProviderFailure {
                    class: ProviderFailureClass::Malformed,
                    status: Some(status),
                    retry_after_ms: None,
                    message: format!(
                        "the answer is longer than {} bytes (option `max_body_mb`)",
                        self.max_body
                    ),
                });
            }
            body.extend_from_slice(&chunk);
        }
        if !response.status().is_success() {
            let retry_after =
                response.headers().get(reqwest::header::RETRY_AFTER).and_then(|v| v.to_str().ok());
            let retry_after_ms =
                retry_after.and_then(|value| failure::retry_after_ms(value, SystemTime::now()));
            return Err(ProviderFailure { retry_after_ms, ..failure_of_status(status, &body) });
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
            Ok(_) => Ok(body),
            // An incomplete body was cut off in transit; a retry may succeed.
            Err(e) if e.is_eof() => Err(failure::cut_off(status, &e, body.len())),
            Err(e) => Err(malformed_failure(status, &format!("not JSON ({e})"), &body)),
        }
    }
}
