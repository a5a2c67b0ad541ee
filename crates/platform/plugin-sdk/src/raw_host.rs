//! The host from a plugin's side: the typed trait over the raw boundary.

use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host, LogLevel};
use planforge_contract::{
    CompletionRequest, CompletionResult, Document, Failure, FailureClass, PlanOutcome, PlanRequest,
    RateLimits, Replies, decode, encode,
};
use planforge_plugin_abi::raw::{RawHost_TO, RawHostBox, RawReply};

pub(crate) struct RemoteHost(pub(crate) RawHostBox);

impl RemoteHost {
    fn ask(&self, method: &str, inputs: &[&str]) -> Result<String, Failure> {
        let inputs: Vec<_> = inputs.iter().map(|s| (*s).into()).collect();
        let RemoteHost(host) = self;
        unpack(RawHost_TO::ask(host, method.into(), inputs.as_slice().into()))
    }
}

/// A reply's text, or the failure it holds.
pub(crate) fn unpack(reply: RawReply) -> Result<String, Failure> {
    match reply.into_result() {
        Ok(text) => Ok(text.into_string()),
        Err(text) => Err(read::<Failure>(&text).unwrap_or_else(|f| f)),
    }
}

/// Reads a document that the other side wrote.
pub(crate) fn read<T: Document>(text: &str) -> Result<T, Failure> {
    decode(text).map_err(|e| Failure::new(FailureClass::Plugin, "plugin.document", e.to_string()))
}

/// Writes a document for the other side.
pub(crate) fn write<T: Document>(body: &T) -> Result<String, Failure> {
    encode(body).map_err(|e| {
        Failure::new(FailureClass::Plugin, "plugin.document", format!("`{}` cannot be written: {e}", T::NAME))
    })
}

impl Host for RemoteHost {
    fn complete(&self, role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        match read(&self.ask("complete", &[role, &write(&request)?])?)? {
            CompletionResult::Replies(replies) => Ok(replies),
            CompletionResult::Pending { .. } | CompletionResult::ProviderFailure(_) => Err(Failure::new(
                FailureClass::Plugin,
                "plugin.document",
                "the host answered a completion with something other than replies",
            )),
        }
    }
    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        read(&self.ask("environment", &[&write(&call)?])?)
    }
    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        read(&self.ask("plan", &[label, &write(&request)?])?)
    }
    fn worker(&self, input: &str) -> Result<String, Failure> {
        self.ask("worker", &[input])
    }
    fn rate_limits(&self, limits: &RateLimits) {
        // A host of an earlier version refuses the question, and goes on without the quotas.
        drop(write(limits).and_then(|limits| self.ask("rate-limits", &[&limits])));
    }
    fn log(&self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Debug => 0,
            LogLevel::Info => 1,
            LogLevel::Warn => 2,
        };
        self.0.log(level, message.into());
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.0.progress(done, total, what.into());
    }
    fn cancelled(&self) -> bool {
        self.0.cancelled() != 0
    }
    fn remaining_ms(&self) -> Option<u64> {
        match self.0.remaining_ms() {
            u64::MAX => None,
            left => Some(left),
        }
    }
}
