//! A provider for OpenAI-compatible chat completion endpoints.
//!
//! One call makes exactly one HTTP request: retries, `n`, limits, caps and the record belong to the host. The
//! plugin owns its async runtime and blocks the calling thread; several threads may call at the same time.

mod codes;
mod failure;
mod http;
mod options;

pub use codes::CODES;
pub use options::OpenAiOptions;
pub use planforge_chat_completions::{Field, MaxTokensField};

use crate::http::{Endpoint, Once, Slot};
use crate::options::missing_key;
use planforge_chat_completions::{read_result, request_body};
use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, FailureClass};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use serde_json::Value;
use std::time::Duration;

/// The option that names the variable of the key.
const KEY_OPTION: &str = "api_key_env";

/// Interval at which a call checks for an interrupt.
const POLL: Duration = Duration::from_millis(50);

/// A connection to one endpoint.
pub struct OpenAi {
    options: OpenAiOptions,
    client: reqwest::Client,
    endpoint: Endpoint,
    // Taken only when dropped: a runtime that is dropped in place waits for its threads.
    runtime: Option<tokio::runtime::Runtime>,
}

impl std::fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAi").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Drop for OpenAi {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl OpenAi {
    /// A connection with these options; nothing is contacted yet. `key` is the value of the variable that `api_key_env`
    /// names.
    ///
    /// # Errors
    /// `provider.options`, `provider.key`, `provider.tls`, `provider.client`.
    pub fn new(options: OpenAiOptions, key: Option<&str>) -> Result<Self, Failure> {
        Self::with_secrets(options, |name| key.filter(|_| name == KEY_OPTION))
    }

    fn with_secrets<'a>(
        options: OpenAiOptions,
        secret: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Self, Failure> {
        let mut headers = options.check()?;
        headers.extend(options.secret_headers(&secret)?);
        if let Some(variable) = &options.api_key_env {
            let key = secret(KEY_OPTION).filter(|key| !key.is_empty());
            let (name, value) = options.key_header(key.ok_or_else(|| missing_key(variable, KEY_OPTION))?)?;
            headers.insert(name, value);
        }
        let client = http::client(&options)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("provider-openai")
            .enable_io()
            .enable_time()
            .build()
            .map_err(|e| {
                Failure::new(
                    FailureClass::System,
                    "provider.client",
                    format!("cannot start the async runtime: {e}"),
                )
            })?;
        let endpoint = Endpoint::new(&options.base_url, headers);
        Ok(Self { options, client, endpoint, runtime: Some(runtime) })
    }

    fn post(&self, host: &dyn Host, body: &Value) -> Result<http::Outcome, Failure> {
        let gone = || Failure::new(FailureClass::Plugin, "provider.client", "the provider is shutting down");
        let slot = Slot::default();
        let max_body = self.options.max_body_mb as usize * 1_000_000;
        let once = Once { client: self.client.clone(), max_body, slot: slot.clone() };
        let api =
            async_openai::Client::build(self.client.clone(), self.endpoint.clone()).with_http_service(once);
        let runtime = self.runtime.as_ref().ok_or_else(gone)?;
        let sent: Result<Value, _> = runtime.block_on(async {
            let chat = api.chat();
            let mut request = std::pin::pin!(chat.create_byot(body));
            loop {
                match tokio::time::timeout(POLL, request.as_mut()).await {
                    Ok(result) => return Ok(result),
                    // Dropping the request closes its connection, so the server need not go on either.
                    Err(_) if host.cancelled() => {
                        return Err(Failure::new(
                            FailureClass::Cancelled,
                            "provider.cancelled",
                            "the run was interrupted while the server was answering",
                        ));
                    }
                    Err(_) => {}
                }
            }
        })?;
        match (slot.take(), sent) {
            (Some(outcome), _) => Ok(outcome),
            (None, Err(e)) => Err(Failure::new(
                FailureClass::Request,
                "provider.request",
                format!("cannot build the request: {e}"),
            )),
            (None, Ok(_)) => Err(gone()),
        }
    }
}

impl Plugin for OpenAi {
    type Options = OpenAiOptions;

    fn about() -> About {
        About::new("Asks any OpenAI-compatible chat completion endpoint, local or remote")
            .several_replies()
            .secret(KEY_OPTION)
            .secret("headers_env")
            .server("base_url")
            .server("proxy")
            .file("ca_file")
    }

    fn create(options: OpenAiOptions, secrets: &Secrets) -> Result<Self, Failure> {
        Self::with_secrets(options, |name| secrets.get(name))
    }
}

planforge_plugin_sdk::export_plugin!(Provider, OpenAi);

impl Provider for OpenAi {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        if request.extra.get("stream").is_some_and(|s| *s != Value::Bool(false)) {
            host.log(LogLevel::Warn, "`stream` in `extra_body` is ignored: answers are always read whole");
        }
        let bytes = match self.post(host, &request_body(request, &self.options.dialect()))? {
            Ok(bytes) => bytes,
            Err(failure) => return Ok(CompletionResult::ProviderFailure(failure)),
        };
        Ok(read_result(&bytes))
    }
}
