//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_chat_completions::{Dialect, Field, MaxTokensField};
use planforge_model_http::HttpSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options of `provider-openai`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAiOptions {
    /// The endpoint without `/chat/completions`; usually ends in `/v1`.
    pub base_url: String,
    /// Name of the environment variable that holds the key. Left out: no key is sent, as for local servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Header that carries the key. `Authorization` carries `Bearer KEY`; any other (such as `api-key`)
    /// carries the key itself.
    pub api_key_header: String,
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
    /// The endpoint's field for the most tokens of a reply.
    pub max_tokens_field: MaxTokensField,
    /// Fields that are never sent, for endpoints that refuse them.
    pub omit: Vec<Field>,
    /// Most megabytes of a response, at least 1.
    pub max_body_mb: u32,
}

impl Default for OpenAiOptions {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key_env: None,
            api_key_header: "Authorization".to_owned(),
            organization: None,
            project: None,
            headers: BTreeMap::new(),
            headers_env: BTreeMap::new(),
            timeout_s: 600.0,
            connect_timeout_s: 10.0,
            proxy: None,
            ca_file: None,
            max_tokens_field: MaxTokensField::MaxTokens,
            omit: Vec::new(),
            max_body_mb: 64,
        }
    }
}

impl OpenAiOptions {
    /// The endpoint's form of requests.
    pub(crate) fn dialect(&self) -> Dialect<'_> {
        Dialect { max_tokens_field: self.max_tokens_field, omit: &self.omit }
    }

    /// The options about the server. `own_headers` are those of [`Self::own_headers`].
    pub(crate) fn http<'a>(&'a self, own_headers: &'a [(&'a str, &'a str)]) -> HttpSettings<'a> {
        HttpSettings {
            base_url: &self.base_url,
            api_key_env: self.api_key_env.as_deref(),
            api_key_header: &self.api_key_header,
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
