//! The service behind a `base_url`, and what its address decides: the interface, the query, the key's header, and names of fields.

use crate::openai::{GrammarSupport, Interface, OpenAiOptions};
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use planforge_contract::{Failure, FailureClass, OptionCondition};
use planforge_model_api::chat_completions::MaxTokensField;
use planforge_model_api::http::{Received, receive};
use reqwest::Url;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// The addresses of OpenAI itself: worldwide, and with the data kept in a region.
const OPENAI_URLS: [&str; 6] = [
    "https://api.openai.com/v1",
    "https://api.openai.com/v1/",
    "https://eu.api.openai.com/v1",
    "https://eu.api.openai.com/v1/",
    "https://us.api.openai.com/v1",
    "https://us.api.openai.com/v1/",
];

/// Ends of the host names of Azure's services.
const AZURE_HOSTS: [&str; 3] =
    [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];

/// The parameter of Azure's addresses that names the version of the interface.
const API_VERSION: &str = "api-version";

/// The service that requests go to.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    /// The address without a query.
    pub(crate) base_url: String,
    /// Value of `?api-version=`.
    pub(crate) api_version: Option<String>,
    /// Header that carries the key.
    pub(crate) api_key_header: String,
    /// True for the interface Responses, false for chat completions.
    pub(crate) responses: bool,
    is_openai: bool,
    is_azure: bool,
}

impl Service {
    /// The service of these options.
    ///
    /// # Errors
    /// `provider.options`: `api_version` and the query of `base_url` name different versions.
    pub(crate) fn new(options: &OpenAiOptions) -> Result<Self, Failure> {
        let (base_url, in_url) = split_api_version(&options.base_url);
        if let (Some(option), Some(in_url)) = (&options.api_version, &in_url)
            && option != in_url
        {
            let message =
                format!("`api_version` is `{option}`, and `base_url` ends with `?{API_VERSION}={in_url}`");
            return Err(
                Failure::new(FailureClass::Request, "provider.options", message).help("keep one of the two")
            );
        }
        let api_version = options.api_version.clone().or(in_url);
        let is_openai = OPENAI_URLS.contains(&base_url.as_str());
        let host = Url::parse(&base_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let on_azure = host.is_some_and(|host| AZURE_HOSTS.iter().any(|end| host.ends_with(end)));
        let is_azure = on_azure || api_version.is_some();
        let default_header = if is_azure { "api-key" } else { "Authorization" };
        Ok(Self {
            api_key_header: options.api_key_header.clone().unwrap_or_else(|| default_header.to_owned()),
            responses: match options.interface {
                Interface::Auto => is_openai,
                Interface::Responses => true,
                Interface::Chat => false,
            },
            base_url,
            api_version,
            is_openai,
            is_azure,
        })
    }

    /// Refuses a way to enforce grammars that the service's interface does not have.
    ///
    /// # Errors
    /// `provider.options`.
    pub(crate) fn check_grammar(&self, support: GrammarSupport) -> Result<(), Failure> {
        use GrammarSupport as G;
        let (interface, fits) = match (self.responses, support) {
            (true, G::LlamaCpp | G::Vllm | G::Sglang) => ("Responses", "`custom-tool` and `json-schema`"),
            (false, G::CustomTool) => ("chat completions", "`llama-cpp`, `vllm`, `sglang` and `json-schema`"),
            _ => return Ok(()),
        };
        let message = format!("this value of `grammar` does not fit the interface {interface}");
        let help = format!("with it, `grammar` may be {fits}; `interface` states the interface");
        Err(Failure::new(FailureClass::Request, "provider.options", message).help(help))
    }

    /// The field of chat completions for the most tokens of a reply.
    pub(crate) fn max_tokens_field(&self, model: &str) -> MaxTokensField {
        // OpenAI takes the new name from every model; Azure's older versions only from models that reason.
        match self.is_openai || self.is_azure && refuses_temperature(model) {
            true => MaxTokensField::MaxCompletionTokens,
            false => MaxTokensField::MaxTokens,
        }
    }

    /// True if the service's model is known to accept no `temperature` and `top_p` other than 1.
    pub(crate) fn refuses_temperature(&self, model: &str) -> bool {
        self.is_openai && refuses_temperature(model)
    }
}

/// The conditions on options of which one holds where requests go to the interface Responses.
pub(crate) fn responses_conditions() -> [OptionCondition; 2] {
    let at_openai = OptionCondition::new("base_url", &OPENAI_URLS);
    [
        OptionCondition::new("interface", &["responses"]),
        OptionCondition::new("interface", &["auto"]).and(at_openai),
    ]
}

/// The condition on options under which the server enforces grammars.
pub(crate) fn grammar_condition() -> OptionCondition {
    OptionCondition::new("grammar", &["llama-cpp", "vllm", "sglang", "custom-tool", "json-schema"])
}

/// True for the names of OpenAI's reasoning models that always refuse `temperature`: `o1`, `o3-mini`, ..., and the first `gpt-5` models. Later ones
/// accept it where they do not reason.
fn refuses_temperature(model: &str) -> bool {
    let o_series = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let first_gpt_5 = model
        .strip_prefix("gpt-5")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-') && !rest.starts_with("-chat"));
    o_series || first_gpt_5
}

/// Splits `?api-version=VERSION` off an address. Any other query stays in it, and is refused with the other options.
fn split_api_version(address: &str) -> (String, Option<String>) {
    let same = || (address.to_owned(), None);
    let Some((base, query)) = address.split_once('?') else { return same() };
    match query.split_once('=') {
        Some((API_VERSION, version)) if !version.is_empty() && !version.contains(['&', '#', '%']) => {
            (base.to_owned(), Some(version.to_owned()))
        }
        _ => same(),
    }
}

/// The configuration for async-openai. Its default one reads `OPENAI_*` variables and always sends a key.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base_url: String,
    headers: HeaderMap,
    api_version: Option<String>,
    // The trait wants a key to hand out; nothing here asks for it, the header holds the real one.
    no_key: SecretString,
}

