//! Limits on concurrent requests and on their rate.

use crate::clock::Clock;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which a waiter checks for an interruption.
pub(crate) const POLL: Duration = Duration::from_millis(20);

/// Limits concurrency, and spaces requests if a rate is set or the server asked to wait.
#[derive(Debug)]
pub(crate) struct Gate {
    most: u32,
    spacing: Duration,
    in_flight: Mutex<u32>,
    freed: Condvar,
    next: Mutex<Duration>,
}

/// The right to have one request in flight; given back when dropped.
pub(crate) struct Permit<'a>(&'a Gate);

impl Gate {
    pub(crate) fn new(most: u32, per_minute: Option<f64>) -> Self {
        let spacing =
            per_minute.filter(|r| *r > 0.0).map_or(Duration::ZERO, |r| Duration::from_secs_f64(60.0 / r));
        Self {
            most: most.max(1),
            spacing,
            in_flight: Mutex::new(0),
            freed: Condvar::new(),
            next: Mutex::default(),
        }
    }

    /// Waits for its turn; `None` if the run was interrupted first. `held` is called with the remaining wait
    /// once the turn has come.
    pub(crate) fn enter(
        &self,
        clock: &dyn Clock,
        cancelled: &dyn Fn() -> bool,
        held: &dyn Fn(Duration),
    ) -> Option<Permit<'_>> {
        let permit = self.permit(cancelled)?;
        let pause = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let now = clock.now();
            let slot = (*next).max(now);
            *next = slot + self.spacing;
            slot - now
        };
        if !pause.is_zero() {
            held(pause);
            if !clock.sleep(pause, cancelled) {
                return None;
            }
        }
        Some(permit)
    }

    fn permit(&self, cancelled: &dyn Fn() -> bool) -> Option<Permit<'_>> {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if cancelled() {
                return None;
            }
            if *in_flight < self.most {
                *in_flight += 1;
                return Some(Permit(self));
            }
            in_flight = self.freed.wait_timeout(in_flight, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Delays all requests of this model, as the server asked.
    pub(crate) fn hold(&self, clock: &dyn Clock, pause: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(clock.now() + pause);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.in_flight.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}
