//! Settings of a registry.

use crate::limits::{CallLimits, Clock};
use crate::worker::WorkerSettings;
use std::path::PathBuf;

/// Settings of a registry.
#[derive(Debug, Clone, Default)]
pub struct RegistrySettings {
    /// Limits of calls.
    pub limits: CallLimits,
    /// The clock of [`CallLimits::idle_ms`].
    pub clock: Clock,
    /// Settings of child processes; without them [`planforge_contract::api::Host::worker`] fails with
    /// `host.no-worker`.
    pub worker: Option<WorkerSettings>,
    /// Folder in which [`Registry::info_apart`](crate::Registry::info_apart) keeps descriptions of libraries, by SHA-256 of the file;
    /// without it nothing is kept.
    pub describe_cache: Option<PathBuf>,
    /// True if libraries run in a child process each, which needs [`RegistrySettings::worker`]. Otherwise they run in this
    /// process.
    pub isolate_libraries: bool,
}

impl RegistrySettings {
    /// Settings of a process that serves a plugin to the host. The host's side measures the time without progress.
    pub(crate) fn of_child() -> Self {
        let limits = CallLimits { idle_ms: u64::MAX, ..CallLimits::default() };
        Self { limits, ..Self::default() }
    }
}
