//! A question to a language model and its answer.

use super::materials::TaskView;
use crate::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// Instructions.
    System,
    /// The text to reply to.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Author of the message.
    pub role: Speaker,
    /// Text of the message.
    pub content: String,
}

impl Message {
    /// A system turn.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Speaker::System, content: content.into() }
    }
    /// A user turn.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Speaker::User, content: content.into() }
    }
    /// A model's turn.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Speaker::Assistant, content: content.into() }
    }
}

/// Sampling parameters. A missing one is taken from the role's table in the pipeline file, then from the server's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sampling {
    /// 0 is greedy; most servers take 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus, in (0, 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Most tokens of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts that end a reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The host derives one from the run's seed and the sample path where none is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Number of replies to this request; absent means 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// True if token log-probabilities are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<bool>,
}

/// Origin of a request: suite, task, stage and artefact. Tags are not part of the cassette key. Only
/// providers with the capability `simulated` receive them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tags {
    /// The suite's name.
    pub suite: String,
    /// The task's stem.
    pub task: String,
    /// The stage's label.
    pub stage: String,
    /// The requested artefact: `problem`, `domain`, `plan`, ...
    pub artefact: String,
}

impl Tags {
    /// Tags of a request for a task. The host adds the stage.
    pub fn of(task: &TaskView, artefact: &str) -> Self {
        Self {
            suite: task.suite.clone(),
            task: task.task.clone(),
            artefact: artefact.to_owned(),
            ..Self::default()
        }
    }
}

/// A JSON schema that a reply has to follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplySchema {
    /// Name of the schema: letters, digits, `_` and `-`, at most 64 of them.
    pub name: String,
    /// The schema of an object. Services that guarantee it demand that every object in it has `additionalProperties: false` and
    /// lists all its properties in `required`.
    pub schema: JsonObject,
}

/// A grammar that a reply has to follow, in every notation that a service may read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Constraint {
    /// The grammar in GBNF; its start is `root`.
    pub gbnf: String,
    /// The grammar in Lark's notation; its start is `start`.
    pub lark: String,
    /// A JSON schema with the same content, for services that read no grammar; absent if there is none. The reply is then JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<JsonObject>,
    /// True if the request must fail at a provider that does not enforce grammars. Otherwise such a provider gets the request without the
    /// grammar.
    #[serde(default)]
    pub required: bool,
}

/// A request to a language model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionRequest {
    /// The model; the host sets it from the role's table. A plugin leaves it empty.
    #[serde(default)]
    pub model: String,
    /// The conversation, the last message from the user.
    pub messages: Vec<Message>,
    /// Sampling parameters.
    #[serde(default)]
    pub sampling: Sampling,
    /// Schema of the reply, which is then JSON; absent for free text. Part of the cassette key only where it is set. A provider
    /// translates it, or refuses the request with `provider.unsupported`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<ReplySchema>,
    /// Grammar of the reply; absent for free text. Part of the cassette key only where it is set. Only providers that declare the
    /// capability `enforces_grammars` receive it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
    /// Further fields of the request body, passed through as they are.
    #[serde(default)]
    pub extra: JsonObject,
    /// Not sent to real models.
    #[serde(default)]
    pub tags: Tags,
    /// The body of the server's answer to a request that the provider deferred with
    /// [`CompletionResult::Pending`], once it has arrived. A provider that defers requests declares the
    /// capability `deferred`. Not part of the cassette key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// One token of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TokenLogprob {
    /// The token's text.
    pub token: String,
    /// Its natural log-probability.
    pub logprob: f64,
}

/// Reason for the end of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The token limit cut it off.
    Length,
    /// The server's filter held it back.
    ContentFilter,
    /// Anything else, or not said.
    Other,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// The text.
    pub content: String,
    /// Reason for its end.
    pub finish: FinishReason,
    /// The server's word for that reason, where it stated one that has no meaning here. `finish` is then [`FinishReason::Other`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_finish: Option<String>,
    /// Token log-probabilities, where asked for and given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// The model's reasoning before the text, or a summary of it, where the server gives it. It is never part of `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
    /// The stated reason, where the model or its server refused to answer. `finish` is then [`FinishReason::ContentFilter`], and `content`
    /// is the reason too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

