//! A provider for OpenAI's interfaces: Responses, and chat completions of OpenAI and of compatible servers.
//!
//! One call makes exactly one HTTP request: retries, `n`, limits, caps and the record belong to the host. The
//! plugin owns its async runtime and blocks the calling thread; several threads may call at the same time.

mod service;

pub use planforge_model_api::chat_completions::{Field, GrammarField, MaxTokensField};

use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{CompletionRequest, CompletionResult, Failure, FailureClass, RequestSetting};
use planforge_model_api::chat_completions::{Dialect, read_result, request_body};
use planforge_model_api::http::{
    HttpSettings, KEY_OPTION, ModelServer, Reasoning, ReasoningLevel, Received, unsupported,
};
use planforge_model_api::openai_responses::{GrammarForm, ResponsesDialect, read_response};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use service::{Endpoint, Once, Service, Slot};
use std::collections::BTreeMap;

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

/// The interface that requests are sent to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    /// Responses for OpenAI itself (`https://api.openai.com/v1` and its regions), chat completions for every other server.
    #[default]
    Auto,
    /// Responses. It has no `stop` and no `seed`, and gives one reply a request.
    Responses,
    /// Chat completions.
    Chat,
}

/// Ways of servers to enforce the grammar of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrammarSupport {
    /// None is known.
    #[default]
    None,
    /// llama.cpp's server and llama-cpp-python: the field `grammar`.
    LlamaCpp,
    /// vLLM: the field `structured_outputs`.
    Vllm,
    /// SGLang: the field `ebnf`.
    Sglang,
    /// A custom tool with a grammar in Lark's notation, of the interface Responses.
    CustomTool,
    /// A JSON schema of the reply.
    JsonSchema,
}

impl GrammarSupport {
    /// The field of chat completions for a grammar.
    pub(crate) const fn field(self) -> Option<GrammarField> {
        match self {
            Self::None | Self::CustomTool => None,
            Self::LlamaCpp => Some(GrammarField::Grammar),
            Self::Vllm => Some(GrammarField::StructuredOutputs),
            Self::Sglang => Some(GrammarField::Ebnf),
            Self::JsonSchema => Some(GrammarField::ResponseFormat),
        }
    }

    /// The form of the interface Responses for a grammar.
    const fn form(self) -> Option<GrammarForm> {
        match self {
            Self::None | Self::LlamaCpp | Self::Vllm | Self::Sglang => None,
            Self::CustomTool => Some(GrammarForm::CustomTool),
            Self::JsonSchema => Some(GrammarForm::JsonSchema),
        }
    }
}

/// Options of `provider-openai`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAiOptions {
    /// The endpoint without `/responses` or `/chat/completions`; usually ends in `/v1`. For a deployment on Azure:
    /// `https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT`.
    pub base_url: String,
    /// The interface that requests are sent to.
    pub interface: Interface,
    /// Azure's version of the interface, sent as `?api-version=`. It may also stand at the end of `base_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Name of the environment variable that holds the key. Left out: no key is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Header that carries the key. `Authorization` carries `Bearer KEY`; any other carries the key itself. Left out: `api-key` for
    /// Azure, else `Authorization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_header: Option<String>,
    /// The amount that the model reasons before it answers. A number of tokens is refused: the service has no field for it. Left out: the
    /// service's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// Accepted for every provider, and without effect here: OpenAI caches the beginnings of long prompts by itself, and other servers decide
    /// about it themselves.
    pub cache: bool,
    /// Value of the header `OpenAI-Organization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// Value of the header `OpenAI-Project`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
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
    /// The field of chat completions for the most tokens of a reply. Left out: `max_completion_tokens` for OpenAI itself and for reasoning
    /// models on Azure, else `max_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<MaxTokensField>,
    /// The way in which the server enforces the grammar of a reply, for stages with `grammar = "prefer"` or `"require"`. It is not guessed
    /// from the address.
    pub grammar: GrammarSupport,
    /// Fields of OpenAI's interfaces that are never sent, for services that refuse them.
    pub omit: Vec<Field>,
    /// Most megabytes of a response, at least 1.
    pub max_body_mb: u32,
}

impl Default for OpenAiOptions {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            interface: Interface::Auto,
            api_version: None,
            api_key_env: None,
            api_key_header: None,
            reasoning: None,
            cache: false,
            organization: None,
            project: None,
            headers: BTreeMap::new(),
            headers_env: BTreeMap::new(),
            timeout_s: 600.0,
            connect_timeout_s: 10.0,
            proxy: None,
            ca_file: None,
            max_tokens_field: None,
            grammar: GrammarSupport::None,
            omit: Vec::new(),
            max_body_mb: 64,
        }
    }
}

impl OpenAiOptions {
    /// The options about the server, with this address and this header for the key. `own_headers` are those of [`Self::own_headers`].
    pub(crate) fn http<'a>(
        &'a self,
        (base_url, api_key_header): (&'a str, &'a str),
        own_headers: &'a [(&'a str, &'a str)],
    ) -> HttpSettings<'a> {
        HttpSettings {
            base_url,
            api_key_env: self.api_key_env.as_deref(),
            api_key_header,
            own_headers,
            headers: &self.headers,
            headers_env: &self.headers_env,
            timeout_s: self.timeout_s,
            connect_timeout_s: self.connect_timeout_s,
            proxy: self.proxy.as_deref(),
            ca_file: self.ca_file.as_deref(),
            max_body_mb: self.max_body_mb,
        }
    }

    /// The headers that options of their own set.
    pub(crate) fn own_headers(&self) -> Vec<(&str, &str)> {
        let named = [("OpenAI-Organization", &self.organization), ("OpenAI-Project", &self.project)];
        named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }
}
