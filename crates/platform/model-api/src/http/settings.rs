//! The options of a `[llm.NAME]` table that every provider over HTTP has, and the headers that they make.

use planforge_contract::{Failure, FailureClass, is_harmless_header};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;

/// The option that names the variable of the key.
pub const KEY_OPTION: &str = "api_key_env";

/// A provider's options about its server. The plugin's own options hold them, each under the name of its field here.
#[derive(Debug, Clone, Copy)]
pub struct HttpSettings<'a> {
    /// The address that every path is appended to.
    pub base_url: &'a str,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<&'a str>,
    /// Header that carries the key. `Authorization` carries `Bearer KEY`; any other carries the key itself.
    pub api_key_header: &'a str,
    /// Headers that the plugin sets, which carry no key.
    pub own_headers: &'a [(&'a str, &'a str)],
    /// Further headers that carry no key.
    pub headers: &'a BTreeMap<String, String>,
    /// Further headers, each with the name of the environment variable that holds its value.
    pub headers_env: &'a BTreeMap<String, String>,
    /// Seconds until a request counts as unanswered, above 0.
    pub timeout_s: f64,
    /// Seconds until a connection counts as failed, above 0.
    pub connect_timeout_s: f64,
    /// URL of a proxy. `None`: a direct connection, whatever the environment says.
    pub proxy: Option<&'a str>,
    /// Text of a PEM file with further certificate authorities to trust.
    pub ca_file: Option<&'a str>,
    /// Most megabytes of a response, at least 1.
    pub max_body_mb: u32,
}

impl HttpSettings<'_> {
    /// All headers of a request. `secret` returns the value for an option: `api_key_env`, or `headers_env.NAME`.
    ///
    /// # Errors
    /// `provider.options` with everything that is wrong; `provider.key` for a missing value, or one that no header can
    /// carry, without the value in the message.
    pub fn all_headers<'s>(&self, secret: impl Fn(&str) -> Option<&'s str>) -> Result<HeaderMap, Failure> {
        let mut headers = self.check()?;
        for (name, variable) in self.headers_env {
            let header = HeaderName::try_from(name.as_str()).map_err(|_| {
                wrong_option(format!("`headers_env`: `{name}` cannot be the name of a header"))
            })?;
            let option = format!("headers_env.{name}");
            let value = secret(&option).filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| missing_key(variable, &option))?;
            headers.insert(header, sensitive(value, variable)?);
        }
        if let Some(variable) = self.api_key_env {
            let key = secret(KEY_OPTION).filter(|key| !key.is_empty());
            let (name, value) = self.key_header(key.ok_or_else(|| missing_key(variable, KEY_OPTION))?)?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// All headers but those with secret values.
    fn check(&self) -> Result<HeaderMap, Failure> {
        let mut wrong = Vec::new();
        check_url(self.base_url, "base_url", &mut wrong);
        if let Some(proxy) = self.proxy {
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
        let own = self.own_headers.iter().map(|&(name, value)| (true, name, value));
        let further = self.headers.iter().map(|(name, value)| (false, name.as_str(), value.as_str()));
        for (is_own, name, value) in own.chain(further) {
            if !is_own && !is_harmless_header(name) {
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
        if HeaderName::try_from(self.api_key_header).is_err() {
            wrong.push(format!("`api_key_header`: `{}` cannot be the name of a header", self.api_key_header));
        }
        if wrong.is_empty() { Ok(headers) } else { Err(wrong_option(wrong.join("; "))) }
    }

    fn key_header(&self, key: &str) -> Result<(HeaderName, HeaderValue), Failure> {
        let name = HeaderName::try_from(self.api_key_header).map_err(|_| {
            wrong_option(format!(
                "`api_key_header`: `{}` cannot be the name of a header",
                self.api_key_header
            ))
        })?;
        let text = match self.api_key_header.eq_ignore_ascii_case("authorization") {
            true => format!("Bearer {key}"),
            false => key.to_owned(),
        };
        Ok((name, sensitive(&text, self.api_key_env.unwrap_or_default())?))
    }
}

fn wrong_option(message: String) -> Failure {
    Failure::new(FailureClass::Request, "provider.options", message)
}

/// The failure for a variable without a value.
fn missing_key(variable: &str, option: &str) -> Failure {
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
