//! A model table with its provider, the state of its limits, and its pause while its server is down.

use crate::caps::SpendingCaps;
use crate::gate::{Clock, Gate};
use crate::settings::ModelSettings;
use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, Failure, FailureClass, ProviderFailureClass, Tags};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One `[llm.NAME]` table with its provider.
#[derive(Clone)]
pub struct ModelTable {
    /// The host's keys of the table.
    pub settings: ModelSettings,
    /// The provider; replay needs none.
    pub provider: Option<Arc<dyn Provider>>,
    /// True if the provider declares the capability `simulated`, and so may see tags.
    pub simulated: bool,
    /// True if the provider declares that its service enforces the grammar of a request.
    pub enforces_grammars: bool,
}

impl ModelTable {
    /// A table with a real provider.
    pub fn new(settings: ModelSettings, provider: Option<Arc<dyn Provider>>) -> Self {
        Self { settings, provider, simulated: false, enforces_grammars: false }
    }

    /// Fills the fields that the request leaves out from the table.
    pub(crate) fn fill_defaults(&self, mut request: CompletionRequest) -> CompletionRequest {
        let settings = &self.settings;
        let sampling = &mut request.sampling;
        request.model.clone_from(&settings.model);
        sampling.temperature = sampling.temperature.or(settings.temperature);
        sampling.top_p = sampling.top_p.or(settings.top_p);
        sampling.max_tokens = sampling.max_tokens.or(settings.max_tokens);
        sampling.seed = sampling.seed.or(settings.seed);
        sampling.logprobs = sampling.logprobs.or(settings.logprobs);
        if sampling.stop.is_empty() {
            sampling.stop.clone_from(&settings.stop);
        }
        for (key, value) in &settings.extra_body {
            request.extra.entry(key.clone()).or_insert_with(|| value.clone());
        }
        if !self.enforces_grammars {
            // A required grammar stays, and the request fails before it is sent.
            request.constraint = request.constraint.filter(|constraint| constraint.required);
        }
        if !self.simulated {
            request.tags = Tags::default();
        }
        request
    }
}

/// The limits of one table while a run lasts.
pub(crate) struct TableState {
    pub(crate) gate: Gate,
    pub(crate) caps: SpendingCaps,
    pub(crate) pause: TablePause,
}

impl TableState {
    pub(crate) fn new(settings: &ModelSettings) -> Self {
        Self {
            gate: Gate::new(settings.max_concurrency, settings.requests_per_minute),
            caps: SpendingCaps::new(settings),
            pause: TablePause::default(),
        }
    }
}

/// Code of the failure of a request that was not sent because the table's server seems to be down.
pub(crate) const PAUSED: &str = "llm.resting";

/// The failure of a request that is not sent while its table is paused.
pub(crate) fn paused_failure(name: &str, failures: u32) -> Failure {
    let message = format!("`{name}` is paused: its last {failures} requests in a row failed");
    Failure::new(FailureClass::Provider, PAUSED, message)
        .help("`rest_after` and `rest_s` of its table set the number of failures and the length of the pause")
}

/// The state of one table's pause, updated at the end of each request.
///
/// A table whose server is down pauses, so that not every request waits for all of its retries.
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
