//! The client's model as a provider (MCP sampling).
#![allow(deprecated, reason = "roots and sampling are what clients of today offer")]

use crate::client::ClientPort;
use planforge_contract::api::{Host, Provider};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, FinishReason, ProviderFailure,
    ProviderFailureClass, Replies, Reply, Speaker, Usage,
};
use rmcp::model::{
    CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, InputRequest, Role,
    SamplingMessage, SamplingMessageContentBlock,
};
use std::sync::Arc;

/// Tokens of a reply where the pipeline sets no limit: the protocol demands one.
const MAX_TOKENS: u32 = 8192;

/// A provider that asks the client of a call.
pub(crate) struct ClientModel(pub(crate) Arc<ClientPort>);

impl Provider for ClientModel {
    fn complete(&self, _host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        if let Some(schema) = &request.schema {
            let message =
                format!("clients follow no schema of replies, and the request has `{}`", schema.name);
            return Ok(refused(message));
        }
        let request = InputRequest::CreateMessage(CreateMessageRequest::new(question(request)));
        let answer = match self.0.request(request) {
            Ok(answer) => answer,
            Err(failure) if failure.class == FailureClass::Cancelled => return Err(failure),
            Err(failure) => return Ok(refused(failure.message)),
        };
        let raw = answer.to_string();
        let Ok(message) = serde_json::from_value::<CreateMessageResult>(answer) else {
            return Ok(refused("the client's answer is not a message".to_owned()));
        };
        let blocks = message.message.content.iter();
        let text: Vec<&str> =
            blocks.filter_map(|block| block.as_text().map(|text| text.text.as_str())).collect();
        let finish = match message.stop_reason.as_deref() {
            Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN) => FinishReason::Length,
            _ => FinishReason::Stop,
        };
        Ok(CompletionResult::Replies(Replies {
            replies: vec![Reply::new(text.concat(), finish)],
            usage: Usage::default(),
            model: message.model,
            raw,
        }))
    }
}

/// The request in the client's form. Settings that the protocol does not have are not sent.
fn question(request: &CompletionRequest) -> CreateMessageRequestParams {
    let mut system = Vec::new();
    let mut messages = Vec::new();
    for message in &request.messages {
        let role = match message.role {
            Speaker::System => {
                system.push(message.content.as_str());
                continue;
            }
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
        };
        messages.push(SamplingMessage::new(role, SamplingMessageContentBlock::text(message.content.clone())));
    }
    let sampling = &request.sampling;
    let mut question = CreateMessageRequestParams::new(messages, sampling.max_tokens.unwrap_or(MAX_TOKENS));
    question.system_prompt = (!system.is_empty()).then(|| system.join("\n\n"));
    question.temperature = sampling.temperature.map(|temperature| temperature as f32);
    question.stop_sequences = (!sampling.stop.is_empty()).then(|| sampling.stop.clone());
    question
}

fn refused(message: String) -> CompletionResult {
    let class = ProviderFailureClass::BadRequest;
    CompletionResult::ProviderFailure(ProviderFailure { class, status: None, retry_after_ms: None, message })
}
