//! One request to one model table: lookup, sending, retries, recording. [`crate::role_request`] decides which
//! table is asked for which samples.

use crate::answer::{ArrivedResult, PendingRequest, Unanswered};
use crate::caps::{Refusal, Reservation};
use crate::gate::{CallPhase, CallProgress, paused};
use crate::key::{canonical_request, completion_key, derive_seed};
use crate::redact::redact_replies;
use crate::retry;
use crate::session::{CallSite, Mode, ModelTable, Session, TableState};
use crate::usage::{add_failed, add_final, with_retried};
use planforge_contract::api::{Host, LogLevel, Provider};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, ProviderFailure, RateLimits, Replies, Usage,
};
use planforge_record::{CompletionRecord, EffectRecord, Event, Lookup, Redactor, nearest};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name of the effect that records a request that ended without a reply.
const CALL: &str = "llm.complete";

/// The client of one table in one request to a role.
pub(crate) struct TableClient<'a> {
    pub(crate) session: &'a Session,
    pub(crate) name: &'a str,
    pub(crate) table: &'a ModelTable,
    pub(crate) state: &'a TableState,
    pub(crate) site: &'a CallSite,
    pub(crate) host: &'a dyn Host,
    /// The request, with the table's defaults filled in.
    pub(crate) request: CompletionRequest,
    /// True if the request asked for a grammar that the table's provider does not enforce, and goes without it.
    pub(crate) lacks_grammar: bool,
    /// True if an earlier table of the role has the same model and sampling, so that their requests are
    /// equal.
    pub(crate) is_twin: bool,
    /// Number of requests that were sent for questions that ended without an answer, recorded ones included.
    pub(crate) failed_requests: AtomicU64,
}

/// One request with its key and sample path.
pub(crate) struct TableRequest {
    pub(crate) path: String,
    key: String,
    canonical: Value,
    completion: CompletionRequest,
}

/// A request that the provider deferred.
struct DeferredRequest<'a> {
    provider: &'a dyn Provider,
    host: &'a dyn Host,
    request: &'a TableRequest,
    /// The operation of the service that answers.
    ticket: String,
    /// The body of the request, if the provider returns it.
    body: Option<Value>,
}

/// The consequence of one answer of the provider.
enum Attempt {
    Done(Replies),
    /// A result that arrived for a deferred request.
    Arrived(Result<Replies, ProviderFailure>),
    Retry(ProviderFailure, Duration),
    Failed(ProviderFailure),
}

