//! A connection to a batch service.

use crate::batch::{CHAT_URL, MESSAGES_URL, RESPONSES_URL};
use crate::http::{HttpSettings, ModelServer};
use planforge_contract::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Seconds until an upload or a download counts as unanswered.
const TRANSFER_S: f64 = 3600.0;
/// Seconds until a connection counts as failed.
const CONNECT_S: f64 = 10.0;
/// Most megabytes of a response that is not a file of results.
const MAX_BODY_MB: u32 = 16;
/// The version of Anthropic's interface.
const ANTHROPIC_VERSION: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// Services that answer batch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    /// OpenAI's Batch API.
    Openai,
    /// Anthropic's Message Batches.
    Anthropic,
}

impl Service {
    /// The service whose interface the `url` of a request file names.
    pub fn of_url(url: &str) -> Option<Self> {
        match url {
            CHAT_URL | RESPONSES_URL => Some(Self::Openai),
            MESSAGES_URL => Some(Self::Anthropic),
            _ => None,
        }
    }

    /// The service's name in options and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The service's own address.
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    /// The environment variable that usually holds a key of the service.
    pub const fn key_variable(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// The server of a service, and the key for it.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionSettings<'a> {
    pub service: Service,
    pub base_url: &'a str,
    /// Name of the environment variable that holds the key, and its value.
    pub key: Option<(&'a str, &'a str)>,
}

/// A connection to one server of a service.
#[derive(Debug)]
pub struct ServiceConnection {
    pub(crate) service: Service,
    pub(crate) server: ModelServer,
    /// Name of the environment variable that holds the key.
    pub(crate) key_variable: Option<String>,
}

impl ServiceConnection {
    /// A connection with these settings; nothing is contacted yet.
    ///
    /// # Errors
    /// `provider.options`, `provider.key`, `provider.tls`, `provider.client`.
    pub fn new(settings: &ConnectionSettings<'_>) -> Result<Self, Failure> {
        let (api_key_header, own_headers) = match settings.service {
            Service::Openai => ("authorization", &[][..]),
            Service::Anthropic => ("x-api-key", ANTHROPIC_VERSION),
        };
        let none = BTreeMap::new();
        let http = HttpSettings {
            base_url: settings.base_url,
            api_key_env: settings.key.map(|(variable, _)| variable),
            api_key_header,
            own_headers,
            headers: &none,
            headers_env: &none,
            timeout_s: TRANSFER_S,
            connect_timeout_s: CONNECT_S,
            proxy: None,
            ca_file: None,
            max_body_mb: MAX_BODY_MB,
        };
        let server = ModelServer::new(&http, |_| settings.key.map(|(_, value)| value))?;
        let key_variable = settings.key.map(|(variable, _)| variable.to_owned());
        Ok(Self { service: settings.service, server, key_variable })
    }
}