impl Reply {
    /// A reply without token log-probabilities, thought and refusal.
    pub fn new(content: impl Into<String>, finish: FinishReason) -> Self {
        Self {
            content: content.into(),
            finish,
            stated_finish: None,
            logprobs: None,
            thought: None,
            refusal: None,
        }
    }

    /// A refusal for this reason.
    pub fn refused(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { refusal: Some(reason.clone()), ..Self::new(reason, FinishReason::ContentFilter) }
    }

    /// The sum of the token log-probabilities (natural), where the server gave them. An empty list is none: its sum of 0 would be
    /// the best there can be.
    pub fn log_likelihood(&self) -> Option<f64> {
        self.token_logprobs().map(|tokens| tokens.iter().map(|t| t.logprob).sum())
    }

    /// Number of tokens in that sum.
    pub fn tokens(&self) -> Option<u64> {
        self.token_logprobs().map(|tokens| tokens.len() as u64)
    }

    fn token_logprobs(&self) -> Option<&[TokenLogprob]> {
        self.logprobs.as_deref().filter(|tokens| !tokens.is_empty())
    }
}

/// Tokens, as the server counted them. What a server does not say is absent, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request, those of a cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the replies, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// The part of `prompt_tokens` that was read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// The part of `prompt_tokens` that was written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// The part of `completion_tokens` that is reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Requests that were sent for the replies, failed ones included; absent means 1. Set by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Failed requests among them that the server may have charged, with an unknown number of tokens. Set by the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncounted_requests: Option<u64>,
}

impl Usage {
    /// True if the server counted all tokens.
    pub fn is_metered(&self) -> bool {
        self.prompt_tokens.is_some()
            && self.completion_tokens.is_some()
            && self.uncounted_requests.unwrap_or(0) == 0
    }
}

/// Answers of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replies {
    /// In the server's order. Fewer than `n` where the server ignores it; the host then asks for the rest.
    pub replies: Vec<Reply>,
    /// Tokens used.
    #[serde(default)]
    pub usage: Usage,
    /// The model's name as the server gave it.
    #[serde(default)]
    pub model: String,
    /// The raw body of the server's answer.
    #[serde(default)]
    pub raw: String,
}

/// Class of a failed request; decides about retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderFailureClass {
    /// Could not connect, the connection dropped, or half a body arrived. Worth another try.
    Connection,
    /// No answer in time. Worth another try.
    Timeout,
    /// 429. Worth another try, after `retry_after_ms` where the server named it.
    RateLimited,
    /// 408 or 5xx, or a reply that an outage of the server ended. Worth another try.
    Server,
    /// 401 or 403: the key is wrong or missing. Also an account without credit.
    Authentication,
    /// 404: no such model or path.
    NotFound,
    /// The conversation is longer than the model's context.
    ContextOverflow,
    /// 400 and other refusals of the request.
    BadRequest,
    /// The server answered 200 with a body that is not a completion.
    Malformed,
}

impl ProviderFailureClass {
    /// True if the same request may succeed later.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Connection | Self::Timeout | Self::RateLimited | Self::Server)
    }
}

/// A request that got no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderFailure {
    /// Class of the failure.
    pub class: ProviderFailureClass,
    /// HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Wait that the server asked for, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Tokens that the server counted all the same; absent if it counted none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Box<Usage>>,
    /// For a person. The host redacts secrets from it.
    pub message: String,
}

impl ProviderFailure {
    /// Adds the tokens that the server counted for the request; nothing if it counted none.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        let has_counts = usage.prompt_tokens.is_some() || usage.completion_tokens.is_some();
        Self { usage: has_counts.then(|| Box::new(usage)), ..self }
    }
}