impl TableClient<'_> {
    /// The request for `count` samples, the first of which is `first`.
    pub(crate) fn request_for(&self, first: u32, count: u32) -> TableRequest {
        let path = self.sample_path(first);
        let mut completion = self.request.clone();
        completion.sampling.n = Some(count).filter(|n| *n > 1);
        completion.sampling.seed = Some(match completion.sampling.seed {
            // A server with one reply a request would repeat it if a fixed seed did not change with the sample.
            Some(fixed) => fixed.wrapping_add(u64::from(first)),
            None => derive_seed(self.session.options.run_seed, &path),
        });
        let mut canonical = canonical_request(&completion);
        if self.is_twin
            && let Value::Object(fields) = &mut canonical
        {
            fields.insert("llm".to_owned(), self.name.into());
        }
        TableRequest { key: completion_key(&canonical, &path), path, canonical, completion }
    }

    fn count_failed_requests(&self, attempts: u32) {
        self.failed_requests.fetch_add(u64::from(attempts), Ordering::Relaxed);
    }

    /// The sample path of a sample.
    pub(crate) fn sample_path(&self, sample: u32) -> String {
        format!("{}/{}/{sample}", self.site.path, self.site.call)
    }

    /// Sends the request, unless the run's mode forbids it. `has_others` is true if the role has another table
    /// that can be asked instead. `sent` is called when the request has its turn.
    pub(crate) fn ask(
        &self,
        request: &TableRequest,
        has_others: bool,
        sent: &dyn Fn(),
    ) -> Result<Replies, Unanswered> {
        let options = &self.session.options;
        match options.mode {
            Mode::Live | Mode::Record => {
                let (pause, settings) = (&self.state.pause, &self.table.settings);
                if has_others
                    && let Some(failures) = pause.failures_if_paused(settings, options.clock.as_ref())
                {
                    return Err(self
                        .record_failure(request, paused(self.name, failures), Duration::ZERO)?
                        .into());
                }
                self.send(request, sent)
            }
            Mode::Replay => Err(self.replay_miss(request)?.into()),
            Mode::Batch => Err(self.defer(request, String::new(), request.canonical.clone(), None)),
        }
    }

    /// Sends the request and retries it.
    fn send(&self, request: &TableRequest, sent: &dyn Fn()) -> Result<Replies, Unanswered> {
        // A reply that cannot be recorded would be paid for and lost.
        self.check_journal()?;
        let Some(provider) = &self.table.provider else {
            let message =
                format!("the reply of `{}` is not recorded, and the table has no provider", self.name);
            return Err(Failure::new(FailureClass::Request, "llm.no-provider", message).into());
        };
        if self.lacks_grammar {
            let message = format!(
                "role `{}` at {}: the request to `{}` goes without its grammar, which the provider does not enforce",
                self.site.role, request.path, self.name
            );
            let level = "info".to_owned();
            self.append(&Event::Log { plugin: "planforge".to_owned(), level, message })?;
        }
        let clock = self.session.options.clock.as_ref();
        let start = clock.now();
        let progress = CallProgress::new(
            self.session.options.watch.as_ref(),
            self.name,
            &request.path,
            &self.state.gate,
        );
        let (mut attempts, mut retried) = (0, Usage::default());
        let end = loop {
            attempts += 1;
            let attempt = match self.attempt(provider.as_ref(), request, attempts, (&progress, sent)) {
                Ok(attempt) => attempt,
                Err(Unanswered::Failed(failure)) => {
                    return Err(self.record_failure(request, failure, clock.now() - start)?.into());
                }
                Err(deferred) => return Err(deferred),
            };
            match attempt {
                Attempt::Done(replies) => break Ok(replies),
                Attempt::Failed(failure) => break Err(failure),
                Attempt::Arrived(end) => return Ok(self.record_arrived(request, end)?),
                Attempt::Retry(failure, wait) => {
                    add_failed(&mut retried, &failure);
                    self.record_retry(request, attempts, failure, wait)?;
                    progress.enter(CallPhase::BackingOff(attempts, wait));
                    if !clock.sleep(wait, &|| self.is_cancelled()) {
                        return Err(cancelled_failure().into());
                    }
                    self.check_journal()?;
                }
            }
        };
        retried.requests = Some(u64::from(attempts)).filter(|requests| *requests > 1);
        Ok(self.record_end(request, end, (attempts, retried), clock.now() - start)?)
    }

    fn check_journal(&self) -> Result<(), Failure> {
        Ok(self.session.options.journal.is_writable()?)
    }

    /// Records the end of a request and returns it. `retried` has the host's counts of the attempts, and the tokens that servers
    /// counted for the failed ones. What is recorded is the sum over all attempts, so that a replay counts the same.
    fn record_end(
        &self,
        request: &TableRequest,
        mut end: Result<Replies, ProviderFailure>,
        (attempts, retried): (u32, Usage),
        elapsed: Duration,
    ) -> Result<Replies, Failure> {
        let mut usage = retried;
        match &mut end {
            Ok(replies) => {
                replies.usage =
                    Usage { requests: retried.requests, ..with_retried(&retried, &replies.usage) };
                usage = replies.usage;
            }
            Err(failure) => {
                self.count_failed_requests(attempts);
                add_final(&mut usage, failure);
            }
        }
        let record = CompletionRecord {
            key: request.key.clone(),
            path: request.path.clone(),
            role: self.site.role.clone(),
            llm: self.name.to_owned(),
            request: request.canonical.clone(),
            result: end.as_ref().ok().cloned().map(CompletionResult::Replies),
            failure: end.as_ref().err().cloned(),
            usage,
            attempts,
            elapsed_ms: elapsed.as_millis() as u64,
        };
        let (options, settings) = (&self.session.options, &self.table.settings);
        self.observe(&options.journal.record_completion(&record)?);
        match &end {
            Ok(_) => self.state.pause.record_success(),
            Err(failure) => self.state.pause.record_failure(failure.class, settings, options.clock.as_ref()),
        }
        end.map_err(|failure| retry::to_failure(self.name, settings, attempts, &failure))
    }

    /// Exactly one request to the provider. `Err` is a request that ends without the server's answer.
    fn attempt(
        &self,
        provider: &dyn Provider,
        request: &TableRequest,
        attempt: u32,
        (progress, sent): (&CallProgress<'_>, &dyn Fn()),
    ) -> Result<Attempt, Unanswered> {
        let options = &self.session.options;
        let is_cancelled = || self.is_cancelled();
        let settings = &self.table.settings;
        progress.enter(CallPhase::Queued);
        let held = |pause| progress.enter(CallPhase::Held(pause));
        let gate = &self.state.gate;
        let permit =
            gate.enter(options.clock.as_ref(), &is_cancelled, &held).ok_or_else(cancelled_failure)?;
        let reservation =
            match self.state.caps.reserve(self.name, settings, &request.completion, &is_cancelled) {
                Ok(reservation) => reservation,
                Err(Refusal::Cancelled) => return Err(cancelled_failure().into()),
                Err(Refusal::Cap(failure)) => return Err(failure.into()),
                Err(Refusal::Deferred) => return Err(deferred_by_cap(self.name, &request.path)),
            };
        let observe = |limits: &RateLimits| gate.observe(limits, self.state.caps.mean_tokens());
        let host = ProviderHost {
            host: self.host,
            redactor: &options.redactor,
            cancelled: &is_cancelled,
            observe: &observe,
        };
        sent();
        progress.enter(CallPhase::Sent(attempt));
        let answer = provider.complete(&host, &request.completion);
        if let Ok(CompletionResult::ProviderFailure(failure)) = &answer {
            permit.slow_down(options.clock.as_ref(), failure, settings.max_backoff_ms);
        }
        drop(permit);
        match answer {
            Ok(CompletionResult::Replies(replies)) => {
                let replies = redact_replies(&options.redactor, replies);
                reservation.settle_answered(&replies.usage);
                Ok(Attempt::Done(replies))
            }
            Ok(CompletionResult::Pending { ticket, body }) => {
                let deferred = DeferredRequest { provider, host: &host, request, ticket, body };
                self.settle_deferred(deferred, reservation)
            }
            Ok(CompletionResult::ProviderFailure(failure)) => {
                reservation.settle_failed_with(&failure);
                Ok(self.retry_or_fail(request, attempt, options.redactor.provider_failure(failure)))
            }
            Err(failure) => {
                reservation.settle_failed(true);
                Err(options.redactor.failure(failure).into())
            }
        }
    }

    /// Returns the result that arrived for a deferred request, or defers it.
    fn settle_deferred(
        &self,
        deferred: DeferredRequest<'_>,
        reservation: Reservation<'_>,
    ) -> Result<Attempt, Unanswered> {
        let DeferredRequest { provider, host, request, ticket, body } = deferred;
        let options = &self.session.options;
        let arrived = match (&options.deferred, &body) {
            (Some(replies), Some(body)) => replies.find(&request.key, body)?,
            _ => None,
        };
        let body = body.unwrap_or_else(|| request.canonical.clone());
        let end = match arrived {
            None => None,
            Some(ArrivedResult::Failure(failure)) => Some(Err(options.redactor.provider_failure(failure))),
            Some(ArrivedResult::Body(answer)) => {
                let answer = Some(options.redactor.text(&answer).into_owned());
                let completion = CompletionRequest { answer, ..request.completion.clone() };
                match provider.complete(host, &completion).map_err(|f| options.redactor.failure(f))? {
                    CompletionResult::Replies(replies) => {
                        Some(Ok(redact_replies(&options.redactor, replies)))
                    }
                    CompletionResult::ProviderFailure(f) => Some(Err(options.redactor.provider_failure(f))),
                    CompletionResult::Pending { .. } => None,
                }
            }
        };
        match end {
            Some(Ok(replies)) => {
                reservation.settle_answered(&replies.usage);
                Ok(Attempt::Arrived(Ok(replies)))
            }
            Some(Err(failure)) if !failure.class.is_transient() => {
                match &failure.usage {
                    Some(_) => reservation.settle_failed_with(&failure),
                    None => reservation.settle_failed(false),
                }
                Ok(Attempt::Arrived(Err(failure)))
            }
            end => {
                let failed = end.and_then(Result::err);
                // A request that several candidates share is charged once.
                let is_first = !self.session.pending.contains(&request.key);
                let usage = failed.as_ref().filter(|_| is_first).and_then(|failure| failure.usage.as_deref());
                reservation.settle_deferred(usage);
                Err(self.defer(request, ticket, body, failed))
            }
        }
    }

    /// Records the result that arrived for a deferred request. It took no time here. An error stays in the
    /// folder of replies until a person removes it, so it is found again on every resume but recorded once.
    fn record_arrived(
        &self,
        request: &TableRequest,
        end: Result<Replies, ProviderFailure>,
    ) -> Result<Replies, Failure> {
        if let Err(failure) = &end {
            let recorded = self.session.options.journal.completion(&request.key)?;
            if recorded.is_some_and(|record| record.failure.as_ref() == Some(failure)) {
                return Err(retry::to_failure(self.name, &self.table.settings, 1, failure));
            }
        }
        self.record_end(request, end, (1, Usage::default()), Duration::ZERO)
    }

    /// Lists a request as pending; the candidate is parked.
    fn defer(
        &self,
        request: &TableRequest,
        ticket: String,
        body: Value,
        failed: Option<ProviderFailure>,
    ) -> Unanswered {
        self.session.pending.defer(PendingRequest {
            key: request.key.clone(),
            path: request.path.clone(),
            role: self.site.role.clone(),
            llm: self.name.to_owned(),
            model: request.completion.model.clone(),
            body,
            ticket,
            failed,
        })
    }

    fn retry_or_fail(&self, request: &TableRequest, attempt: u32, failure: ProviderFailure) -> Attempt {
        let settings = &self.table.settings;
        if !failure.class.is_transient() || attempt >= settings.max_attempts {
            return Attempt::Failed(failure);
        }
        let wait = retry::wait(settings, self.session.options.run_seed, &request.path, attempt, &failure);
        // A wait that outlasts the call's deadline would turn a clear failure into an abandoned thread.
        if self.host.remaining_ms().is_some_and(|left| u128::from(left) <= wait.as_millis()) {
            return Attempt::Failed(failure);
        }
        Attempt::Retry(failure, wait)
    }

    fn record_retry(
        &self,
        request: &TableRequest,
        attempt: u32,
        failure: ProviderFailure,
        wait: Duration,
    ) -> Result<(), Failure> {
        self.state.caps.count_retry();
        let wait_ms = wait.as_millis() as u64;
        self.append(&Event::Retry { path: request.path.clone(), attempt, failure, wait_ms })
    }

    /// Records that a request ended without a reply of the server, so that a replay ends the same way. An
    /// interruption is not recorded: it does not depend on the request.
    fn record_failure(
        &self,
        request: &TableRequest,
        failure: Failure,
        elapsed: Duration,
    ) -> Result<Failure, Failure> {
        if failure.class == FailureClass::Cancelled {
            return Ok(failure);
        }
        let result = serde_json::to_value(&failure)
            .map_err(|e| Failure::new(FailureClass::System, "record.corrupt", e.to_string()))?;
        let event = self.session.options.journal.record_effect(&EffectRecord {
            key: request.key.clone(),
            path: request.path.clone(),
            call: CALL.to_owned(),
            result,
            timed: true,
            elapsed_ms: elapsed.as_millis() as u64,
        })?;
        self.observe(&event);
        Ok(failure)
    }

    fn replay_miss(&self, request: &TableRequest) -> Result<Failure, Failure> {
        let options = &self.session.options;
        let mut sources: Vec<&dyn Lookup> =
            options.cassettes.iter().map(|c| c.as_ref() as &dyn Lookup).collect();
        sources.push(options.journal.as_ref());
        let nearest = nearest(&sources, &request.key, &request.canonical)?;
        let message = format!(
            "replay: the request of role `{}` at `{}` is not in the record; {nearest}",
            self.site.role, request.path
        );
        let failure = Failure::new(FailureClass::ReplayMiss, "llm.replay-miss", message)
            .help("replay with the pipeline file, seed and overrides of the recording, or ask live (`--record` adds to it)");
        Ok(options.redactor.failure(failure))
    }

    fn is_cancelled(&self) -> bool {
        (self.session.options.cancelled)() || self.host.cancelled()
    }

    /// Appends an event that is not an effect.
    pub(crate) fn append(&self, event: &Event) -> Result<(), Failure> {
        self.session.options.journal.append(event)?;
        self.observe(event);
        Ok(())
    }

    fn observe(&self, event: &Event) {
        if let Some(observer) = &self.session.options.observer {
            observer(event);
        }
    }
}

