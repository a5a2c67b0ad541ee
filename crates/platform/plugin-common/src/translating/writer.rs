//! Requests to the model with the role `writer`, and its replies as samples.

use crate::translating::codes;
use planforge_contract::api::Host;
use planforge_contract::{
    CandidatePatch, CompletionRequest, Constraint, Failure, FailureClass, Message, Outcome, Reply, Sampling,
    Tags, TaskView, TranslateResponse,
};

/// The role of the model that writes.
pub const ROLE: &str = "writer";

/// The writer model, asked about one task.
pub struct Writer<'a> {
    /// Forwards the requests.
    pub host: &'a dyn Host,
    /// Named in the tags of each request.
    pub task: &'a TaskView,
    /// True if token log-probabilities are requested.
    pub logprobs: bool,
}

impl Writer<'_> {
    /// Requests `n` replies to a conversation. `artefact` is the tag of the request.
    ///
    /// # Errors
    /// The failure of the host.
    pub fn ask(&self, messages: Vec<Message>, artefact: &str, n: u32) -> Result<Vec<Reply>, Failure> {
        self.ask_within(messages, artefact, n, None)
    }

    /// As [`Writer::ask`], for replies that follow a grammar.
    ///
    /// # Errors
    /// The failure of the host.
    pub fn ask_within(
        &self,
        messages: Vec<Message>,
        artefact: &str,
        n: u32,
        constraint: Option<Constraint>,
    ) -> Result<Vec<Reply>, Failure> {
        let request = CompletionRequest {
            messages,
            sampling: Sampling { n: Some(n), logprobs: self.logprobs.then_some(true), ..Sampling::default() },
            tags: Tags::of(self.task, artefact),
            constraint,
            ..CompletionRequest::default()
        };
        Ok(self.host.complete(ROLE, request)?.replies)
    }
}

/// The turns that a question adds to a conversation. The system text comes first in a new conversation, unless it is empty.
pub fn new_turns(conversation: &[Message], system: String, question: String) -> Vec<Message> {
    let system = (conversation.is_empty() && !system.is_empty()).then(|| Message::system(system));
    system.into_iter().chain([Message::user(question)]).collect()
}

/// New turns with the reply to them.
pub fn answered_turns(new_turns: &[Message], reply: &Reply) -> Vec<Message> {
    let mut messages = new_turns.to_vec();
    messages.push(Message::assistant(reply.content.clone()));
    messages
}

/// A response of exactly `n` samples. Missing replies are failures; replies beyond `n` are dropped.
pub fn response(mut samples: Vec<Outcome<CandidatePatch>>, n: u32) -> TranslateResponse {
    let replies = samples.len();
    samples.resize_with(n as usize, || Outcome::Failure(too_few_replies(replies, n)));
    TranslateResponse { samples }
}

/// The failure of a sample that has no reply.
pub fn too_few_replies(replies: usize, wanted: u32) -> Failure {
    let message = format!("{wanted} replies were asked for, and {replies} came back");
    Failure::new(FailureClass::Provider, codes::FEW_REPLIES, message)
}