/// The answer of a provider, or of the host on its behalf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum CompletionResult {
    /// The model answered.
    Replies(Replies),
    /// Batch mode: the answer comes later; the candidate is parked.
    Pending {
        /// Identifies the request when its answer is fetched.
        ticket: String,
        /// The body of the request as the server would get it. The host keeps it until it is answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<serde_json::Value>,
    },
    /// No answer.
    ProviderFailure(ProviderFailure),
}

/// Price of a model, in US dollars for a million tokens. An unknown price is unknown, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Prompt tokens outside of a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<f64>,
    /// Completion tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<f64>,
    /// Prompt tokens read from a cache. Where it is absent, the cost of a reply with such tokens is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Prompt tokens written to a cache. Where it is absent, the cost of a reply with such tokens is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Reasoning tokens; absent means the price of completion tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<f64>,
}

impl Price {
    /// True if no price is negative or infinite.
    pub fn is_valid(&self) -> bool {
        let all = [self.prompt, self.completion, self.cached, self.cache_write, self.reasoning];
        all.into_iter().flatten().all(|price| price >= 0.0 && price.is_finite())
    }

    /// US dollars for so many tokens; absent if a count or the price of a token that was used is unknown.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        self.parts(usage)?.into_iter().try_fold(0.0, |sum, part| Some(sum + part?))
    }

    /// US dollars for the tokens whose price is known; absent without the prices of prompts and completions.
    pub fn known_cost(&self, usage: &Usage) -> Option<f64> {
        Some(self.parts(usage)?.into_iter().flatten().sum())
    }

    /// The prices by which caps and budgets count: a missing price of cached tokens is that of the prompt, and one of tokens
    /// written to a cache is twice that, more than the services charge.
    pub fn for_caps(&self) -> Self {
        Self {
            cached: self.cached.or(self.prompt),
            cache_write: self.cache_write.or(self.prompt.map(|price| 2.0 * price)),
            ..*self
        }
    }

    /// The cost of each kind of token; absent for one that was used and has no price.
    fn parts(&self, usage: &Usage) -> Option<[Option<f64>; 5]> {
        let (prompt, completion) = (usage.prompt_tokens?, usage.completion_tokens?);
        let (cached, written) = (usage.cached_tokens.unwrap_or(0), usage.cache_write_tokens.unwrap_or(0));
        let reasoning = usage.reasoning_tokens.unwrap_or(0).min(completion);
        let fresh = prompt.saturating_sub(cached).saturating_sub(written);
        let (in_price, out_price) = (self.prompt?, self.completion?);
        let cost = |price: Option<f64>, tokens: u64| match tokens {
            0 => Some(0.0),
            tokens => Some(price? * tokens as f64 / 1e6),
        };
        Some([
            cost(Some(in_price), fresh),
            cost(self.cached, cached),
            cost(self.cache_write, written),
            cost(Some(out_price), completion - reasoning),
            cost(self.reasoning.or(Some(out_price)), reasoning),
        ])
    }
}

/// The quotas of a response's headers. The host adapts the rate of its requests to them; nothing is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RateLimits {
    /// Quota of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RateQuota>,
    /// Quota of tokens, prompts and replies together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<RateQuota>,
}

/// One quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RateQuota {
    /// The whole quota.
    pub limit: u64,
    /// The part that is left.
    pub remaining: u64,
    /// Milliseconds until the whole quota is available again.
    pub reset_ms: u64,
}

/// Names of headers that carry no key, in lower case.
const HARMLESS: [&str; 16] = [
    "accept",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "api-version",
    "cache-control",
    "content-type",
    "http-referer",
    "openai-beta",
    "openai-organization",
    "openai-project",
    "prefer",
    "referer",
    "user-agent",
    "x-request-id",
    "x-title",
];

