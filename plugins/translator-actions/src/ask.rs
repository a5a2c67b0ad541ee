//! One question to the model, and what the replies of a sample are worth together.

use crate::codes;
use crate::options::ActionTranslatorOptions;
use planforge_contract::api::Host;
use planforge_contract::{Constraint, Failure, FailureClass, Reply, TaskView};
use planforge_plugin_common::translating::{Writer, new_turns};

/// Sends questions and adds up the likelihoods of the replies.
pub(crate) struct Asking<'a> {
    host: &'a dyn Host,
    options: &'a ActionTranslatorOptions,
    task: &'a TaskView,
    asked: usize,
    likelihood: Option<(f64, u64)>,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(host: &'a dyn Host, options: &'a ActionTranslatorOptions, task: &'a TaskView) -> Self {
        Self { host, options, task, asked: 0, likelihood: None }
    }

    /// One reply to one question. An empty system text is left out.
    pub(crate) fn ask(
        &mut self,
        system: String,
        question: String,
        artefact: &str,
        constraint: Option<Constraint>,
    ) -> Result<Reply, Failure> {
        let writer = Writer { host: self.host, task: self.task, logprobs: self.options.logprobs };
        let replies = writer.ask_within(new_turns(&[], system, question), artefact, 1, constraint)?;
        let reply = replies.into_iter().next().ok_or_else(|| {
            Failure::new(FailureClass::Provider, codes::NO_REPLY, "the host answered without a reply")
        })?;
        let scored = reply.log_likelihood().zip(reply.logprobs.as_ref().map(|tokens| tokens.len() as u64));
        // Where one reply has no likelihood, a sum over the others would compare unlike things.
        self.likelihood = match (self.asked, self.likelihood, scored) {
            (0, _, scored) => scored,
            (_, Some((sum, tokens)), Some((more, further))) => Some((sum + more, tokens + further)),
            _ => None,
        };
        self.asked += 1;
        Ok(reply)
    }

    /// The sum of the token log-probabilities of all replies, and of how many tokens it is one.
    pub(crate) fn likelihood(&self) -> (Option<f64>, Option<u64>) {
        self.likelihood.unzip()
    }
}
