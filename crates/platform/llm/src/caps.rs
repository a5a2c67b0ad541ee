//! Caps on calls, tokens and cost, shared by all threads. A request reserves its share before it is sent, so that a burst
//! cannot overshoot.

use crate::gate::POLL;
use crate::settings::ModelSettings;
use crate::usage::{ModelUsage, may_have_used};
use planforge_contract::{CompletionRequest, Failure, FailureClass, Price, ProviderFailure, Usage};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tokens that a chat template adds to a turn, generously.
const TURN_TOKENS: u64 = 16;

/// Tokens of texts that a server did not count, on the high side: one for every three bytes, and what a chat template
/// adds to each of `turns`.
pub fn estimated_tokens<'a>(texts: impl Iterator<Item = &'a str>, turns: usize) -> u64 {
    let bytes: usize = texts.map(str::len).sum();
    bytes.div_ceil(3) as u64 + TURN_TOKENS * turns as u64
}

/// Upper bound on the use of one request, estimated before it is sent.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    prompt_tokens: u64,
    completion_tokens: u64,
    cost: f64,
}

/// The most that may be used; absent means no limit.
#[derive(Debug, Clone, Copy, Default)]
struct Caps {
    calls: Option<u64>,
    tokens: Option<u64>,
    cost: Option<f64>,
}

#[derive(Debug, Default)]
struct State {
    caps: Caps,
    calls: u64,
    tokens: u64,
    cost: f64,
    in_flight: u64,
    reserved_tokens: u64,
    reserved_cost: f64,
    /// The part of `tokens` and `cost` that is charged for deferred requests, which may use less.
    waiting_tokens: u64,
    waiting_cost: f64,
    usage: ModelUsage,
}

/// The account of one `[llm.NAME]` table.
#[derive(Debug, Default)]
pub(crate) struct SpendingCaps {
    state: Mutex<State>,
    settled: Condvar,
}

/// Reasons for not reserving a share.
pub(crate) enum Refusal {
    Cancelled,
    Cap(Failure),
    /// Only deferred requests exhaust the cap: the request may fit once they are answered.
    Deferred,
}

/// Events that may make room for a request that does not fit now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// The ends of requests in flight.
    InFlight,
    /// Replies to deferred requests.
    Deferred,
    Nothing,
}

/// The share of a request in flight. If it is dropped without being settled (a panic in a provider), it counts as used in
/// full.
pub(crate) struct Reservation<'a> {
    caps: &'a SpendingCaps,
    settings: &'a ModelSettings,
    share: Share,
    settled: bool,
}

impl SpendingCaps {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn new(settings: &ModelSettings) -> Self {
        let state = State { caps: Caps::of(settings), ..State::default() };
        Self { state: Mutex::new(state), settled: Condvar::new() }
    }

    /// Changes the caps.
    ///
    /// # Errors
    /// `llm.limit-too-low`: a cap at or below what is used.
    pub(crate) fn change(&self, name: &str, settings: &ModelSettings) -> Result<(), Failure> {
        let (mut state, caps) = (self.state(), Caps::of(settings));
        let used = [
            ("max_calls", caps.calls.is_some_and(|most| most <= state.calls), state.calls.to_string()),
            (
                "max_total_tokens",
                caps.tokens.is_some_and(|most| most <= state.tokens),
                state.tokens.to_string(),
            ),
            ("max_cost_usd", caps.cost.is_some_and(|most| most <= state.cost), format!("{:.4}", state.cost)),
        ];
        if let Some((key, _, used)) = used.into_iter().find(|(_, is_too_low, _)| *is_too_low) {
            let message = format!("llm.{name}.{key}: {used} are used, and a cap can only be above that");
            return Err(Failure::new(FailureClass::Request, "llm.limit-too-low", message)
                .help("Ctrl-C ends a run; its record can be resumed"));
        }
        state.caps = caps;
        self.settled.notify_all();
        Ok(())
    }