fn cancelled_failure() -> Failure {
    let message = "the run was interrupted before the model answered";
    Failure::new(FailureClass::Cancelled, "llm.cancelled", message)
}

/// Deferred without being listed as pending: it is sent once the pending requests are answered.
fn deferred_by_cap(name: &str, path: &str) -> Unanswered {
    Unanswered::Deferred(format!("`{path}` is deferred: pending requests may exhaust a cap of `{name}`"))
}

pub(crate) struct ProviderHost<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) redactor: &'a Redactor,
    pub(crate) cancelled: &'a (dyn Fn() -> bool + Sync + Send),
    pub(crate) observe: &'a (dyn Fn(&RateLimits) + Sync + Send),
}

impl Host for ProviderHost<'_> {
    fn log(&self, level: LogLevel, message: &str) {
        self.host.log(level, &self.redactor.text(message));
    }
    fn rate_limits(&self, limits: &RateLimits) {
        (self.observe)(limits);
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.host.progress(done, total, &self.redactor.text(what));
    }
    fn cancelled(&self) -> bool {
        (self.cancelled)()
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.host.remaining_ms()
    }
}

/// The recorded end of a request.
pub(crate) struct RecordedEnd {
    pub(crate) end: Result<Replies, Failure>,
    /// True if the end is final in a resumed run: a reply is, and so is a failure caused by the request
    /// itself.
    pub(crate) is_final: bool,
    /// True if it comes from this run's own journal.
    pub(crate) is_own: bool,
    record: Record,
}

