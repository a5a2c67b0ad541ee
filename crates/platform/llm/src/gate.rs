//! Limits on concurrent requests, on their rate and after failures in a row; the clock that they wait with, and the progress of each request for display.

use crate::pace::{Pace, Ticket};
use crate::settings::ModelSettings;
use planforge_contract::{Failure, FailureClass, ProviderFailure, ProviderFailureClass, RateLimits};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// Code of the failure of a request that was not sent because the table's server seems to be down.
pub(crate) const PAUSED: &str = "llm.resting";

/// The failure of a request that is not sent while its table is paused.
pub(crate) fn paused(name: &str, failures: u32) -> Failure {
    let message = format!("`{name}` is paused: its last {failures} requests in a row failed");
    Failure::new(FailureClass::Provider, PAUSED, message)
        .help("`rest_after` and `rest_s` of its table set the number of failures and the length of the pause")
}

/// The state of one table's pause, updated at the end of each request.
#[derive(Debug, Default)]
pub(crate) struct TablePause {
    state: Mutex<PauseState>,
}

#[derive(Debug, Default)]
struct PauseState {
    /// Failures in a row that were not caused by the request.
    failures: u32,
    /// Time at which one request may try again, once enough failed.
    until: Duration,
}

impl TablePause {
    fn state(&self) -> MutexGuard<'_, PauseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of failed requests in a row while the table is paused. When the pause is over, one request is
    /// sent and the others wait for its end.
    pub(crate) fn failures_if_paused(&self, settings: &ModelSettings, clock: &dyn Clock) -> Option<u32> {
        let mut state = self.state();
        if settings.rest_after == 0 || state.failures < settings.rest_after {
            return None;
        }
        let now = clock.now();
        if now < state.until {
            return Some(state.failures);
        }
        state.until = now + pause_length(settings);
        None
    }

    /// A request was answered, or refused because of its content: the server is up.
    pub(crate) fn record_success(&self) {
        self.state().failures = 0;
    }

    /// A request failed after its retries.
    pub(crate) fn record_failure(
        &self,
        class: ProviderFailureClass,
        settings: &ModelSettings,
        clock: &dyn Clock,
    ) {
        if !is_outside_request(class) {
            return self.record_success();
        }
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        state.until = clock.now() + pause_length(settings);
    }
}

fn pause_length(settings: &ModelSettings) -> Duration {
    Duration::try_from_secs_f64(settings.rest_s).unwrap_or(Duration::MAX / 2)
}

/// True if the cause of a failure is the server, the connection or the account, and not this one request.
const fn is_outside_request(class: ProviderFailureClass) -> bool {
    use ProviderFailureClass as C;
    match class {
        C::Connection | C::Timeout | C::RateLimited | C::Server | C::Authentication | C::NotFound => true,
        C::ContextOverflow | C::BadRequest | C::Malformed => false,
    }
}

/// A request to a model, and the phase that it enters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallStep<'a> {
    /// The model table.
    pub llm: &'a str,
    /// The request's sample path, unique in the run.
    pub path: &'a str,
    pub phase: CallPhase,
    /// Requests a second that are sent to the table now; `None` without a limit.
    pub rate: Option<f64>,
}

/// The phase of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPhase {
    /// Waits for its turn: `max_concurrency` requests are in flight, or those in flight may exhaust a cap.
    Queued,
    /// Waits this long because of `requests_per_minute`, because the server refused requests, or because it asked to
    /// wait.
    Held(Duration),
    /// The request was sent; the first attempt is 1.
    Sent(u32),
    /// This attempt failed. The request waits this long before the next.
    BackingOff(u32, Duration),
    /// The request ended.
    Ended,
}

/// Callback for each step of each request that no record answers. Called from many threads.
pub type CallWatch = Arc<dyn Fn(&CallStep<'_>) + Send + Sync>;

/// Reports the phases of one request, and its end in every case.
pub(crate) struct CallProgress<'a> {
    watch: Option<&'a CallWatch>,
    llm: &'a str,
    path: &'a str,
    gate: &'a Gate,
}

impl<'a> CallProgress<'a> {
    pub(crate) fn new(watch: Option<&'a CallWatch>, llm: &'a str, path: &'a str, gate: &'a Gate) -> Self {
        Self { watch, llm, path, gate }
    }

    pub(crate) fn enter(&self, phase: CallPhase) {
        if let Some(watch) = self.watch {
            watch(&CallStep { llm: self.llm, path: self.path, phase, rate: self.gate.rate() });
        }
    }
}

impl Drop for CallProgress<'_> {
    fn drop(&mut self) {
        self.enter(CallPhase::Ended);
    }
}