    /// Reserves the share of one request. Waits while requests in flight may turn out cheaper than reserved.
    pub(crate) fn reserve<'a>(
        &'a self,
        name: &str,
        settings: &'a ModelSettings,
        request: &CompletionRequest,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reservation<'a>, Refusal> {
        let share = Share::of(settings, request);
        let mut state = self.state();
        loop {
            if cancelled() {
                return Err(Refusal::Cancelled);
            }
            match passed_cap(&state, share) {
                None => break,
                Some((_, _, Room::InFlight)) if state.in_flight > 0 => {
                    state = self.settled.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
                }
                Some((_, _, Room::Deferred)) => return Err(Refusal::Deferred),
                Some((key, detail, _)) => return Err(Refusal::Cap(cap_failure(name, key, &detail))),
            }
        }
        state.calls += 1;
        state.in_flight += 1;
        state.reserved_tokens += share.prompt_tokens + share.completion_tokens;
        state.reserved_cost += share.cost;
        state.usage.requests_sent += 1;
        drop(state);
        Ok(Reservation { caps: self, settings, share, settled: false })
    }

    /// Charges a recorded reply: it was paid for in this run or before.
    pub(crate) fn add_recorded(&self, settings: &ModelSettings, attempts: u32, usage: &Usage) {
        let mut state = self.state();
        state.calls += u64::from(attempts);
        state.charge(settings, usage, Share::default());
        state.usage.add(usage);
        state.usage.answered_by_record += 1;
    }

    /// Charges the use of an earlier session of the run. `request` is the request if a part of its use was not counted;
    /// that part is charged by the same estimate as it was then. `has_used` is false if its last attempt used nothing.
    pub(crate) fn add_earlier_session(
        &self,
        settings: &ModelSettings,
        attempts: u32,
        (usage, has_used): (&Usage, bool),
        request: Option<&CompletionRequest>,
    ) {
        let share = request.map_or_else(Share::default, |request| Share::of(settings, request));
        let mut state = self.state();
        state.calls += u64::from(attempts);
        state.charge(settings, usage, if has_used { share } else { Share::default() });
        for _ in 0..usage.uncounted_requests.unwrap_or(0).min(u64::from(attempts)) {
            state.charge(settings, &Usage::default(), share);
        }
    }

    /// Counts a reply of an earlier session that was looked up.
    pub(crate) fn count_recorded(&self, usage: &Usage) {
        let mut state = self.state();
        state.usage.add(usage);
        state.usage.answered_by_record += 1;
    }

    pub(crate) fn count_retry(&self) {
        self.state().usage.retries += 1;
    }

    /// Mean number of tokens of an answered request, where the server counts them.
    pub(crate) fn mean_tokens(&self) -> Option<f64> {
        let usage = &self.state().usage;
        let answered = usage.answered_by_provider + usage.answered_by_record;
        let tokens = usage.prompt_tokens + usage.completion_tokens;
        (answered > 0 && tokens > 0).then(|| tokens as f64 / answered as f64)
    }

    pub(crate) fn usage(&self, settings: &ModelSettings) -> ModelUsage {
        self.state().usage.clone().with_cost(&settings.price)
    }
}

impl<'a> Reservation<'a> {
    /// The request was answered.
    pub(crate) fn settle_answered(mut self, usage: &Usage) {
        let mut state = self.release();
        state.charge(self.settings, usage, self.share);
        state.usage.add(usage);
        state.usage.answered_by_provider += 1;
    }

    /// The request was deferred. It stays charged as reserved, so that deferred requests cannot pass a cap together. A later
    /// request that fits only without that charge is deferred as well. `failed` are the tokens that the server counted for an answer
    /// that an outage ended.
    pub(crate) fn settle_deferred(mut self, failed: Option<&Usage>) {
        let mut state = self.release();
        if let Some(usage) = failed {
            state.charge(self.settings, usage, Share::default());
            state.usage.add(usage);
        }
        state.charge(self.settings, &Usage::default(), self.share);
        state.waiting_tokens += self.share.prompt_tokens + self.share.completion_tokens;
        state.waiting_cost += self.share.cost;
        state.usage.requests_sent -= 1;
        state.usage.pending += 1;
    }

    /// The request failed. `unmetered` is true if it may have used tokens all the same.
    pub(crate) fn settle_failed(mut self, unmetered: bool) {
        let mut state = self.release();
        if unmetered {
            state.charge(self.settings, &Usage::default(), self.share);
            state.usage.unmetered += 1;
        }
    }

    /// The request failed with this failure, and is charged as the server counted it. Without counts it is unmetered if it may have
    /// used tokens.
    pub(crate) fn settle_failed_with(mut self, failure: &ProviderFailure) {
        let Some(usage) = &failure.usage else { return self.settle_failed(may_have_used(failure.class)) };
        let mut state = self.release();
        state.charge(self.settings, usage, self.share);
        state.usage.add(usage);
    }