impl Endpoint {
    pub(crate) fn new(base_url: &str, headers: HeaderMap, api_version: Option<String>) -> Self {
        let base_url = base_url.trim_end_matches('/').to_owned();
        Self { base_url, headers, api_version, no_key: SecretString::from("") }
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }
    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
    fn query(&self) -> Vec<(&str, &str)> {
        self.api_version.iter().map(|version| (API_VERSION, version.as_str())).collect()
    }
    fn api_base(&self) -> &str {
        &self.base_url
    }
    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

/// The response of one request, kept because async-openai may drop it.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Received>>>);

impl Slot {
    fn set(&self, outcome: Received) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }
    pub(crate) fn take(&self) -> Option<Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The service under async-openai: sends once, reads the body within its limit, and keeps status, Retry-After and body.
#[derive(Clone)]
pub(crate) struct Once {
    pub(crate) client: reqwest::Client,
    pub(crate) max_body: usize,
    pub(crate) slot: Slot,
}

impl tower_service::Service<HttpRequestFactory> for Once {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = Pin<Box<dyn Future<Output = Result<reqwest::Response, OpenAIError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let once = self.clone();
        Box::pin(async move {
            let request = factory.build().await?;
            let outcome = receive(&once.client, request, once.max_body).await;
            // async-openai writes bodies of failures to the log, unredacted, and drops Retry-After. So it
            // only ever sees success; the outcome itself is taken from the slot.
            let body = outcome.clone().unwrap_or_else(|_| b"null".to_vec());
            once.slot.set(outcome);
            Ok(reqwest::Response::from(http::Response::new(body)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(base_url: &str) -> Service {
        Service::new(&OpenAiOptions { base_url: base_url.to_owned(), ..OpenAiOptions::default() }).unwrap()
    }

    #[test]
    fn openai_itself_gets_responses_and_every_other_server_chat_completions() {
        for url in OPENAI_URLS {
            assert!(service(url).responses, "{url}");
        }
        for url in [
            "http://127.0.0.1:8081/v1",
            "https://openrouter.ai/api/v1",
            "https://x.openai.azure.com/openai/v1",
            "https://api.openai.com.example.org/v1",
            "http://api.openai.com/v1",
        ] {
            assert!(!service(url).responses, "{url}");
        }
        let chosen = |interface| {
            Service::new(&OpenAiOptions { interface, ..OpenAiOptions::default() }).unwrap().responses
        };
        assert_eq!([Interface::Auto, Interface::Responses, Interface::Chat].map(chosen), [true, true, false]);
    }

    #[test]
    fn the_declared_conditions_hold_where_responses_is_used() {
        let schema = schemars::schema_for!(OpenAiOptions).to_value();
        for (url, interface) in [
            (None, None),
            (Some(OPENAI_URLS[3]), None),
            (Some(OPENAI_URLS[0]), Some("chat")),
            (Some("http://127.0.0.1:8081/v1"), None),
            (Some("http://127.0.0.1:8081/v1"), Some("responses")),
        ] {
            let mut table = serde_json::Map::new();
            table.extend(url.map(|url| ("base_url".to_owned(), url.into())));
            table.extend(interface.map(|interface| ("interface".to_owned(), interface.into())));
            let declared = responses_conditions().iter().any(|one| one.holds(&schema, &table));
            let options: OpenAiOptions = serde_json::from_value(table.into()).unwrap();
            assert_eq!(declared, Service::new(&options).unwrap().responses, "{url:?} {interface:?}");
        }
    }

    #[test]
    fn only_a_table_that_names_its_server_enforces_grammars() {
        let schema = schemars::schema_for!(OpenAiOptions).to_value();
        let declared =
            |table: serde_json::Value| grammar_condition().holds(&schema, table.as_object().unwrap());
        assert!(!declared(serde_json::json!({"base_url": "http://127.0.0.1:8080/v1"})), "never guessed");
        assert!(!declared(serde_json::json!({"grammar": "none"})));
        for grammar in ["llama-cpp", "vllm", "sglang", "custom-tool", "json-schema"] {
            assert!(declared(serde_json::json!({"grammar": grammar})));
            let table = serde_json::json!({"grammar": grammar});
            let options: OpenAiOptions = serde_json::from_value(table).unwrap();
            assert_ne!(options.grammar, GrammarSupport::None);
        }
    }

    #[test]
    fn the_most_tokens_go_into_the_field_that_the_service_reads() {
        let field = |url: &str, model: &str| service(url).max_tokens_field(model).name();
        assert_eq!(field(OPENAI_URLS[0], "gpt-4o"), "max_completion_tokens");
        assert_eq!(field("http://127.0.0.1:8081/v1", "o1"), "max_tokens");
        let azure = "https://x.openai.azure.com/openai/deployments/d";
        assert_eq!(
            [field(azure, "o3-mini"), field(azure, "gpt-4o")],
            ["max_completion_tokens", "max_tokens"]
        );
    }

    #[test]
    fn models_that_refuse_a_temperature_are_told_by_their_names() {
        for model in ["o1", "o1-mini-2024-09-12", "o3", "o4-mini", "gpt-5", "gpt-5-mini"] {
            assert!(refuses_temperature(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "gpt-5.1", "olmo", "omni-moderation-latest"] {
            assert!(!refuses_temperature(model), "{model}");
        }
    }
}
