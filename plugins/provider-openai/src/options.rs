//! The options of a pipeline file's `[llm.NAME]` table that belong to this plugin.

use planforge_chat_completions::{Dialect, Field, MaxTokensField};
use planforge_contract::{Failure, FailureClass, is_harmless_header};
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

    /// All headers but those with secret values.
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
            if !is_harmless_header(name) {
                wrong.push(format!(
                    "header `{name}` may carry a key; name its variable in `headers_env` or `api_key_env` instead"
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

    /// The headers of `headers_env`, with the values that `secret` returns for `headers_env.NAME`.
    ///
    /// # Errors
    /// `provider.options` for a name that no header can have; `provider.key` for a missing value, or one that no header
    /// can carry, without the value in the message.
    pub(crate) fn secret_headers<'a>(
        &self,
        secret: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        for (name, variable) in &self.headers_env {
            let header = HeaderName::try_from(name.as_str()).map_err(|_| {
                let message = format!("`headers_env`: `{name}` cannot be the name of a header");
                Failure::new(FailureClass::Request, "provider.options", message)
            })?;
            let value = secret(&format!("headers_env.{name}")).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| missing_key(variable, &format!("headers_env.{name}")))?;
            headers.insert(header, sensitive(value, variable)?);
        }
        Ok(headers)
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
        let name = name.map_err(|_| {
            let message =
                format!("`api_key_header`: `{}` cannot be the name of a header", self.api_key_header);
            Failure::new(FailureClass::Request, "provider.options", message)
        })?;
        Ok((name, sensitive(&text, self.api_key_env.as_deref().unwrap_or_default())?))
    }
}

/// The failure for a variable without a value.
pub(crate) fn missing_key(variable: &str, option: &str) -> Failure {
    let message = format!("the environment variable `{variable}`, which should hold the key, is not set");
    Failure::new(FailureClass::Request, "provider.key", message).help(format!(
        "set it (`export {variable}=...`), or remove `{option}` for a server that needs no key"
    ))
}

/// A header's value that is kept out of logs.
fn sensitive(text: &str, variable: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::try_from(text).map_err(|_| {
        let message = format!("the key in variable `{variable}` has characters that no header can carry");
        Failure::new(FailureClass::Request, "provider.key", message)
            .help("a line feed at its end is the usual cause")
    })?;
    value.set_sensitive(true);
    Ok(value)
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
