//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_plugin_sdk::schemars::JsonSchema;
use planforge_plugin_sdk::serde::Deserialize;

/// Options of `provider-local`. `model` is the path of a GGUF file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", default, deny_unknown_fields)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
pub struct LocalOptions {
    /// Tokens that the cache holds: the prompt once, and all replies that are written together. Its memory is taken at once.
    #[schemars(range(min = 64, max = 1_048_576))]
    pub context: u32,
    /// Replies to one request that are written together, if the cache holds them.
    #[schemars(range(min = 1, max = 64))]
    pub samples: u32,
    /// Threads. Left out: one for each processor.
    #[schemars(range(min = 1, max = 512))]
    pub threads: Option<u16>,
    /// Most megabytes for weights and cache. Left out: what the machine has available.
    pub memory_mb: Option<u64>,
    /// The form of a conversation: a name that llama.cpp knows, such as `chatml` or `llama3`. Left out: the template in the model's file.
    pub chat_template: Option<String>,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self { context: 8192, samples: 8, threads: None, memory_mb: None, chat_template: None }
    }
}
