//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_model_api::chat_completions::{Field, GrammarField, MaxTokensField};
use planforge_model_api::http::{HttpSettings, Reasoning};
use planforge_model_api::openai_responses::GrammarForm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    pub(crate) const fn form(self) -> Option<GrammarForm> {
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
    /// Name of the environment variable that holds the key. Left out: no key is sent, as for local servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Header that carries the key. `Authorization` carries `Bearer KEY`; any other carries the key itself. Left out: `api-key` for
    /// Azure, else `Authorization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_header: Option<String>,
    /// The amount that the model reasons before it answers: `"none"`, `"low"`, `"medium"` or `"high"`. A number of tokens is refused, which
    /// the service has no field for. Left out: the service's default.
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
    /// Further headers that carry no key, such as `User-Agent`. The value of every other header is given by `headers_env`,
    /// because this file is recorded.
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
    /// The way in which the server enforces the grammar of a reply, for stages with `grammar = "prefer"` or `"require"`: `"llama-cpp"`, `"vllm"`,
    /// `"sglang"`, `"custom-tool"` (interface Responses), `"json-schema"`, or `"none"`. It is not guessed from the address.
    pub grammar: GrammarSupport,
    /// Fields that are never sent, for endpoints that refuse them.
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
