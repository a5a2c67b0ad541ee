//! Limits on concurrent requests and on their rate.

use crate::clock::Clock;
use crate::pace::{Pace, Ticket};
use planforge_contract::{ProviderFailure, ProviderFailureClass, RateLimits};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiter checks for an interruption.
pub(crate) const POLL: Duration = Duration::from_millis(20);

/// Limits concurrency, and spaces requests if a rate is set, if the server refuses some, or if it asked to wait.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    /// Wakes requests that wait for a permit.
    freed: Condvar,
    /// Wakes requests that wait until another one has been sent.
    sent: Condvar,
}

#[derive(Debug)]
struct State {
    most: u32,
    spacing: Duration,
    in_flight: u32,
    /// Number of changes of the limits.
    changes: u64,
    /// True while a request waits for its time; the others wait for it.
    is_next_waiting: bool,
    pace: Pace,
}

/// The right to have one request in flight; given back when dropped.
pub(crate) struct Permit<'a> {
    gate: &'a Gate,
    ticket: Option<Ticket>,
}

impl Gate {
    pub(crate) fn new(most: u32, per_minute: Option<f64>) -> Self {
        let state = State {
            most: most.max(1),
            spacing: spacing(per_minute),
            in_flight: 0,
            changes: 0,
            is_next_waiting: false,
            pace: Pace::default(),
        };
        Self { state: Mutex::new(state), freed: Condvar::new(), sent: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the limits, also for requests that wait.
    pub(crate) fn set_limits(&self, most: u32, per_minute: Option<f64>) {
        let mut state = self.state();
        let spacing = spacing(per_minute);
        state.most = most.max(1);
        let sooner = state.spacing.saturating_sub(spacing);
        state.pace.bring_forward(sooner);
        state.spacing = spacing;
        state.changes += 1;
        self.freed.notify_all();
    }

    /// Waits for its turn; `None` if the run was interrupted first. `held` is called with the remaining wait
    /// once only the rate delays the request.
    pub(crate) fn enter(
        &self,
        clock: &dyn Clock,
        cancelled: &dyn Fn() -> bool,
        held: &dyn Fn(Duration),
    ) -> Option<Permit<'_>> {
        let arrived = clock.now();
        let mut state = self.wait_until(&self.freed, cancelled, |state| state.in_flight < state.most)?;
        state.in_flight += 1;
        drop(state);
        let mut permit = Permit { gate: self, ticket: None };
        self.wait_until(&self.sent, cancelled, |state| !state.is_next_waiting)?.is_next_waiting = true;
        let ticket = self.wait_for_time(clock, arrived, cancelled, held);
        self.state().is_next_waiting = false;
        self.sent.notify_one();
        permit.ticket = Some(ticket?);
        Some(permit)
    }

    fn wait_for_time(
        &self,
        clock: &dyn Clock,
        arrived: Duration,
        cancelled: &dyn Fn() -> bool,
        held: &dyn Fn(Duration),
    ) -> Option<Ticket> {
        loop {
            let mut state = self.state();
            let now = clock.now();
            let pause = state.pace.next().saturating_sub(now);
            if pause.is_zero() {
                let spacing = state.spacing;
                return Some(state.pace.send(now, arrived, spacing));
            }
            let changes = state.changes;
            drop(state);
            held(pause);
            let ends_sleep = || cancelled() || self.state().changes != changes;
            if !clock.sleep(pause, &ends_sleep) && cancelled() {
                return None;
            }
        }
    }

    /// Waits until the state is as wanted; `None` if the run was interrupted first.
    fn wait_until(
        &self,
        changed: &Condvar,
        cancelled: &dyn Fn() -> bool,
        is_wanted: impl Fn(&State) -> bool,
    ) -> Option<MutexGuard<'_, State>> {
        let mut state = self.state();
        loop {
            if cancelled() {
                return None;
            }
            if is_wanted(&state) {
                return Some(state);
            }
            state = changed.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes up the quotas that a response states. `tokens` is the mean number of tokens of a request.
    pub(crate) fn observe(&self, limits: &RateLimits, tokens: Option<f64>) {
        self.state().pace.observe(limits, tokens);
    }

    /// Requests a second that are sent now; `None` without a limit.
    pub(crate) fn rate(&self) -> Option<f64> {
        let state = self.state();
        let set = (!state.spacing.is_zero()).then(|| 1.0 / state.spacing.as_secs_f64());
        set.into_iter().chain(state.pace.rate()).reduce(f64::min)
    }
}

impl Permit<'_> {
    /// Lowers the rate if the server refuses so many requests. If it has another trouble and asks to wait, all
    /// requests wait, at most `max_wait_ms`.
    pub(crate) fn slow_down(&self, clock: &dyn Clock, failure: &ProviderFailure, max_wait_ms: u64) {
        let (now, mut state) = (clock.now(), self.gate.state());
        let retry_after = failure.retry_after_ms.map(|ms| Duration::from_millis(ms.min(max_wait_ms)));
        match (failure.class, self.ticket, retry_after) {
            (ProviderFailureClass::RateLimited, Some(ticket), _) => {
                state.pace.refuse(ticket, now, retry_after);
            }
            (_, _, Some(pause)) => state.pace.hold_until(now + pause),
            (_, _, None) => {}
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.gate.state().in_flight -= 1;
        self.gate.freed.notify_one();
    }
}

fn spacing(per_minute: Option<f64>) -> Duration {
    let each = per_minute.filter(|rate| *rate > 0.0).map(|rate| 60.0 / rate);
    each.and_then(|each| Duration::try_from_secs_f64(each).ok()).unwrap_or(Duration::ZERO)
}
