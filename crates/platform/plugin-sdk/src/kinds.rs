//! The five kinds as types, each with its methods by name: the one place that ties a method's name to its documents; and the host from a plugin's
//! side, the typed trait over the raw boundary.

use planforge_contract::api::{self, EnvironmentAnswer, EnvironmentCall, Host, LogLevel};
use planforge_contract::{
    CompletionRequest, CompletionResult, Document, Failure, FailureClass, PlanOutcome, PlanRequest,
    PluginKind, RateLimits, Replies, decode, encode,
};
use planforge_plugin_abi::raw::{RawHost_TO, RawHostBox, RawReply};

/// Calls a method of a plugin of type `P` by name.
pub trait Kind<P> {
    /// The kind.
    const KIND: PluginKind;
    /// Reads the inputs, calls, writes the output.
    ///
    /// # Errors
    /// What the plugin failed with, `plugin.document` for an unreadable input, `plugin.method` for an unknown method.
    fn call(plugin: &P, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure>;
}

/// The kind of [`api::Provider`].
#[derive(Debug)]
pub struct Provider;
/// The kind of [`api::Translator`].
#[derive(Debug)]
pub struct Translator;
/// The kind of [`api::Verifier`].
#[derive(Debug)]
pub struct Verifier;
/// The kind of [`api::Planner`].
#[derive(Debug)]
pub struct Planner;
/// The kind of [`api::Environment`].
#[derive(Debug)]
pub struct Environment;

fn unknown<T>(kind: PluginKind, method: &str, inputs: &[&str]) -> Result<T, Failure> {
    let message = format!(
        "a {kind} has no method `{method}` with {} inputs in epoch {}",
        inputs.len(),
        planforge_plugin_abi::EPOCH
    );
    Err(Failure::new(FailureClass::Plugin, "plugin.method", message))
}

impl<P: api::Provider> Kind<P> for Provider {
    const KIND: PluginKind = PluginKind::Provider;
    fn call(plugin: &P, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure> {
        match (method, inputs) {
            ("complete", [request]) => write(&plugin.complete(host, &read(request)?)?),
            _ => unknown(PluginKind::Provider, method, inputs),
        }
    }
}

impl<P: api::Translator> Kind<P> for Translator {
    const KIND: PluginKind = PluginKind::Translator;
    fn call(plugin: &P, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure> {
        match (method, inputs) {
            ("translate", [request]) => write(&plugin.translate(host, &read(request)?)?),
            ("work", [input]) => plugin.work(input),
            _ => unknown(PluginKind::Translator, method, inputs),
        }
    }
}

impl<P: api::Verifier> Kind<P> for Verifier {
    const KIND: PluginKind = PluginKind::Verifier;
    fn call(plugin: &P, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure> {
        match (method, inputs) {
            ("verify", [request]) => write(&plugin.verify(host, &read(request)?)?),
            _ => unknown(PluginKind::Verifier, method, inputs),
        }
    }
}

impl<P: api::Planner> Kind<P> for Planner {
    const KIND: PluginKind = PluginKind::Planner;
    fn call(plugin: &P, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure> {
        match (method, inputs) {
            ("plan", [request]) => write(&plugin.plan(host, &read(request)?)?),
            ("work", [input]) => plugin.work(input),
            _ => unknown(PluginKind::Planner, method, inputs),
        }
    }
}

impl<P: api::Environment> Kind<P> for Environment {
    const KIND: PluginKind = PluginKind::Environment;
    fn call(plugin: &P, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure> {
        match (method, inputs) {
            ("describe", [task]) => write(&plugin.describe(host, &read(task)?)?),
            ("walks", [task, spec]) => write(&plugin.walks(host, &read(task)?, &read(spec)?)?),
            ("execute", [task, sequences]) => {
                write(&plugin.execute(host, &read(task)?, &read(sequences)?)?)
            }
            ("validate", [task, plan]) => write(&plugin.validate(host, &read(task)?, &read(plan)?)?),
            ("describe-state", [task, query]) => {
                write(&plugin.describe_state(host, &read(task)?, &read(query)?)?)
            }
            _ => unknown(PluginKind::Environment, method, inputs),
        }
    }
}

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
