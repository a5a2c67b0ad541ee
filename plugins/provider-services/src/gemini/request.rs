//! The path and the body of a request.

use crate::gemini::options::GeminiOptions;
use planforge_contract::{CompletionRequest, Failure, Speaker};
use planforge_model_api::http::{Reasoning, ReasoningLevel, unsupported};
use serde_json::{Map, Value, json};

/// The path of a model: `/models/NAME:generateContent`. A name with a slash, as of a tuned model, is a path already.
///
/// # Errors
/// `provider.unsupported` for a name that no path can have.
pub(crate) fn path(model: &str) -> Result<String, Failure> {
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
pub(crate) fn body(request: &CompletionRequest, options: &GeminiOptions) -> Value {
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
