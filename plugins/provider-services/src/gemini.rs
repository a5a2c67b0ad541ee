//! A provider for the generateContent interface of Gemini, written after its reference of 2026-11.
//!
//! One call makes exactly one HTTP request: retries, further replies, limits, caps and the record belong to the host.

use planforge_contract::api::{Host, Provider};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FinishReason, ProviderFailure, Replies, Reply, Speaker,
    TokenLogprob, Usage,
};
use planforge_model_api::chat_completions::{argument_text, malformed_failure, parse_body, read_error};
use planforge_model_api::finish::{FinishMeaning, meaning_of_finish, outage};
use planforge_model_api::http::{
    HttpSettings, KEY_OPTION, ModelServer, Reasoning, ReasoningLevel, unsupported,
};
use planforge_plugin_sdk::{About, Plugin, Secrets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A connection to one server.
#[derive(Debug)]
pub struct Gemini {
    options: GeminiOptions,
    server: ModelServer,
}

impl Plugin for Gemini {
    type Options = GeminiOptions;

    fn about() -> About {
        About::new("Asks models of Google through their own interface (generateContent)")
            .highest_temperature(2.0)
            .secret(KEY_OPTION)
            .secret("headers_env")
            .server("base_url")
            .server("proxy")
            .file("ca_file")
    }

    fn create(options: GeminiOptions, secrets: &Secrets) -> Result<Self, Failure> {
        let server = ModelServer::new(&options.http(), |name| secrets.get(name))?;
        Ok(Self { options, server })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_provider_gemini", Provider, Gemini);

impl Provider for Gemini {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let path = request_path(&request.model)?;
        let body = request_body(request, &self.options);
        Ok(match self.server.post(host, &path, &body)? {
            Ok(bytes) => read_response(&bytes),
            Err(failure) => CompletionResult::ProviderFailure(failure),
        })
    }
}

/// Options of `provider-gemini`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GeminiOptions {
    /// The interface without `/models/MODEL:generateContent`; usually ends in `/v1beta`.
    pub base_url: String,
    /// Name of the environment variable that holds the key. Left out: no key is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Accepted for every provider, and without effect here: the service caches the beginnings of long prompts by itself.
    pub cache: bool,
    /// The amount that the model reasons before it answers, also as a number of tokens. Left out: the service's default.
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

/// The path of a model: `/models/NAME:generateContent`. A name with a slash, as of a tuned model, is a path already.
///
/// # Errors
/// `provider.unsupported` for a name that no path can have.
fn request_path(model: &str) -> Result<String, Failure> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if model.is_empty() || !model.chars().all(fits) || model.contains("..") {
        return Err(unsupported(
            format!("`{model}` cannot be the name of a Gemini model"),
            "write the name as the service lists it, such as `gemini-2.5-flash`",
        ));
    }
    let folder = if model.contains('/') { "" } else { "models/" };
    Ok(format!("/{folder}{model}:generateContent"))
}

/// The body of a request. Extra fields win over everything but the contents; those of `generationConfig` are merged.
pub(crate) fn request_body(request: &CompletionRequest, options: &GeminiOptions) -> Value {
    let sampling = &request.sampling;
    let mut config = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(name.to_owned(), value);
        }
    };
    put("temperature", sampling.temperature.map(Value::from));
    put("topP", sampling.top_p.map(Value::from));
    put("maxOutputTokens", sampling.max_tokens.map(Value::from));
    put("stopSequences", (!sampling.stop.is_empty()).then(|| json!(sampling.stop)));
    // The field is a signed number of 32 bits.
    put("seed", sampling.seed.map(|seed| Value::from(seed & 0x7fff_ffff)));
    let scored = sampling.logprobs == Some(true);
    put("responseLogprobs", scored.then_some(Value::Bool(true)));
    put("thinkingConfig", options.reasoning.map(thinking));
    let schema = request.schema.as_ref();
    put("responseMimeType", schema.map(|_| Value::from("application/json")));
    put("responseJsonSchema", schema.map(|schema| Value::Object(schema.schema.clone())));
    let mut body = Map::new();
    let mut extra = request.extra.clone();
    if let Some(Value::Object(own)) = extra.remove("generationConfig") {
        config.extend(own);
    }
    let system = request.messages.iter().filter(|m| m.role == Speaker::System);
    let system: Vec<Value> = system.map(|m| json!({"text": m.content})).collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": system}));
    }
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    body.extend(extra);
    let turns = request.messages.iter().filter_map(|message| {
        let role = match message.role {
            Speaker::System => return None,
            Speaker::User => "user",
            Speaker::Assistant => "model",
        };
        Some(json!({"role": role, "parts": [{"text": message.content}]}))
    });
    body.insert("contents".to_owned(), turns.collect());
    Value::Object(body)
}

