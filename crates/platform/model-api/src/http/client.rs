//! The HTTP client.

use crate::http::settings::HttpSettings;
use planforge_contract::{Failure, FailureClass};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use std::sync::Arc;
use std::time::Duration;

/// A client without redirects, retries, or a proxy from the environment.
pub(crate) fn client(settings: &HttpSettings<'_>) -> Result<reqwest::Client, Failure> {
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
