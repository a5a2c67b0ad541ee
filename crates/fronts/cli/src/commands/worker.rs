//! `planforge worker`: the child process of the plugin host and of `planforge suite`. Not for people.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::worker::{Worker, serve};
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
    let bundled = || Some(Worker::Bundled(args.bundled.clone()?, args.memory_bytes?));
    let library = || Some(Worker::Library(args.library.clone()?, args.memory_bytes?));
    let isolated = || Some(Worker::Isolated(args.isolated.clone()?));
    let templates = || args.templates.then_some(Worker::Templates);
    let Some(worker) = isolated().or_else(bundled).or_else(library).or_else(templates) else {
        return Exit::Usage;
    };
    context.show(serve(worker), |()| Exit::Good)
}
