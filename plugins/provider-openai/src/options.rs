//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_chat_completions::{Dialect, Field, MaxTokensField};
use planforge_contract::{Failure, FailureClass};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
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
    /// Further headers. Not for keys: this file is recorded.
    pub headers: BTreeMap<String, String>,
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

/// Headers that would put a key into the pipeline file, which is recorded.
const KEY_HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"];

impl OpenAiOptions {
    /// The endpoint's form of requests.
    pub(crate) fn dialect(&self) -> Dialect<'_> {
        Dialect { max_tokens_field: self.max_tokens_field, omit: &self.omit }
    }

    /// All headers but the key's.
    ///
    /// # Errors
    /// `provider.options` with everything that is wrong.
    pub(crate) fn check(&self) -> Result<HeaderMap, Failure> {
        let mut wrong = Vec::new();
        check_url(&self.base_url, "base_url", &mut wrong);
        if let Some(proxy) = &self.proxy {
            check_url(proxy, "proxy", &mut wrong);
        }
        for (key, seconds) in [("timeout_s", self.timeout_s), ("connect_timeout_s", self.connect_timeout_s)] {
            if !(seconds > 0.0 && seconds <= 86_400.0) {
                wrong.push(format!("`{key}` is above 0 and at most 86400 seconds, not {seconds}"));
            }
        }
        if self.max_body_mb == 0 {
            wrong.push("`max_body_mb` is at least 1".to_owned());
        }
        let mut headers = HeaderMap::new();
        let named = [("OpenAI-Organization", &self.organization), ("OpenAI-Project", &self.project)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        let further = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in named.chain(further) {
            if KEY_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                wrong.push(format!(
                    "header `{name}` carries a key; name its variable in `api_key_env` instead"
                ));
                continue;
            }
            match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                (Ok(name), Ok(value)) => drop(headers.insert(name, value)),
                (Err(_), _) => wrong.push(format!("`{name}` cannot be the name of a header")),
                (_, Err(_)) => wrong.push(format!("header `{name}` has a value that no header can have")),
            }
        }
        if HeaderName::try_from(self.api_key_header.as_str()).is_err() {
            wrong.push(format!("`api_key_header`: `{}` cannot be the name of a header", self.api_key_header));
        }
        if wrong.is_empty() {
            return Ok(headers);
        }
        Err(Failure::new(FailureClass::Request, "provider.options", wrong.join("; ")))
    }

    /// The header that carries `key`.
    ///
    /// # Errors
    /// `provider.key`, without the key in the message.
    pub(crate) fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), Failure> {
        let name = HeaderName::try_from(self.api_key_header.as_str());
        let text = if self.api_key_header.eq_ignore_ascii_case("authorization") {
            format!("Bearer {key}")
        } else {
            key.to_owned()
        };
        match (name, HeaderValue::try_from(text)) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                Ok((name, value))
            }
            _ => {
                let variable = self.api_key_env.as_deref().unwrap_or_default();
                Err(Failure::new(
                    FailureClass::Request,
                    "provider.key",
                    format!("the key in variable `{variable}` has characters that no header can carry"),
                )
                .help("a line feed at its end is the usual cause"))
            }
        }
    }
}

fn check_url(text: &str, key: &str, wrong: &mut Vec<String>) {
    match reqwest::Url::parse(text) {
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            wrong.push(format!("`{key}` holds a user name or password, and the pipeline file is recorded"));
        }
        Ok(url) if key == "base_url" && (url.query().is_some() || url.fragment().is_some()) => {
            wrong.push(format!("`{key}` ends before any `?` or `#`"));
        }
        Ok(url) if matches!(url.scheme(), "http" | "https") => {}
        Ok(url) => wrong.push(format!("`{key}` begins with http:// or https://, not {}://", url.scheme())),
        Err(e) => wrong.push(format!("`{key}` is not a URL: {e}")),
    }
}
