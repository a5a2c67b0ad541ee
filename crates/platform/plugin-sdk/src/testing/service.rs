//! The published interfaces of model services: bodies of their answers and errors, and checks of requests to them.
//!
//! Shapes and field names are those of the services' own clients: chat completions and Responses from openai-python of 2026-08-21
//! (commit e43b422), Messages from anthropic-sdk-python of 2026-08-07 (commit 009b035), generateContent from python-genai of 2026-08-21
//! (commit 6680718). Nothing here was tried against a live service.

mod answers;
mod requests;

use super::scripted::{Scripted, ScriptedRequest};
use planforge_contract::Usage;
use serde_json::Value;

/// The interface of a model service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceInterface {
    /// Chat completions of OpenAI and of compatible servers.
    ChatCompletions,
    /// Responses of OpenAI.
    Responses,
    /// Messages of Anthropic.
    Messages,
    /// generateContent of Gemini.
    GenerateContent,
}

/// One part of an answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPart {
    /// A part of the text.
    Text(String),
    /// A part of the reasoning, as far as the service shows it.
    Thought(String),
    /// The call of a function with these arguments.
    Call(Value),
    /// A part of a kind that did not exist when the interface was published.
    Unknown,
}

/// Reason for the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerEnd {
    /// The model was done.
    Done,
    /// The token limit cut it off.
    MaxTokens,
    /// The service's filter ended it.
    Filtered,
}

/// The classes of errors that a service answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceError {
    /// The request is invalid.
    Invalid,
    /// The conversation is longer than the model's context.
    TooLong,
    /// The key is wrong.
    Key,
    /// There is no such model.
    NoModel,
    /// Too many requests; the answer says to wait for two seconds.
    RateLimit,
    /// The service is broken.
    Broken,
    /// The service is overloaded.
    Overloaded,
}

/// Tokens of the prompt that every scripted answer counts.
const PROMPT: u64 = 30;
/// The part of [`PROMPT`] that was read from a cache.
const CACHED: u64 = 20;
/// The part of [`PROMPT`] that was written to a cache.
const WRITTEN: u64 = 4;
/// Tokens of the reply.
const COMPLETION: u64 = 12;
/// The part of [`COMPLETION`] that is reasoning.
const REASONING: u64 = 8;

/// The model that every scripted answer names.
pub const ANSWER_MODEL: &str = "scripted-model-2026-08-01";

impl ServiceInterface {
    /// Every interface.
    pub const ALL: [Self; 4] =
        [Self::ChatCompletions, Self::Responses, Self::Messages, Self::GenerateContent];

    /// The tokens that every scripted answer counts. generateContent does not count those that were written to a cache.
    pub fn answer_usage(self) -> Usage {
        Usage {
            prompt_tokens: Some(PROMPT),
            completion_tokens: Some(COMPLETION),
            cached_tokens: Some(CACHED),
            cache_write_tokens: (self != Self::GenerateContent).then_some(WRITTEN),
            reasoning_tokens: Some(REASONING),
            ..Usage::default()
        }
    }

    /// An answer of status 200.
    pub fn answer(self, parts: &[AnswerPart], end: AnswerEnd) -> Scripted {
        Scripted::raw(200, self.answer_body(parts, end).to_string())
    }

    /// An answer with a text.
    pub fn text(self, text: &str) -> Scripted {
        self.answer(&[AnswerPart::Text(text.to_owned())], AnswerEnd::Done)
    }

    /// The body of an answer.
    pub fn answer_body(self, parts: &[AnswerPart], end: AnswerEnd) -> Value {
        match self {
            Self::ChatCompletions => answers::chat_completion(parts, end),
            Self::Responses => answers::response(parts, end),
            Self::Messages => answers::message(parts, end),
            Self::GenerateContent => answers::generated_content(parts, end),
        }
    }

    /// An answer in which the model or the service refuses the request for this reason.
    pub fn refusal(self, reason: &str) -> Scripted {
        Scripted::raw(200, answers::refusal(self, reason).to_string())
    }

    /// An answer with an error of the service.
    pub fn error(self, error: ServiceError, message: &str) -> Scripted {
        answers::error(self, error, message)
    }

    /// Everything in a request that the published interface does not have.
    pub fn request_violations(self, request: &ScriptedRequest) -> Vec<String> {
        requests::violations(self, request)
    }

    /// The text of the last turn of a request; empty if there is none.
    pub fn question(self, request: &ScriptedRequest) -> String {
        let body = request.json();
        let turns = match self {
            Self::ChatCompletions | Self::Messages => &body["messages"],
            Self::Responses => &body["input"],
            Self::GenerateContent => &body["contents"],
        };
        let last = turns.as_array().and_then(|turns| turns.last()).cloned().unwrap_or_default();
        match self {
            Self::GenerateContent => last.pointer("/parts/0/text").cloned().unwrap_or_default(),
            _ => last["content"].clone(),
        }
        .as_str()
        .unwrap_or_default()
        .to_owned()
    }

    /// The key that a request carries in the interface's header; empty if it carries none.
    pub fn key(self, request: &ScriptedRequest) -> String {
        let header = match self {
            Self::ChatCompletions | Self::Responses => "authorization",
            Self::Messages => "x-api-key",
            Self::GenerateContent => "x-goog-api-key",
        };
        let value = request.header(header).unwrap_or_default();
        value.strip_prefix("Bearer ").unwrap_or(value).to_owned()
    }
}
