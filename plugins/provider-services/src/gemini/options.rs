//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_model_api::http::{HttpSettings, Reasoning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of `provider-gemini`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GeminiOptions {
    /// The interface without `/models/MODEL:generateContent`; usually ends in `/v1beta`.
    pub base_url: String,
    /// Name of the environment variable that holds the key. Left out: no key is sent, as for a local proxy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Accepted for every provider, and without effect here: the service caches the beginnings of long prompts by itself.
    pub cache: bool,
    /// The amount that the model reasons before it answers: `"none"`, `"low"`, `"medium"`, `"high"`, or a number of tokens.
    /// Left out: the service's default.
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

impl Default for GeminiOptions {
    fn default() -> Self {
        Self {
            base_url: "https://generativelanguage.googleapis.com/v1beta".to_owned(),
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

impl GeminiOptions {
    /// The options about the server.
    pub(crate) fn http(&self) -> HttpSettings<'_> {
        HttpSettings {
            base_url: &self.base_url,
            api_key_env: self.api_key_env.as_deref(),
            api_key_header: "x-goog-api-key",
            own_headers: &[],
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
