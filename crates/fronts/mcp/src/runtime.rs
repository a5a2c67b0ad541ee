//! The threads of a server.

use std::io;
use tokio::runtime::{Builder, Runtime};

/// Stack of the threads that read PDDL.
const STACK: usize = 8 << 20;

/// Starts the threads of a server: two for connections, and one for each call at work.
///
/// # Errors
/// The operating system starts no thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).thread_stack_size(STACK).enable_all().build()
}