/// True if the value of the header may be recorded. The value of every other header counts as secret, because services
/// carry keys in headers of any name; it is given by the name of an environment variable.
pub fn is_harmless_header(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| harmless.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTED: Usage = Usage {
        prompt_tokens: Some(1_000_000),
        completion_tokens: Some(500_000),
        cached_tokens: None,
        cache_write_tokens: None,
        reasoning_tokens: None,
        requests: None,
        uncounted_requests: None,
    };

    fn price(prompt: f64, completion: f64) -> Price {
        Price { prompt: Some(prompt), completion: Some(completion), ..Price::default() }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage {
            cached_tokens: Some(600_000),
            cache_write_tokens: Some(200_000),
            reasoning_tokens: Some(100_000),
            ..COUNTED
        };
        let known = Price { cached: Some(0.5), cache_write: Some(2.5), ..price(2.0, 8.0) };
        // 0.2 fresh at 2, 0.6 cached at 0.5, 0.2 written at 2.5, and 0.5 of completion at 8.
        assert!((known.cost(&usage).unwrap() - (0.4 + 0.3 + 0.5 + 4.0)).abs() < 1e-9);
        let thoughts = Price { reasoning: Some(18.0), ..known };
        assert!((thoughts.cost(&usage).unwrap() - (0.4 + 0.3 + 0.5 + 3.2 + 1.8)).abs() < 1e-9);
    }

    #[test]
    fn an_unknown_price_or_count_is_never_free() {
        assert_eq!(price(2.0, 8.0).cost(&COUNTED), Some(6.0));
        assert_eq!(Price { completion: None, ..price(2.0, 8.0) }.cost(&COUNTED), None);
        assert_eq!(price(2.0, 8.0).cost(&Usage { completion_tokens: None, ..COUNTED }), None);
        for cached in
            [Usage { cached_tokens: Some(1), ..COUNTED }, Usage { cache_write_tokens: Some(1), ..COUNTED }]
        {
            assert_eq!(price(2.0, 8.0).cost(&cached), None, "neither free nor at the price of fresh tokens");
            assert!(price(2.0, 8.0).known_cost(&cached).unwrap() < 6.0);
            assert!(price(2.0, 8.0).for_caps().cost(&cached).unwrap() >= 6.0, "a cap errs on the safe side");
        }
        let none = Usage { cached_tokens: Some(0), cache_write_tokens: Some(0), ..COUNTED };
        assert_eq!(price(2.0, 8.0).cost(&none), Some(6.0));
    }

    #[test]
    fn a_recorded_failure_without_usage_is_read_and_written_unchanged() {
        let recorded = r#"{"class":"malformed","status":200,"message":"empty"}"#;
        let failure: ProviderFailure = serde_json::from_str(recorded).unwrap();
        assert_eq!(failure.usage, None);
        assert_eq!(serde_json::to_string(&failure).unwrap(), recorded);
        assert_eq!(serde_json::to_string(&failure.clone().with_usage(Usage::default())).unwrap(), recorded);
        let counted = failure.with_usage(Usage { prompt_tokens: Some(3), ..Usage::default() });
        let written = r#"{"class":"malformed","status":200,"usage":{"prompt_tokens":3},"message":"empty"}"#;
        assert_eq!(serde_json::to_string(&counted).unwrap(), written);
        assert_eq!(serde_json::from_str::<ProviderFailure>(written).unwrap(), counted);
    }

    #[test]
    fn a_recorded_reply_without_thought_and_cache_is_read_and_written_unchanged() {
        let recorded = r#"{"replies":[{"content":"yes","finish":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1},"model":"m","raw":""}"#;
        let replies: Replies = serde_json::from_str(recorded).unwrap();
        assert_eq!(replies.replies, [Reply::new("yes", FinishReason::Stop)]);
        assert_eq!(serde_json::to_string(&replies).unwrap(), recorded);
    }
}

#[cfg(test)]
mod headers_tests {
    use super::is_harmless_header;

    #[test]
    fn only_listed_headers_are_harmless() {
        for name in ["Accept", "USER-AGENT", "OpenAI-Organization", "x-title"] {
            assert!(is_harmless_header(name), "{name}");
        }
        for name in
            ["X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "x-functions-key", "X-Auth-Token", "X-Team", ""]
        {
            assert!(!is_harmless_header(name), "{name}");
        }
    }
}
