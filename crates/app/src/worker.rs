//! The child process of the plugin host and of the suites' templates. A front makes it the body of its worker executable.

use crate::bundled::BUNDLED;
use crate::error::Error;
use planforge_contract::{Failure, FailureClass};
use planforge_plugin_host::{WorkerSource, isolated_main, worker_main};
use planforge_suites::serve_renderings;
use std::io::{BufRead, Write};
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

/// Serves requests from `input` until it ends.
///
/// # Errors
/// The plugin cannot be loaded, or the connection broke.
pub fn serve(worker: Worker, input: impl BufRead, output: impl Write) -> Result<(), Error> {
    let done = match worker {
        Worker::Bundled(id, bytes) => worker_main(&WorkerSource::Bundled(id), bytes, BUNDLED, input, output),
        Worker::Library(path, bytes) => {
            worker_main(&WorkerSource::Library(path), bytes, BUNDLED, input, output)
        }
        Worker::Isolated(path) => isolated_main(&path),
        Worker::Templates => serve_renderings(input, output)
            .map_err(|e| Failure::new(FailureClass::System, "host.worker-died", e.to_string())),
    };
    Ok(done?)
}
