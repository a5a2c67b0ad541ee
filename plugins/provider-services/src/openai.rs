//! A provider for OpenAI's interfaces: Responses, and chat completions of OpenAI and of compatible servers.
//!
//! One call makes exactly one HTTP request: retries, `n`, limits, caps and the record belong to the host. The
//! plugin owns its async runtime and blocks the calling thread; several threads may call at the same time.

mod http;
mod options;
mod service;

pub use options::{GrammarSupport, Interface, OpenAiOptions};
pub use planforge_model_api::chat_completions::{Field, GrammarField, MaxTokensField};

use crate::openai::http::{Endpoint, Once, Slot};
use crate::openai::service::Service;
use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, FailureClass, RequestSetting};
use planforge_model_api::chat_completions::{Dialect, read_result, request_body};
use planforge_model_api::http::{KEY_OPTION, ModelServer, Reasoning, ReasoningLevel, Received, unsupported};
use planforge_model_api::openai_responses::{ResponsesDialect, read_response};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use serde_json::Value;

/// A connection to one endpoint.
#[derive(Debug)]
pub struct OpenAi {
    options: OpenAiOptions,
    service: Service,
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
        let service = Service::new(&options)?;
        service.check_grammar(options.grammar)?;
        let at = (service.base_url.as_str(), service.api_key_header.as_str());
        let server = ModelServer::new(&options.http(at, &options.own_headers()), secret)?;
        let endpoint =
            Endpoint::new(server.base_url(), server.headers().clone(), service.api_version.clone());
        Ok(Self { options, service, server, endpoint })
    }

    /// The body of a request for the service's interface.
    ///
    /// # Errors
    /// `provider.unsupported`.
    fn body(&self, request: &CompletionRequest) -> Result<Value, Failure> {
        let reasoning = self.options.reasoning.map(Reasoning::level).transpose()?;
        self.check_temperature(request)?;
        self.check_grammar(request)?;
        if self.service.responses {
            let dialect = ResponsesDialect {
                omit: &self.options.omit,
                reasoning,
                grammar: self.options.grammar.form(),
            };
            return planforge_model_api::openai_responses::request_body(request, &dialect);
        }
        let field = self.options.max_tokens_field;
        Ok(request_body(
            request,
            &Dialect {
                max_tokens_field: field.unwrap_or_else(|| self.service.max_tokens_field(&request.model)),
                omit: &self.options.omit,
                reasoning: reasoning.map(ReasoningLevel::name),
                grammar: self.options.grammar.field(),
            },
        ))
    }

    /// Refuses a required grammar of which the server's way has no form.
    fn check_grammar(&self, request: &CompletionRequest) -> Result<(), Failure> {
        let lacks_schema = request.constraint.as_ref().is_some_and(|c| c.required && c.schema.is_none());
        if lacks_schema && self.options.grammar == GrammarSupport::JsonSchema {
            return Err(unsupported(
                "the required grammar has no JSON schema",
                "write `grammar = \"prefer\"` in the stage's options, or choose a server that enforces grammars",
            ));
        }
        Ok(())
    }

    /// Refuses a setting that the model is known to refuse, before anything is sent.
    fn check_temperature(&self, request: &CompletionRequest) -> Result<(), Failure> {
        if !self.service.refuses_temperature(&request.model) {
            return Ok(());
        }
        let sampling = &request.sampling;
        for (field, name, value) in [
            (Field::Temperature, "temperature", sampling.temperature),
            (Field::TopP, "top_p", sampling.top_p),
        ] {
            if value.is_some_and(|value| value != 1.0) && !self.options.omit.contains(&field) {
                return Err(unsupported(
                    format!(
                        "`{}` is a reasoning model, which accepts no `{name}` other than 1",
                        request.model
                    ),
                    format!(
                        "remove `{name}` from the `[llm.NAME]` table, set it to 1, or write `omit = [\"{name}\"]` if a stage sets it"
                    ),
                ));
            }
        }
        Ok(())
    }

    fn post(&self, host: &dyn Host, body: &Value) -> Result<Received, Failure> {
        let slot = Slot::default();
        let client = self.server.client().clone();
        let once = Once { client: client.clone(), max_body: self.server.max_body(), slot: slot.clone() };
        let api = async_openai::Client::build(client, self.endpoint.clone()).with_http_service(once);
        let sent: Result<Value, _> = match self.service.responses {
            true => self.server.wait(host, async { api.responses().create_byot(body).await })?,
            false => self.server.wait(host, async { api.chat().create_byot(body).await })?,
        };
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
        About::new("Asks OpenAI, or any server with OpenAI's chat completions or Responses, local or remote")
            .several_replies()
            .lacks_where(RequestSetting::Replies, &service::responses_conditions())
            .lacks_where(RequestSetting::Seed, &service::responses_conditions())
            .lacks_where(RequestSetting::Stop, &service::responses_conditions())
            .enforces_grammars_where(&[service::grammar_condition()])
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

planforge_plugin_sdk::bundle_plugin!("planforge_provider_openai", Provider, OpenAi);

impl Provider for OpenAi {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        if request.extra.get("stream").is_some_and(|s| *s != Value::Bool(false)) {
            host.log(LogLevel::Warn, "`stream` in `extra_body` is ignored: answers are always read whole");
        }
        let without_schema = request.constraint.as_ref().is_some_and(|c| c.schema.is_none());
        if without_schema && self.options.grammar == GrammarSupport::JsonSchema {
            host.log(LogLevel::Info, "the grammar has no JSON schema, so the request goes without it");
        }
        Ok(match self.post(host, &self.body(request)?)? {
            Ok(bytes) if self.service.responses => read_response(&bytes),
            Ok(bytes) => read_result(&bytes),
            Err(failure) => CompletionResult::ProviderFailure(failure),
        })
    }
}
