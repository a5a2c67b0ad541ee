//! The body of a request.

use crate::chat_completions::Field;
use crate::http::{ReasoningLevel, unsupported};
use async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, IncludeEnum, InputItem, InputParam, Reasoning,
    ReasoningEffort, ResponseFormatJsonSchema, ResponseTextParam, Role, TextResponseFormatConfiguration,
};
use planforge_contract::{CompletionRequest, Constraint, Failure, FailureClass, Message, Speaker};
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
    let typed = CreateResponse {
        include: scored.then(|| vec![IncludeEnum::MessageOutputTextLogprobs]),
        max_output_tokens: sampling.max_tokens.filter(|_| !omit.contains(&Field::MaxTokens)),
        reasoning: dialect
            .reasoning
            .map(|level| Reasoning { effort: Some(effort(level)), ..Reasoning::default() }),
        // The service keeps responses for 30 days unless it is told not to.
        store: Some(false),
        text: request.schema.as_ref().map(|schema| ResponseTextParam {
            format: TextResponseFormatConfiguration::JsonSchema(ResponseFormatJsonSchema {
                description: None,
                name: schema.name.clone(),
                schema: Value::Object(schema.schema.clone()),
                strict: Some(true),
            }),
            verbosity: None,
        }),
        ..CreateResponse::default()
    };
    let mut body = to_object(&typed)?;
    // The typed fields have 32 bits, and would change the number.
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
    let input = InputParam::Items(request.messages.iter().map(item).collect());
    let fixed = CreateResponse {
        model: Some(request.model.clone()),
        input,
        stream: Some(false),
        ..CreateResponse::default()
    };
    body.extend(to_object(&fixed)?);
    Ok(Value::Object(body))
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
        (Some(GrammarForm::JsonSchema), Some(schema)) => json!({
            "text": {"format": {"type": "json_schema", "name": ANSWER, "schema": schema, "strict": true}},
        }),
        _ => Value::Null,
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn effort(level: ReasoningLevel) -> ReasoningEffort {
    match level {
        ReasoningLevel::None => ReasoningEffort::None,
        ReasoningLevel::Low => ReasoningEffort::Low,
        ReasoningLevel::Medium => ReasoningEffort::Medium,
        ReasoningLevel::High => ReasoningEffort::High,
    }
}

/// A turn. System turns stay where they are in the conversation.
fn item(message: &Message) -> InputItem {
    let role = match message.role {
        Speaker::System => Role::System,
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
    };
    let content = EasyInputContent::Text(message.content.clone());
    InputItem::EasyMessage(EasyInputMessage { role, content, ..EasyInputMessage::default() })
}

fn to_object(typed: &CreateResponse) -> Result<Map<String, Value>, Failure> {
    match serde_json::to_value(typed) {
        Ok(Value::Object(fields)) => Ok(fields),
        other => {
            let message = format!("cannot build the request: {other:?}");
            Err(Failure::new(FailureClass::Plugin, "provider.request", message))
        }
    }
}
