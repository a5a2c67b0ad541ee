//! Time, as a trait, so that tests of waiting do not wait.

use std::time::{Duration, Instant};

/// Source of time and of waits.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
    /// Waits for the duration or until `cancelled` returns true. Returns false if it was cancelled.
    fn sleep(&self, duration: Duration, cancelled: &dyn Fn() -> bool) -> bool;
}

/// The machine's own clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

/// Interval at which a sleeper checks for an interruption.
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
