//! Time that passes only when somebody waits.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A clock whose waits return at once and are recorded.
#[derive(Debug, Default)]
pub struct ScriptedClock {
    state: Mutex<(Duration, Vec<Duration>)>,
}

impl ScriptedClock {
    /// Every wait so far.
    pub fn waits(&self) -> Vec<Duration> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
    /// Time since the clock was made.
    pub fn now(&self) -> Duration {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }
    /// Lets time pass at once.
    pub fn sleep(&self, duration: Duration) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += duration;
        state.1.push(duration);
    }
}
