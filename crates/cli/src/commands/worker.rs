//! `planforge worker`: the child-process side of the host. Not for people.

use std::path::PathBuf;
use crate::context::Context;
use crate::bundled::BUNDLED;
use crate::exit::Exit;
use planforge_plugin_host::{WorkerSource, worker_main};
use clap::Args;

/// The child process of the plugin host.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The bundled plugin to load.
    #[arg(long, value_name = "ID", required_unless_present = "library", conflicts_with = "library")]
    pub(crate) bundled: Option<String>,
    /// The plugin library to load.
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,
    /// Most bytes of address space.
    #[arg(long, value_name = "N")]
    pub(crate) memory_bytes: u64,
}

pub(crate) fn run(context: &Context, args: &WorkerArgs) -> Exit {
    let source = match (&args.bundled, &args.library) {
        (Some(id), _) => WorkerSource::Bundled(id.clone()),
        (None, Some(path)) => WorkerSource::Library(path.clone()),
        (None, None) => return Exit::Usage,
    };
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    match worker_main(&source, args.memory_bytes, BUNDLED, input, output) {
        Ok(()) => Exit::Good,
        Err(failure) => context.print_failure(&failure),
    }
}
