//! A program, started when it is first needed and again after it ended.

use super::connection::Connection;
use super::manifest::Manifest;
use super::wire;
use crate::limits::CallLimits;
use crate::worker::WorkerSettings;
use planforge_child::{CommandSpec, Limits};
use planforge_contract::{Failure, FailureClass, PluginInfo, PluginKind};
use planforge_plugin_abi::EPOCH;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A program and its running process, if there is one.
pub(crate) struct Program {
    /// Id of the plugin that it is.
    pub(super) id: String,
    /// Kind of the plugin, as far as it is known before the program runs.
    kind: Option<PluginKind>,
    command: CommandSpec,
    memory_bytes: u64,
    limits: CallLimits,
    connection: Mutex<Running>,
    /// Held for reading by every call, and for writing by a call that is repeated alone.
    pub(super) turn: RwLock<()>,
}

#[derive(Default)]
pub(super) struct Running {
    pub(super) connection: Option<Arc<Connection>>,
    /// Number of starts.
    pub(super) starts: u64,
    /// Number of instances made.
    instances: u64,
}

impl Program {
    /// The program of a folder with a manifest.
    pub(crate) fn of_folder(folder: &Path, manifest: Manifest, limits: CallLimits) -> Arc<Self> {
        let mut words = manifest.command.into_iter();
        let command = CommandSpec::new(words.next().unwrap_or_default()).arguments(words).folder(folder);
        let memory_bytes = manifest.memory_mb << 20;
        Self::new(manifest.id, Some(manifest.kind), command, memory_bytes, limits)
    }

    /// The host's own program, serving a library.
    pub(crate) fn of_library(
        id: String,
        library: &Path,
        worker: &WorkerSettings,
        limits: CallLimits,
    ) -> Arc<Self> {
        let mut command = CommandSpec::new(&worker.executable).arguments(&worker.arguments);
        command = command.arguments(["--isolated".as_ref(), library.as_os_str()]);
        Self::new(id, None, command, worker.memory_bytes, limits)
    }

    fn new(
        id: String,
        kind: Option<PluginKind>,
        command: CommandSpec,
        memory_bytes: u64,
        limits: CallLimits,
    ) -> Arc<Self> {
        let (connection, turn) = (Mutex::default(), RwLock::default());
        Arc::new(Self { id, kind, command, memory_bytes, limits, connection, turn })
    }

    pub(super) fn running(&self) -> MutexGuard<'_, Running> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection to the running program and its number; starts the program if it does not run.
    pub(super) fn connect(&self) -> Result<(Arc<Connection>, u64), Failure> {
        let mut running = self.running();
        if let Some(connection) = running.connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok((Arc::clone(connection), running.starts));
        }
        let limits = Limits {
            memory_bytes: Some(self.memory_bytes),
            output_bytes: self.limits.reply_bytes as u64,
            ..Limits::default()
        };
        let connection = Connection::start(&self.id, &self.command, &limits)?;
        running.starts += 1;
        running.connection = Some(Arc::clone(&connection));
        Ok((connection, running.starts))
    }

    pub(super) fn next_instance(&self) -> u64 {
        let mut running = self.running();
        running.instances += 1;
        running.instances
    }

    /// The time until which describing, creating and closing must end.
    pub(super) fn create_deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_millis(self.limits.create_ms))
    }

    /// Gate `plugin.describe`: the program's description, which must agree with what is known of the plugin.
    pub(crate) fn describe(&self) -> Result<PluginInfo, Failure> {
        let (connection, _) = self.connect()?;
        let answer = connection.call(wire::DESCRIBE, "", None, self.create_deadline())?;
        self.complete(answer).map_err(|why| {
            Failure::new(FailureClass::Plugin, "plugin.describe", format!("`{}`: {why}", self.id))
        })
    }

    /// The reason of an error is a sentence.
    fn complete(&self, answer: Value) -> Result<PluginInfo, String> {
        let Value::Object(mut info) = answer else {
            return Err("the description is not a JSON object".to_owned());
        };
        let known = [
            ("id", Some(Value::from(self.id.as_str()))),
            ("kind", self.kind.map(|kind| kind.name().into())),
            ("contract", Some(EPOCH.into())),
        ];
        for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            match info.get(key) {
                Some(said) if *said != value => {
                    return Err(format!("the program says that its {key} is {said}, not {value}"));
                }
                _ => drop(info.insert(key.to_owned(), value)),
            }
        }
        serde_json::from_value(Value::Object(info))
            .map_err(|e| format!("the description is not readable: {e}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(connection) = self.running().connection.take() {
            connection.close();
        }
    }
}
