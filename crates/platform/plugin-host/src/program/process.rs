//! A program, started when it is first needed and again after it ended.

use super::connection::Connection;
use super::manifest::Manifest;
use super::wire;
use crate::limits::CallLimits;
use planforge_child::{CommandSpec, Limits};
use planforge_contract::{Failure, FailureClass, PluginInfo};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A program and its running process, if there is one.
pub(crate) struct Program {
    pub(crate) manifest: Manifest,
    command: CommandSpec,
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
    pub(crate) fn new(folder: &Path, manifest: Manifest, limits: CallLimits) -> Arc<Self> {
        let mut words = manifest.command.iter();
        let program = words.next().cloned().unwrap_or_default();
        let command = CommandSpec::new(program).arguments(words).folder(folder);
        Arc::new(Self { manifest, command, limits, connection: Mutex::default(), turn: RwLock::default() })
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
            memory_bytes: Some(self.manifest.memory_mb << 20),
            output_bytes: self.limits.reply_bytes as u64,
            ..Limits::default()
        };
        let connection = Connection::start(&self.manifest.id, &self.command, &limits)?;
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
