//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_chat_completions::{Dialect, Field, MaxTokensField};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of `provider-batch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BatchProviderOptions {
    /// The service's field for the most tokens of a reply.
    pub max_tokens_field: MaxTokensField,
    /// Fields that are never written, for services that refuse them.
    pub omit: Vec<Field>,
}

impl Default for BatchProviderOptions {
    fn default() -> Self {
        Self { max_tokens_field: MaxTokensField::MaxTokens, omit: Vec::new() }
    }
}

impl BatchProviderOptions {
    pub(crate) fn dialect(&self) -> Dialect<'_> {
        Dialect { max_tokens_field: self.max_tokens_field, omit: &self.omit, reasoning: None }
    }
}
