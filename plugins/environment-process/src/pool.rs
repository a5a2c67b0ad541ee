//! Copies of the program: as many as may run at a time, kept between calls, and never used again after they misbehaved.

use crate::codes;
use crate::conversation::Conversation;
use crate::options::ProcessEnvironmentOptions;
use planforge_contract::{Failure, FailureClass, ProgressTimer};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which the host's cancellation is checked.
const TICK: Duration = Duration::from_millis(20);

#[derive(Default)]
struct Shelf {
    idle: Vec<Conversation>,
    running: u32,
}

/// The copies of one instance. Dropping it ends them.
#[derive(Default)]
pub(crate) struct Pool {
    shelf: Mutex<Shelf>,
    freed: Condvar,
}

impl Pool {
    /// Works with a copy, waiting for one if all are in use. A copy is kept if the work succeeded.
    pub(crate) fn with<T>(
        &self,
        timer: &ProgressTimer<'_>,
        options: &ProcessEnvironmentOptions,
        work: impl FnOnce(&mut Conversation) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut place = self.place(timer, options)?;
        let conversation = match &mut place.conversation {
            Some(idle) => idle,
            empty => empty.insert(Conversation::start(options)?),
        };
        let result = work(conversation);
        if result.is_err() {
            place.conversation = None;
        }
        result
    }

    fn place(
        &self,
        timer: &ProgressTimer<'_>,
        options: &ProcessEnvironmentOptions,
    ) -> Result<CopyLease<'_>, Failure> {
        let until = timer.host().remaining_ms().map(|left| Instant::now() + Duration::from_millis(left));
        let mut shelf = self.lock();
        loop {
            if shelf.running < options.processes.max(1) {
                shelf.running += 1;
                let mut place = CopyLease { pool: self, conversation: None };
                // A copy that ended while idle is not a failure: a new one replaces it.
                while let Some(mut idle) = shelf.idle.pop() {
                    if idle.is_alive() {
                        place.conversation = Some(idle);
                        break;
                    }
                }
                return Ok(place);
            }
            shelf = self.freed.wait_timeout(shelf, TICK).unwrap_or_else(PoisonError::into_inner).0;
            if timer.is_cancelled() {
                let text =
                    "the run was interrupted while all copies of the environment's program were in use";
                return Err(Failure::new(FailureClass::Cancelled, codes::STOPPED, text));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                let text =
                    "the host's deadline passed while all copies of the environment's program were in use";
                return Err(Failure::new(FailureClass::Limit, codes::STOPPED, text)
                    .help("raise `processes`, how many may run at a time"));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to have one copy running; given back in any case, a panic included.
struct CopyLease<'p> {
    pool: &'p Pool,
    conversation: Option<Conversation>,
}

impl Drop for CopyLease<'_> {
    fn drop(&mut self) {
        // A copy that was used while its work panicked may be in the middle of anything.
        let kept = self.conversation.take().filter(|_| !std::thread::panicking());
        let mut shelf = self.pool.lock();
        shelf.running -= 1;
        shelf.idle.extend(kept);
        drop(shelf);
        self.pool.freed.notify_one();
    }
}
