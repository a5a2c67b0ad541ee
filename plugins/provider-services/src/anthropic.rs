//! A provider for the Messages interface of Anthropic, written after its reference of 2026-11.
//!
//! One call makes exactly one HTTP request: retries, further replies, limits, caps and the record belong to the host.

mod options;

pub use options::AnthropicOptions;

use planforge_contract::api::{Host, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, RequestSetting};
use planforge_model_api::anthropic_messages::{read_message, request_body};
use planforge_model_api::http::{KEY_OPTION, ModelServer};
use planforge_plugin_sdk::{About, Plugin, Secrets};

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
