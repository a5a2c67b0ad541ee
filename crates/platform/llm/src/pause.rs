//! A pause for a table whose server is down, so that not every request waits for all of its retries.

use crate::clock::Clock;
use crate::settings::ModelSettings;
use planforge_contract::{Failure, FailureClass, ProviderFailureClass};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Failures in a row that were not caused by the request.
    failures: u32,
    /// Time at which one request may try again, once enough failed.
    until: Duration,
}

impl TablePause {
    fn state(&self) -> MutexGuard<'_, State> {
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
