//! The five kinds as types, each with its methods by name: the one place that ties a method's name to its documents.

use crate::raw_host::{read, write};
use planforge_contract::api::{self, Host};
use planforge_contract::{Failure, FailureClass, PluginKind};

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
