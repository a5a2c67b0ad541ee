//! A provider for OpenAI-compatible chat completion endpoints.
//!
//! One call makes exactly one HTTP request: retries, `n`, limits, caps and the record belong to the host. The
//! plugin owns its async runtime and blocks the calling thread; several threads may call at the same time.

mod http;
mod options;

pub use options::OpenAiOptions;
pub use planforge_chat_completions::{Field, MaxTokensField};

use crate::http::{Endpoint, Once, Slot};
use planforge_chat_completions::{read_result, request_body};
use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, FailureClass};
use planforge_model_http::{KEY_OPTION, ModelServer, Received};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use serde_json::Value;

/// A connection to one endpoint.
#[derive(Debug)]
pub struct OpenAi {
    options: OpenAiOptions,
    server: ModelServer,
    endpoint: Endpoint,
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
        let server = ModelServer::new(&options.http(&options.own_headers()), secret)?;
        let endpoint = Endpoint::new(server.base_url(), server.headers().clone());
        Ok(Self { options, server, endpoint })
    }

    fn post(&self, host: &dyn Host, body: &Value) -> Result<Received, Failure> {
        let slot = Slot::default();
        let client = self.server.client().clone();
        let once = Once { client: client.clone(), max_body: self.server.max_body(), slot: slot.clone() };
        let api = async_openai::Client::build(client, self.endpoint.clone()).with_http_service(once);
        let chat = api.chat();
        let sent: Result<Value, _> = self.server.wait(host, chat.create_byot(body))?;
        match (slot.take(), sent) {
            (Some(received), _) => Ok(received),
            (None, sent) => {
                let why = sent.err().map_or_else(|| "nothing was sent".to_owned(), |e| e.to_string());
                let message = format!("cannot build the request: {why}");
                Err(Failure::new(FailureClass::Request, "provider.request", message))
            }
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
