//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_model_api::chat_completions::{Field, MaxTokensField};
use planforge_model_api::http::Reasoning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Services that answer batch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchService {
    /// OpenAI's Batch API, and servers that have the same interface.
    Openai,
    /// Anthropic's Message Batches.
    Anthropic,
}

/// OpenAI's interfaces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchInterface {
    /// Chat completions.
    #[default]
    Chat,
    /// Responses. It has no `stop` and no `seed`, and gives one reply a request.
    Responses,
}

/// Options of `provider-batch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BatchProviderOptions {
    /// The service whose format the files have, and to which `planforge batch` sends them.
    pub service: BatchService,
    /// The interface whose bodies the requests have (OpenAI).
    pub interface: BatchInterface,
    /// The service's interface as far as `/v1`, for `planforge batch`. Left out: the service's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key, for `planforge batch`. Left out: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`
    /// for the service's own address, and no key for any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The amount that the model reasons before it answers: `"none"`, `"low"`, `"medium"`, `"high"`, or a number of tokens (Anthropic). Left
    /// out: the service's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// True marks the prompt for the service's cache (Anthropic). OpenAI caches the beginnings of long prompts by itself.
    pub cache: bool,
    /// The field of chat completions for the most tokens of a reply (OpenAI).
    pub max_tokens_field: MaxTokensField,
    /// Fields that are never written, for services that refuse them (OpenAI).
    pub omit: Vec<Field>,
}

impl Default for BatchProviderOptions {
    fn default() -> Self {
        Self {
            service: BatchService::Openai,
            interface: BatchInterface::Chat,
            base_url: None,
            api_key_env: None,
            reasoning: None,
            cache: false,
            max_tokens_field: MaxTokensField::MaxTokens,
            omit: Vec::new(),
        }
    }
}
