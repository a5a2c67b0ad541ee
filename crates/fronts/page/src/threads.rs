//! Threads for work that may block.

use crate::error::Refusal;

/// Stack of the threads that read PDDL.
pub(crate) const STACK: usize = 8 << 20;

/// Starts a thread.
///
/// # Errors
/// 429 `page.busy`: the machine has no thread left.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Refusal> {
    match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::busy(format!("no thread can be started: {error}"))),
    }
}
