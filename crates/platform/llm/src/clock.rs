//! Time, as a trait, so that tests of waiting do not wait.

use std::time::{Duration, Instant};

/// Where this crate takes time from and how it waits.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
    /// Waits that long, or until `cancelled` says so, whichever is first. Returns whether it waited to the end.
    fn sleep(&self, duration: Duration, cancelled: &dyn Fn() -> bool) -> bool;
}

/// The machine's own clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

/// How often a sleeper looks whether the run was interrupted.
const SLICE: Duration = Duration::from_millis(20);

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
    fn sleep(&self, duration: Duration, cancelled: &dyn Fn() -> bool) -> bool {
        let end = Instant::now() + duration;
        loop {
            if cancelled() {
                return false;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(SLICE));
        }
    }
}
