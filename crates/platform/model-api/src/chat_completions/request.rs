//! The body of a request, and how endpoints differ in it.

use planforge_contract::{CompletionRequest, Constraint, ReplySchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The request format of an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Dialect<'a> {
    /// The endpoint's name of the field for the most tokens of a reply.
    pub max_tokens_field: MaxTokensField,
    /// Fields that it refuses, and that are never sent.
    pub omit: &'a [Field],
    /// Value of `reasoning_effort`, where it is sent.
    pub reasoning: Option<&'a str>,
    /// The field for a grammar; `None` if the endpoint has none, and then a grammar is not sent.
    pub grammar: Option<GrammarField>,
}

/// Fields for the grammar of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarField {
    /// `grammar` with GBNF, of llama.cpp.
    Grammar,
    /// `structured_outputs` with GBNF, of vLLM.
    StructuredOutputs,
    /// `ebnf` with GBNF, of SGLang.
    Ebnf,
    /// `response_format` with a JSON schema.
    ResponseFormat,
}

impl GrammarField {
    /// The field and its value for a grammar; nothing for a JSON schema that there is not.
    fn entry(self, constraint: &Constraint) -> Option<(&'static str, Value)> {
        Some(match self {
            Self::Grammar => ("grammar", json!(constraint.gbnf)),
            Self::StructuredOutputs => ("structured_outputs", json!({"grammar": constraint.gbnf})),
            Self::Ebnf => ("ebnf", json!(constraint.gbnf)),
            Self::ResponseFormat => {
                let format = json!({"name": "answer", "schema": constraint.schema.as_ref()?, "strict": true});
                ("response_format", json!({"type": "json_schema", "json_schema": format}))
            }
        })
    }
}

/// Names of the field for the most tokens of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// Most servers.
    MaxTokens,
    /// OpenAI's reasoning models.
    MaxCompletionTokens,
}

impl MaxTokensField {
    /// The field's name in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Fields that some endpoints refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `temperature`.
    Temperature,
    /// `top_p`.
    TopP,
    /// The most tokens of a reply.
    MaxTokens,
    /// `stop`.
    Stop,
    /// `seed`.
    Seed,
    /// `n`. Each request then returns one reply.
    N,
    /// `logprobs`, and `top_logprobs` with it.
    Logprobs,
    /// `top_logprobs`, sent as 1 with `logprobs`, because some servers return no log-probabilities without
    /// it.
    TopLogprobs,
}

/// The body of a chat completion request. Extra fields win over everything but model, messages and `stream`.
pub fn request_body(request: &CompletionRequest, dialect: &Dialect<'_>) -> Value {
    let sampling = &request.sampling;
    let mut body = Map::new();
    let mut put = |field: Field, name: &str, value: Option<Value>| {
        if let Some(value) = value.filter(|_| !dialect.omit.contains(&field)) {
            body.insert(name.to_owned(), value);
        }
    };
    put(Field::Temperature, "temperature", sampling.temperature.map(Value::from));
    put(Field::TopP, "top_p", sampling.top_p.map(Value::from));
    put(Field::MaxTokens, dialect.max_tokens_field.name(), sampling.max_tokens.map(Value::from));
    put(Field::Stop, "stop", (!sampling.stop.is_empty()).then(|| Value::from(sampling.stop.clone())));
    put(Field::Seed, "seed", sampling.seed.map(Value::from));
    put(Field::N, "n", sampling.n.map(Value::from));
    put(Field::Logprobs, "logprobs", sampling.logprobs.map(Value::from));
    // Without it some servers (llama-cpp-python) answer `logprobs: null`; with 0, others (llama.cpp) do.
    let scored = sampling.logprobs == Some(true) && !dialect.omit.contains(&Field::Logprobs);
    put(Field::TopLogprobs, "top_logprobs", scored.then(|| Value::from(1)));
    if let Some(effort) = dialect.reasoning {
        body.insert("reasoning_effort".to_owned(), Value::from(effort));
    }
    if let Some(ReplySchema { name, schema }) = &request.schema {
        let format = json!({"name": name, "schema": schema, "strict": true});
        body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": format}));
    }
    let grammar = dialect.grammar.zip(request.constraint.as_ref());
    if let Some((field, value)) = grammar.and_then(|(field, constraint)| field.entry(constraint)) {
        body.insert(field.to_owned(), value);
    }
    body.extend(request.extra.clone());
    body.insert("model".to_owned(), Value::from(request.model.clone()));
    body.insert("messages".to_owned(), json!(request.messages));
    body.insert("stream".to_owned(), Value::Bool(false));
    Value::Object(body)
}