    fn release(&mut self) -> MutexGuard<'a, State> {
        self.settled = true;
        let caps = self.caps;
        let mut state = caps.state();
        state.in_flight -= 1;
        state.reserved_tokens -= self.share.prompt_tokens + self.share.completion_tokens;
        state.reserved_cost -= self.share.cost;
        caps.settled.notify_all();
        state
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.settled {
            let (settings, share) = (self.settings, self.share);
            let mut state = self.release();
            state.charge(settings, &Usage::default(), share);
            state.usage.unmetered += 1;
        }
    }
}

impl Caps {
    const fn of(settings: &ModelSettings) -> Self {
        Self { calls: settings.max_calls, tokens: settings.max_total_tokens, cost: settings.max_cost_usd }
    }
}

impl State {
    /// Charges a use. Missing counts are charged as they were reserved, so that a server without counts does
    /// not lift a cap.
    fn charge(&mut self, settings: &ModelSettings, usage: &Usage, share: Share) {
        let prompt = usage.prompt_tokens.unwrap_or(share.prompt_tokens);
        let completion = usage.completion_tokens.unwrap_or(share.completion_tokens);
        self.tokens += prompt + completion;
        let counted = Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion), ..*usage };
        self.cost += settings.price.for_caps().cost(&counted).unwrap_or(0.0);
    }
}

impl Share {
    fn of(settings: &ModelSettings, request: &CompletionRequest) -> Self {
        let texts = request.messages.iter().map(|m| m.content.as_str());
        let prompt_tokens = estimated_tokens(texts, request.messages.len());
        let replies = u64::from(request.sampling.n.unwrap_or(1));
        let completion_tokens = replies * u64::from(request.sampling.max_tokens.unwrap_or(0));
        // The dearest that the tokens can be: written to a cache, if that has a price, and all of them reasoning.
        let price = &settings.price;
        let dearest = |price: Option<f64>, other: Option<f64>| Some(price?.max(other.unwrap_or(0.0)));
        let bound = Price {
            prompt: dearest(price.prompt, price.cache_write),
            completion: dearest(price.completion, price.reasoning),
            ..Price::default()
        };
        let most = Usage {
            prompt_tokens: Some(prompt_tokens),
            completion_tokens: Some(completion_tokens),
            ..Usage::default()
        };
        let cost = bound.cost(&most).unwrap_or(0.0);
        Self { prompt_tokens, completion_tokens, cost }
    }
}

/// Returns the cap that a further request would pass: its key, the figures, and what may make room.
fn passed_cap(state: &State, share: Share) -> Option<(&'static str, String, Room)> {
    if let Some(most) = state.caps.calls.filter(|most| state.calls >= *most) {
        return Some(("max_calls", format!("{} of {most} requests were made", state.calls), Room::Nothing));
    }
    let room = |fits_alone: bool, fits_without_waiting: bool| match (fits_alone, fits_without_waiting) {
        (true, _) => Room::InFlight,
        (false, true) => Room::Deferred,
        (false, false) => Room::Nothing,
    };
    if let Some(most) = state.caps.tokens {
        let wanted = share.prompt_tokens + share.completion_tokens;
        if state.tokens >= most || state.tokens + state.reserved_tokens + wanted > most {
            let detail =
                format!("{} of {most} tokens were used, the next request may use {wanted}", state.tokens);
            let fits = |used: u64| used < most && used + wanted <= most;
            let room = room(fits(state.tokens), fits(state.tokens.saturating_sub(state.waiting_tokens)));
            return Some(("max_total_tokens", detail, room));
        }
    }
    let passed = |most: &f64| state.cost >= *most || state.cost + state.reserved_cost + share.cost > *most;
    if let Some(most) = state.caps.cost.filter(passed) {
        let detail = format!(
            "{:.4} of {most} US dollars were spent, the next request may cost {:.4}",
            state.cost, share.cost
        );
        let fits = |spent: f64| spent < most && spent + share.cost <= most;
        // Without deferred requests, the difference of two sums must not make room.
        let has_waiting = state.waiting_cost > 0.0;
        let room = room(fits(state.cost), has_waiting && fits(state.cost - state.waiting_cost));
        return Some(("max_cost_usd", detail, room));
    }
    None
}

fn cap_failure(name: &str, key: &str, detail: &str) -> Failure {
    Failure::new(
        FailureClass::Budget,
        "llm.budget",
        format!("the cap `{key}` of `{name}` is reached: {detail}"),
    )
    .help(format!("raise it (`--set llm.{name}.{key}=...`) and resume the run; nothing is paid for twice"))
}
