//! `planforge worker`: the child process of the plugin host and of `planforge suite`. Not for people.

use crate::bundled::BUNDLED;
use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_contract::{Failure, FailureClass};
use planforge_plugin_host::{WorkerSource, isolated_main, worker_main};
use planforge_suites::serve_renderings;
use std::path::PathBuf;

/// The child process of the plugin host and of `planforge suite`.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The bundled plugin to load.
    #[arg(long, value_name = "ID", required_unless_present_any = ["library", "isolated", "templates"], conflicts_with = "library")]
    pub(crate) bundled: Option<String>,
    /// The plugin library to load.
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,
    /// The plugin library to serve as a program. The caller sets the limits.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["bundled", "library", "memory_bytes"])]
    pub(crate) isolated: Option<PathBuf>,
    /// Renders templates of suites instead. The caller sets the limits.
    #[arg(long, conflicts_with_all = ["bundled", "library", "isolated", "memory_bytes"])]
    pub(crate) templates: bool,
    /// Most bytes of address space.
    #[arg(long, value_name = "N", required_unless_present_any = ["isolated", "templates"])]
    pub(crate) memory_bytes: Option<u64>,
}

pub(crate) fn run(context: &Context, args: &WorkerArgs) -> Exit {
    if let Some(library) = &args.isolated {
        return match isolated_main(library) {
            Ok(()) => Exit::Good,
            Err(failure) => context.print_failure(&failure),
        };
    }
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let bundled = args.bundled.clone().map(WorkerSource::Bundled);
    let source = bundled.or_else(|| args.library.clone().map(WorkerSource::Library));
    let done = match (source, args.memory_bytes) {
        (Some(source), Some(memory)) => worker_main(&source, memory, BUNDLED, input, output),
        _ if args.templates => serve_renderings(input, output)
            .map_err(|e| Failure::new(FailureClass::System, "host.worker-died", e.to_string())),
        _ => return Exit::Usage,
    };
    match done {
        Ok(()) => Exit::Good,
        Err(failure) => context.print_failure(&failure),
    }
}
