//! The body of a request.

use crate::chat_completions::Field;
use crate::http::{ReasoningLevel, unsupported};
use planforge_contract::{CompletionRequest, Constraint, Failure, Message, Speaker};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Name of the tool or schema of a constrained reply.
const ANSWER: &str = "answer";

/// Options of a request that are not part of its sampling.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResponsesDialect<'a> {
    /// Fields that are never sent.
    pub omit: &'a [Field],
    /// The amount of reasoning; the service's default if there is none.
    pub reasoning: Option<ReasoningLevel>,
    /// The form in which the service enforces the grammar of a reply.
    pub grammar: Option<GrammarForm>,
}

/// Forms of the grammar of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarForm {
    /// A custom tool that has to be called.
    CustomTool,
    /// A JSON schema of the reply.
    JsonSchema,
}

/// The body of a request. Extra fields win over everything but model, input and `stream`; those of `reasoning` and `text` are
/// merged. The interface has no seed, so the request's is not sent, and no number of replies, so the host asks again.
///
/// # Errors
/// `provider.unsupported` for `stop`.
pub fn request_body(request: &CompletionRequest, dialect: &ResponsesDialect<'_>) -> Result<Value, Failure> {
    let (sampling, omit) = (&request.sampling, dialect.omit);
    if !sampling.stop.is_empty() && !omit.contains(&Field::Stop) {
        return Err(unsupported(
            "OpenAI's interface Responses has no `stop`",
            "remove `stop` from the `[llm.NAME]` table, or set `interface = \"chat\"`",
        ));
    }
    let scored = sampling.logprobs == Some(true) && !omit.contains(&Field::Logprobs);
    // The service keeps responses for 30 days unless it is told not to.
    let mut body = Map::from_iter([("store".to_owned(), Value::Bool(false))]);
    if scored {
        body.insert("include".to_owned(), json!(["message.output_text.logprobs"]));
    }
    if let Some(tokens) = sampling.max_tokens.filter(|_| !omit.contains(&Field::MaxTokens)) {
        body.insert("max_output_tokens".to_owned(), Value::from(tokens));
    }
    if let Some(level) = dialect.reasoning {
        body.insert("reasoning".to_owned(), json!({"effort": level.name()}));
    }
    if let Some(schema) = &request.schema {
        body.insert("text".to_owned(), schema_field(&schema.name, &schema.schema));
    }
    for (field, name, value) in
        [(Field::Temperature, "temperature", sampling.temperature), (Field::TopP, "top_p", sampling.top_p)]
    {
        if let Some(value) = value.filter(|_| !omit.contains(&field)) {
            body.insert(name.to_owned(), Value::from(value));
        }
    }
    if let Some(constraint) = &request.constraint {
        body.extend(constraint_fields(constraint, dialect.grammar));
    }
    for (name, value) in request.extra.clone() {
        match (body.get_mut(&name), value) {
            (Some(Value::Object(own)), Value::Object(extra)) if ["reasoning", "text"].contains(&&*name) => {
                own.extend(extra);
            }
            (_, value) => drop(body.insert(name, value)),
        }
    }
    body.insert("model".to_owned(), Value::from(request.model.as_str()));
    body.insert("input".to_owned(), request.messages.iter().map(item).collect());
    body.insert("stream".to_owned(), Value::Bool(false));
    Ok(Value::Object(body))
}

/// The value of `text` that asks for a reply of a schema.
fn schema_field(name: &str, schema: &impl Serialize) -> Value {
    json!({"format": {"type": "json_schema", "name": name, "schema": schema, "strict": true}})
}

/// The fields that enforce a grammar: a custom tool that has to be called, whose input is the reply, or a JSON schema.
fn constraint_fields(constraint: &Constraint, grammar: Option<GrammarForm>) -> Map<String, Value> {
    let fields = match (grammar, &constraint.schema) {
        (Some(GrammarForm::CustomTool), _) => json!({
            "tools": [{
                "type": "custom",
                "name": ANSWER,
                "description": "Takes the whole answer.",
                "format": {"type": "grammar", "syntax": "lark", "definition": constraint.lark},
            }],
            "tool_choice": {"type": "custom", "name": ANSWER},
            "parallel_tool_calls": false,
        }),
        (Some(GrammarForm::JsonSchema), Some(schema)) => json!({"text": schema_field(ANSWER, schema)}),
        _ => Value::Null,
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A turn. System turns stay where they are in the conversation.
fn item(message: &Message) -> Value {
    let role = match message.role {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    json!({"type": "message", "role": role, "content": message.content})
}
