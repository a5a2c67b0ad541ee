//! `planforge worker`: the child-process side of the host. Not for people.

use super::Context;
use crate::args::WorkerArgs;
use crate::bundled::BUNDLED;
use crate::exit::Exit;
use planforge_plugin_host::{WorkerSource, worker_main};

pub(crate) fn run(context: &Context, args: &WorkerArgs) -> Exit {
    let source = match (&args.bundled, &args.library) {
        (Some(id), _) => WorkerSource::Bundled(id.clone()),
        (None, Some(path)) => WorkerSource::Library(path.clone()),
        (None, None) => return Exit::Usage,
    };
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    match worker_main(&source, args.memory_bytes, BUNDLED, input, output) {
        Ok(()) => Exit::Good,
        Err(failure) => crate::session::broke(context, &failure),
    }
}
