//! A provider for the Messages interface of Anthropic, written after its reference of 2026-11.
//!
//! One call makes exactly one HTTP request: retries, further replies, limits, caps and the record belong to the host.

use planforge_contract::api::{Host, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, RequestSetting};
use planforge_model_api::anthropic_messages::{MessagesDialect, read_message, request_body};
use planforge_model_api::http::{HttpSettings, KEY_OPTION, ModelServer, Reasoning};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A connection to one server.
#[derive(Debug)]
pub struct Anthropic {
    options: AnthropicOptions,
    server: ModelServer,
}

impl Plugin for Anthropic {
    type Options = AnthropicOptions;

    fn about() -> About {
        About::new("Asks models of Anthropic through their own interface (Messages)")
            .lacks(RequestSetting::Logprobs)
            .lacks(RequestSetting::Seed)
            .highest_temperature(1.0)
            .secret(KEY_OPTION)
            .secret("headers_env")
            .server("base_url")
            .server("proxy")
            .file("ca_file")
    }

    fn create(options: AnthropicOptions, secrets: &Secrets) -> Result<Self, Failure> {
        let server = ModelServer::new(&options.http(), |name| secrets.get(name))?;
        Ok(Self { options, server })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_provider_anthropic", Provider, Anthropic);

impl Provider for Anthropic {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let body = request_body(request, &self.options.dialect())?;
        Ok(match self.server.post(host, "/messages", &body)? {
            Ok(bytes) => read_message(&bytes),
            Err(failure) => CompletionResult::ProviderFailure(failure),
        })
    }
}

/// The version of the interface that requests and responses follow.
const VERSION: &str = "2023-06-01";

/// Options of `provider-anthropic`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnthropicOptions {
    /// The interface without `/messages`; usually ends in `/v1`.
    pub base_url: String,
    /// Name of the environment variable that holds the key. Left out: no key is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// True marks the prompt for the service's cache, so that a later request with the same beginning costs less.
    pub cache: bool,
    /// The amount that the model reasons before it answers, also as a number of tokens. Left out: the service's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// Further headers that carry no key. The value of every other header is given by `headers_env`, because this file is
    /// recorded.
    pub headers: BTreeMap<String, String>,
    /// Further headers, each with the name of the environment variable that holds its value.
    pub headers_env: BTreeMap<String, String>,
    /// Seconds until a request counts as unanswered, above 0.
    pub timeout_s: f64,
    /// Seconds until a connection counts as failed, above 0.
    pub connect_timeout_s: f64,
    /// URL of a proxy. Left out: a direct connection, whatever the environment says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Path of a PEM file with further certificate authorities to trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// Most megabytes of a response, at least 1.
    pub max_body_mb: u32,
}

impl Default for AnthropicOptions {
    fn default() -> Self {
        Self {
            base_url: "https://api.anthropic.com/v1".to_owned(),
            api_key_env: None,
            cache: false,
            reasoning: None,
            headers: BTreeMap::new(),
            headers_env: BTreeMap::new(),
            timeout_s: 600.0,
            connect_timeout_s: 10.0,
            proxy: None,
            ca_file: None,
            max_body_mb: 64,
        }
    }
}

impl AnthropicOptions {
    /// The options about the request.
    pub(crate) const fn dialect(&self) -> MessagesDialect {
        MessagesDialect { cache: self.cache, reasoning: self.reasoning }
    }

    /// The options about the server.
    pub(crate) fn http(&self) -> HttpSettings<'_> {
        HttpSettings {
            base_url: &self.base_url,
            api_key_env: self.api_key_env.as_deref(),
            api_key_header: "x-api-key",
            own_headers: &[("anthropic-version", VERSION)],
            headers: &self.headers,
            headers_env: &self.headers_env,
            timeout_s: self.timeout_s,
            connect_timeout_s: self.connect_timeout_s,
            proxy: self.proxy.as_deref(),
            ca_file: self.ca_file.as_deref(),
            max_body_mb: self.max_body_mb,
        }
    }
}
