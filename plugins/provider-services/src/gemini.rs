//! A provider for the generateContent interface of Gemini, written after its reference of 2026-11.
//!
//! One call makes exactly one HTTP request: retries, further replies, limits, caps and the record belong to the host.

mod options;
mod request;
mod response;

pub use options::GeminiOptions;

use planforge_contract::api::{Host, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure};
use planforge_model_api::http::{KEY_OPTION, ModelServer};
use planforge_plugin_sdk::{About, Plugin, Secrets};

/// A connection to one server.
#[derive(Debug)]
pub struct Gemini {
    options: GeminiOptions,
    server: ModelServer,
}

impl Plugin for Gemini {
    type Options = GeminiOptions;

    fn about() -> About {
        About::new("Asks models of Google through their own interface (generateContent)")
            .highest_temperature(2.0)
            .secret(KEY_OPTION)
            .secret("headers_env")
            .server("base_url")
            .server("proxy")
            .file("ca_file")
    }

    fn create(options: GeminiOptions, secrets: &Secrets) -> Result<Self, Failure> {
        let server = ModelServer::new(&options.http(), |name| secrets.get(name))?;
        Ok(Self { options, server })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_provider_gemini", Provider, Gemini);

impl Provider for Gemini {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let path = request::path(&request.model)?;
        let body = request::body(request, &self.options);
        Ok(match self.server.post(host, &path, &body)? {
            Ok(bytes) => response::read(&bytes),
            Err(failure) => CompletionResult::ProviderFailure(failure),
        })
    }
}