enum Record {
    Completion(Box<CompletionRecord>),
    Effect(EffectRecord),
}

impl TableClient<'_> {
    /// Looks up the recorded end of a request. Counts and writes nothing.
    pub(crate) fn look_up(&self, request: &TableRequest) -> Result<Option<RecordedEnd>, Failure> {
        let options = &self.session.options;
        let own: &dyn Lookup = options.journal.as_ref();
        let cassettes = if options.mode == Mode::Live { &[][..] } else { &options.cassettes[..] };
        let sources = std::iter::once(own).chain(cassettes.iter().map(|c| c.as_ref() as &dyn Lookup));
        let mut not_final = None;
        for (position, source) in sources.enumerate() {
            let is_own = position == 0;
            if let Some(record) = source.completion(&request.key)?
                && let Some((end, is_final)) = self.end_of(&record)
            {
                let recorded =
                    RecordedEnd { end, is_final, is_own, record: Record::Completion(Box::new(record)) };
                if is_final {
                    return Ok(Some(recorded));
                }
                not_final.get_or_insert(recorded);
            }
            if let Some(record) = source.effect(&request.key)?.filter(|r| r.call == CALL) {
                let failure = serde_json::from_value(record.result.clone()).map_err(|e| {
                    Failure::new(FailureClass::System, "record.corrupt", format!("unreadable failure: {e}"))
                })?;
                // A replay ends at the same cap or broken plugin; a run that retries failures asks again.
                let is_final = options.mode == Mode::Replay || options.failures_are_final;
                let recorded =
                    RecordedEnd { end: Err(failure), is_final, is_own, record: Record::Effect(record) };
                if is_final {
                    return Ok(Some(recorded));
                }
                not_final.get_or_insert(recorded);
            }
        }
        Ok(not_final)
    }

    /// Counts a recorded end, and copies it into the run's own journal if it is not there.
    pub(crate) fn use_recorded(&self, recorded: RecordedEnd) -> Result<Result<Replies, Failure>, Failure> {
        let journal = &self.session.options.journal;
        match recorded.record {
            Record::Completion(record) => {
                if record.failure.is_some() {
                    self.count_failed_requests(record.attempts);
                }
                if !recorded.is_own {
                    // A cassette may have another pipeline's table names in it, or none.
                    let record = CompletionRecord { llm: self.name.to_owned(), ..(*record).clone() };
                    self.observe(&journal.record_completion(&record)?);
                }
                // Requests of earlier sessions were charged when this session was created.
                if recorded.is_own && self.session.charged.contains(&record.key) {
                    self.state.caps.count_recorded(&record.usage);
                } else {
                    self.state.caps.add_recorded(&self.table.settings, record.attempts, &record.usage);
                }
            }
            Record::Effect(record) if !recorded.is_own => self.observe(&journal.record_effect(&record)?),
            Record::Effect(_) => {}
        }
        Ok(recorded.end)
    }

    /// Returns the end of a recorded request, and whether it is final in a resumed run.
    fn end_of(&self, record: &CompletionRecord) -> Option<(Result<Replies, Failure>, bool)> {
        if let Some(CompletionResult::Replies(replies)) = &record.result {
            return Some((Ok(replies.clone()), true));
        }
        let failure = record.failure.as_ref()?;
        let options = &self.session.options;
        let is_final = options.mode == Mode::Replay
            || options.failures_are_final
            || retry::is_final_on_resume(failure.class);
        Some((Err(retry::to_failure(self.name, &self.table.settings, record.attempts, failure)), is_final))
    }
}
