//! The service and configuration under async-openai, without retries, environment variables or logging.

use crate::openai::service::API_VERSION;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use planforge_model_api::http::{Received, receive};
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The configuration for async-openai. Its default one reads `OPENAI_*` variables and always sends a key.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base_url: String,
    headers: HeaderMap,
    api_version: Option<String>,
    // The trait wants a key to hand out; nothing here asks for it, the header holds the real one.
    no_key: SecretString,
}

impl Endpoint {
    pub(crate) fn new(base_url: &str, headers: HeaderMap, api_version: Option<String>) -> Self {
        let base_url = base_url.trim_end_matches('/').to_owned();
        Self { base_url, headers, api_version, no_key: SecretString::from("") }
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
        self.api_version.iter().map(|version| (API_VERSION, version.as_str())).collect()
    }
    fn api_base(&self) -> &str {
        &self.base_url
    }
    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

/// The response of one request, kept because async-openai may drop it.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Received>>>);

impl Slot {
    fn set(&self, outcome: Received) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
    pub(crate) fn take(&self) -> Option<Received> {
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
            let outcome = receive(&once.client, request, once.max_body).await;
            // async-openai writes bodies of failures to the log, unredacted, and drops Retry-After. So it
            // only ever sees success; the outcome itself is taken from the slot.
            let body = outcome.clone().unwrap_or_else(|_| b"null".to_vec());
            once.slot.set(outcome);
            Ok(reqwest::Response::from(http::Response::new(body)))
        })
    }
}