fn thinking(reasoning: Reasoning) -> Value {
    match reasoning {
        Reasoning::Level(ReasoningLevel::None) => json!({"thinkingBudget": 0}),
        Reasoning::Level(level) => json!({"thinkingLevel": level.name(), "includeThoughts": true}),
        Reasoning::Tokens(tokens) => json!({"thinkingBudget": tokens, "includeThoughts": true}),
    }
}

/// Reads the candidates. Parts that are marked as thoughts are the thought of the reply.
pub(crate) fn read_response(bytes: &[u8]) -> CompletionResult {
    let body = match parse_body(bytes) {
        Ok(body) => body,
        Err(failure) => return CompletionResult::ProviderFailure(failure),
    };
    // The tokens of an answer that cannot be used are billed too.
    let failed =
        |failure: ProviderFailure| CompletionResult::ProviderFailure(failure.with_usage(read_usage(&body)));
    if let Some(failure) = read_error(&body) {
        return failed(failure);
    }
    let candidates = body.get("candidates").and_then(Value::as_array);
    let mut replies = Vec::new();
    let mut outages = None;
    for candidate in candidates.into_iter().flatten() {
        let reason = candidate.get("finishReason").and_then(Value::as_str);
        match meaning_of_finish(reason) {
            FinishMeaning::Outage => {
                outages.get_or_insert_with(|| outage(reason.unwrap_or_default()));
            }
            meaning => replies.push(read_candidate(candidate, meaning)),
        }
    }
    // The host asks again for the candidates that an outage ended.
    if let Some(failure) = outages.filter(|_| replies.is_empty()) {
        return failed(failure);
    }
    if replies.is_empty() {
        let stated = body.get("promptFeedback").and_then(|feedback| {
            ["blockReasonMessage", "blockReason"].iter().find_map(|field| feedback.get(field)?.as_str())
        });
        let Some(reason) = stated else {
            let why = "it has neither `candidates` nor a reason why the prompt was blocked";
            return failed(malformed_failure(200, why, bytes));
        };
        replies.push(Reply::refused(reason));
    }
    CompletionResult::Replies(Replies {
        replies,
        usage: read_usage(&body),
        model: body.get("modelVersion").and_then(Value::as_str).unwrap_or_default().to_owned(),
        raw: String::from_utf8_lossy(bytes).into_owned(),
    })
}

fn read_usage(body: &Value) -> Usage {
    let tokens =
        |name: &str| body.get("usageMetadata").and_then(|usage| usage.get(name)).and_then(Value::as_u64);
    // Reasoning is charged as output and counted apart from the candidates.
    let written = [tokens("candidatesTokenCount"), tokens("thoughtsTokenCount")];
    Usage {
        prompt_tokens: tokens("promptTokenCount"),
        completion_tokens: written.iter().any(Option::is_some).then(|| written.iter().flatten().sum()),
        cached_tokens: tokens("cachedContentTokenCount"),
        reasoning_tokens: tokens("thoughtsTokenCount"),
        ..Usage::default()
    }
}

fn read_candidate(candidate: &Value, meaning: FinishMeaning) -> Reply {
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let is_thought = |part: &&Value| part.get("thought").and_then(Value::as_bool) == Some(true);
    let (thoughts, spoken): (Vec<&Value>, Vec<&Value>) = parts.into_iter().flatten().partition(is_thought);
    let (texts, calls): (Vec<&Value>, Vec<&Value>) =
        spoken.into_iter().partition(|part| part.get("text").is_some());
    let joined = |parts: &[&Value]| -> String {
        parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
    };
    let text = joined(&texts);
    let thought = Some(joined(&thoughts)).filter(|text| !text.is_empty());
    let content = match text.is_empty() {
        false => text,
        true => {
            let arguments = calls.iter().filter_map(|part| part.pointer("/functionCall/args"));
            arguments.map(argument_text).collect::<Vec<_>>().join("\n")
        }
    };
    let stated = |field: &str| candidate.get(field).and_then(Value::as_str);
    let finish = meaning.finish();
    let chosen = candidate.pointer("/logprobsResult/chosenCandidates").and_then(Value::as_array);
    let logprobs = chosen.and_then(|tokens| tokens.iter().map(read_token).collect());
    let reply = match stated("finishMessage").or_else(|| stated("finishReason")) {
        Some(reason) if content.is_empty() && finish == FinishReason::ContentFilter => Reply::refused(reason),
        _ => Reply::new(content, finish),
    };
    meaning.note(Reply { logprobs, thought, ..reply })
}

fn read_token(token: &Value) -> Option<TokenLogprob> {
    let text = token.get("token")?.as_str()?.to_owned();
    Some(TokenLogprob { token: text, logprob: token.get("logProbability")?.as_f64()? })
}
