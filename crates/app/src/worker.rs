//! The child process of the plugin host and of the suites' templates. A front makes it the body of its worker executable.

use crate::bundled::BUNDLED;
use crate::error::Error;
use planforge_contract::{Failure, FailureClass};
use planforge_plugin_host::{WorkerSource, isolated_main, worker_main};
use planforge_suites::serve_renderings;
use std::io::{stdin, stdout};
use std::path::PathBuf;

/// What the process serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worker {
    /// A bundled plugin, with a limit on its address space in bytes.
    Bundled(String, u64),
    /// A plugin library, with a limit on its address space in bytes.
    Library(PathBuf, u64),
    /// A plugin library as a program. The caller sets the limits.
    Isolated(PathBuf),
    /// Templates of suites. The caller sets the limits.
    Templates,
}

/// Serves requests on standard input and output until the input ends.
///
/// # Errors
/// The plugin cannot be loaded, or the connection broke.
pub fn serve(worker: Worker) -> Result<(), Error> {
    let done = match worker {
        Worker::Bundled(id, bytes) => serve_plugin(&WorkerSource::Bundled(id), bytes),
        Worker::Library(path, bytes) => serve_plugin(&WorkerSource::Library(path), bytes),
        // Locks both by itself.
        Worker::Isolated(path) => isolated_main(&path),
        Worker::Templates => serve_renderings(stdin().lock(), stdout().lock())
            .map_err(|e| Failure::new(FailureClass::System, "host.worker-died", e.to_string())),
    };
    Ok(done?)
}

fn serve_plugin(source: &WorkerSource, bytes: u64) -> Result<(), Failure> {
    worker_main(source, bytes, BUNDLED, stdin().lock(), stdout().lock())
}
