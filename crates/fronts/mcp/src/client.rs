//! Requests of a call to the client: its roots, its model (MCP sampling) as a provider, its user (MCP elicitation), and progress.
#![allow(deprecated, reason = "roots and sampling are what clients of today offer")]

use crate::answers::{cancelled, client_failure};
use planforge_app::contract::api::{Host, Provider};
use planforge_app::contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, FinishReason, ProviderFailure,
    ProviderFailureClass, Replies, Reply, Speaker, Usage,
};
use planforge_app::{Cancellation, Question, Questions};
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema, InputRequest,
    ListRootsRequest, ListRootsResult, Role, SamplingMessage, SamplingMessageContentBlock, StringSchema,
};
use serde_json::Value;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Shortest time between two messages of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Interval at which a waiting request looks for a cancellation.
const POLL: Duration = Duration::from_millis(20);

/// Tokens of a reply where the pipeline sets no limit: the protocol demands one.
const MAX_TOKENS: u32 = 8192;

/// A message of a call's thread to the connection.
pub(crate) enum FromCall {
    /// A request to the client, and the place of its answer.
    Request(Box<InputRequest>, mpsc::Sender<Result<Value, String>>),
    Progress {
        done: f64,
        total: Option<f64>,
        message: String,
    },
}

/// The client of one call, for the call's thread.
pub(crate) struct ClientPort {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) to_connection: UnboundedSender<FromCall>,
    /// Cancelled with the call.
    pub(crate) cancellation: Cancellation,
    last_progress: Mutex<Option<Instant>>,
}

impl ClientPort {
    pub(crate) fn new(capabilities: ClientCapabilities, to_connection: UnboundedSender<FromCall>) -> Self {
        Self {
            capabilities,
            to_connection,
            cancellation: Cancellation::default(),
            last_progress: Mutex::new(None),
        }
    }

    /// The `file:` URIs of the roots that the client grants now.
    ///
    /// # Errors
    /// `mcp.client`, `mcp.cancelled`.
    pub(crate) fn root_uris(&self) -> Result<Vec<String>, Failure> {
        if self.capabilities.roots.is_none() {
            let message = "this client grants no roots, so no file can be read";
            return Err(client_failure(message).help("pass the text itself: {\"text\": \"...\"}"));
        }
        let answer = self.request(InputRequest::ListRoots(ListRootsRequest::default()))?;
        let roots: ListRootsResult = serde_json::from_value(answer)
            .map_err(|e| client_failure(format!("the roots of the client: {e}")))?;
        Ok(roots.roots.into_iter().map(|root| root.uri).collect())
    }

    /// True if the client shows questions to its user.
    pub(crate) fn can_ask_user(&self) -> bool {
        // A client that names no kind of question shows forms.
        self.capabilities
            .elicitation
            .as_ref()
            .is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// `mcp.client`: the client's refusal. `mcp.cancelled`: the call ended before.
    pub(crate) fn request(&self, request: InputRequest) -> Result<Value, Failure> {
        let (sender, receiver) = mpsc::channel();
        let sent = self.to_connection.send(FromCall::Request(Box::new(request), sender));
        sent.map_err(|_| cancelled())?;
        loop {
            match receiver.recv_timeout(POLL) {
                Ok(answer) => {
                    return answer.map_err(|why| client_failure(format!("the client refused: {why}")));
                }
                Err(RecvTimeoutError::Timeout) if !self.cancellation.is_cancelled() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Err(cancelled()),
            }
        }
    }

    /// Reports progress, at most every 200 ms.
    pub(crate) fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let mut last = self.last_progress.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        *last = Some(Instant::now());
        // A connection that is closed needs no progress.
        drop(self.to_connection.send(FromCall::Progress { done, total, message: message.to_owned() }));
    }
}

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

/// Asks the user of a client.
pub(crate) struct ClientUser(pub(crate) Arc<ClientPort>);

/// The names of the fields of a question: the number of a choice, and words.
const CHOICE: &str = "choice";
const WORDS: &str = "words";

impl Questions for ClientUser {
    fn answer(&self, question: &Question) -> Option<String> {
        let message = question.text.clone();
        let request = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema: form(question)?,
        };
        let answer = self.0.request(InputRequest::Elicitation(ElicitRequest::new(request))).ok()?;
        let answer: ElicitResult = serde_json::from_value(answer).ok()?;
        if answer.action != ElicitationAction::Accept {
            return None;
        }
        let content = answer.content?;
        let field = |name: &str| content.get(name).and_then(Value::as_str).map(str::trim);
        let words = field(WORDS).filter(|words| !words.is_empty());
        words.or_else(|| field(CHOICE)).map(str::to_owned)
    }
}

/// The form of a question: one of its choices, by number, or words.
fn form(question: &Question) -> Option<ElicitationSchema> {
    let choices = &question.choices;
    let numbers = (1..=choices.len()).map(|number| number.to_string()).collect();
    let choice = EnumSchema::builder(numbers).enum_titles(choices.to_vec()).ok()?.build();
    let words = StringSchema::new().title("What is true instead").description("Only if no choice is true.");
    let form = ElicitationSchema::builder().optional_enum_schema(CHOICE, choice);
    match question.own_words.is_some() {
        true => form.string_property(WORDS, |_| words).build().ok(),
        false => form.build().ok(),
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
    CompletionResult::ProviderFailure(ProviderFailure {
        class,
        status: None,
        retry_after_ms: None,
        usage: None,
        message,
    })
}
