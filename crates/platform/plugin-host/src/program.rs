//! Plugins that are programs: a folder with a `plugin.toml` beside the program's files.
//!
//! Host and program exchange JSON-RPC 2.0, one message a line, over the program's standard streams; docs/reference/plugin-programs.md
//! is the specification. A program is started when it is first needed, serves all instances of the run, may answer several calls at a
//! time, and is started again after it ended. It ends with everything that it started.

mod connection;
mod instance;
mod manifest;
mod wire;

pub(crate) use connection::CallHost;
pub(crate) use instance::ProgramInstance;
pub(crate) use manifest::{Manifest, folder_hash};

use crate::limits::CallLimits;
use connection::Connection;
use planforge_child::{CommandSpec, Limits};
use planforge_contract::{Failure, FailureClass, PluginInfo};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The file that makes a folder a plugin.
pub(crate) const MANIFEST: &str = "plugin.toml";

/// A program and its running process, if there is one.
pub(crate) struct Program {
    pub(crate) manifest: Manifest,
    command: CommandSpec,
    limits: CallLimits,
    connection: Mutex<Running>,
    /// Held for reading by every call, and for writing by a call that is repeated alone.
    turn: RwLock<()>,
}

#[derive(Default)]
struct Running {
    connection: Option<Arc<Connection>>,
    /// Number of starts.
    starts: u64,
    /// Number of instances made.
    instances: u64,
}

impl Program {
    pub(crate) fn new(folder: &Path, manifest: Manifest, limits: CallLimits) -> Arc<Self> {
        let mut words = manifest.command.iter();
        let program = words.next().cloned().unwrap_or_default();
        let command = CommandSpec::new(program).arguments(words).folder(folder);
        Arc::new(Self {
            manifest,
            command,
            limits,
            connection: Mutex::default(),
            turn: RwLock::default(),
        })
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Running> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection to the running program and its number; starts the program if it does not run.
    fn connect(&self) -> Result<(Arc<Connection>, u64), Failure> {
        let mut running = self.running();
        if let Some(connection) = running.connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok((Arc::clone(connection), running.starts));
        }
        let limits = Limits {
            memory_bytes: Some(self.manifest.memory_mb << 20),
            output_bytes: self.limits.reply_bytes as u64,
            ..Limits::default()
        };
        let connection = Connection::start(&self.manifest.id, &self.command, &limits)?;
        running.starts += 1;
        running.connection = Some(Arc::clone(&connection));
        Ok((connection, running.starts))
    }

    fn next_instance(&self) -> u64 {
        let mut running = self.running();
        running.instances += 1;
        running.instances
    }

    /// The time until which describing, creating and closing must end.
    fn create_deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_millis(self.limits.create_ms))
    }

    /// Gate `plugin.describe`: the program's description, which must agree with `plugin.toml`.
    pub(crate) fn describe(&self) -> Result<PluginInfo, Failure> {
        let (connection, _) = self.connect()?;
        let answer = connection.call(wire::DESCRIBE, "", None, self.create_deadline())?;
        self.manifest.complete(answer).map_err(|why| {
            let text = format!("`{}`: {why}", self.manifest.id);
            Failure::new(FailureClass::Plugin, "plugin.describe", text)
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(connection) = self.running().connection.take() {
            connection.close();
        }
    }
}

/// A field of a JSON object as text.
fn text_field<'v>(object: &'v Value, name: &str) -> &'v str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}
