//! One request to one model table: lookup, sending, retries, recording. [`crate::choice`] decides which table
//! is asked for which samples.

use crate::budget::{Refusal, Reservation, may_have_used};
use crate::deferred::{Arrived, PENDING, PendingQuestion};
use crate::key::{canonical_request, completion_key, derive_seed};
use crate::llm::{CallSite, Llm, Mode, Role, RoleState};
use crate::provider_host::ProviderHost;
use crate::retry;
use crate::watch::{CallPhase, Watched};
use planforge_contract::api::{Host, Provider};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, ProviderFailure, Replies,
};
use planforge_record::{CompletionRecord, EffectRecord, Event, Lookup, nearest};
use serde_json::Value;
use std::time::Duration;

/// Name of the effect that records a request that ended without a reply.
const CALL: &str = "llm.complete";

/// Code of the failure of a question that was not put to a table because that table's server seems to be down.
pub(crate) const RESTING: &str = "llm.resting";

pub(crate) struct Ask<'a> {
    pub(crate) llm: &'a Llm,
    pub(crate) name: &'a str,
    pub(crate) role: &'a Role,
    pub(crate) state: &'a RoleState,
    pub(crate) site: &'a CallSite,
    pub(crate) host: &'a dyn Host,
    /// The request, with the table's defaults filled in.
    pub(crate) request: CompletionRequest,
    /// True if an earlier table of the list has the same model and sampling, so that their requests are
    /// equal.
    pub(crate) twin: bool,
}

/// One request with its key and sample path.
pub(crate) struct Question {
    pub(crate) path: String,
    key: String,
    canonical: Value,
    request: CompletionRequest,
}

/// A request that the provider deferred.
struct PutOff<'a> {
    provider: &'a dyn Provider,
    host: &'a dyn Host,
    question: &'a Question,
    /// The body to be answered, if the provider gives it.
    body: Option<Value>,
}

/// The recorded end of a request.
pub(crate) struct Found {
    pub(crate) end: Result<Replies, Failure>,
    /// True if the end is final in a resumed run: a reply is, and so is a failure caused by the request
    /// itself.
    pub(crate) stands: bool,
    /// True if it comes from this run's own journal.
    pub(crate) own: bool,
    record: Record,
}

enum Record {
    Completion(Box<CompletionRecord>),
    Effect(EffectRecord),
}

/// The consequence of a provider's reply.
enum Attempt {
    Done(Replies),
    /// A result that arrived for a deferred request.
    Brought(Result<Replies, ProviderFailure>),
    Again(ProviderFailure, Duration),
    Failed(ProviderFailure),
}

impl Ask<'_> {
    /// The request for `count` samples, the first of which is `first`.
    pub(crate) fn question(&self, first: u32, count: u32) -> Question {
        let path = self.path(first);
        let mut request = self.request.clone();
        request.sampling.n = Some(count).filter(|n| *n > 1);
        request.sampling.seed = Some(match request.sampling.seed {
            // A fixed seed moves on with the sample, or a server that gives one reply a request would give the same again.
            Some(fixed) => fixed.wrapping_add(u64::from(first)),
            None => derive_seed(self.llm.options.run_seed, &path),
        });
        let mut canonical = canonical_request(&request);
        if self.twin
            && let Value::Object(fields) = &mut canonical
        {
            fields.insert("llm".to_owned(), self.name.into());
        }
        Question { key: completion_key(&canonical, &path), path, canonical, request }
    }

    /// The sample path of a sample.
    pub(crate) fn path(&self, sample: u32) -> String {
        format!("{}/{}/{sample}", self.site.path, self.site.call)
    }

    /// Looks up the recorded end of a request. Counts and writes nothing.
    pub(crate) fn look_up(&self, question: &Question) -> Result<Option<Found>, Failure> {
        let options = &self.llm.options;
        let own: &dyn Lookup = options.journal.as_ref();
        let cassettes = if options.mode == Mode::Live { &[][..] } else { &options.cassettes[..] };
        let sources = std::iter::once(own).chain(cassettes.iter().map(|c| c.as_ref() as &dyn Lookup));
        let mut passing = None;
        for (place, source) in sources.enumerate() {
            let own = place == 0;
            if let Some(record) = source.completion(&question.key)?
                && let Some((end, stands)) = self.end_of(&record)
            {
                let found = Found { end, stands, own, record: Record::Completion(Box::new(record)) };
                if stands {
                    return Ok(Some(found));
                }
                passing.get_or_insert(found);
            }
            if let Some(record) = source.effect(&question.key)?.filter(|r| r.call == CALL) {
                let failure = serde_json::from_value(record.result.clone()).map_err(|e| {
                    Failure::new(FailureClass::System, "record.corrupt", format!("unreadable failure: {e}"))
                })?;
                // A cap that was reached or a plugin that broke ends a replay the same way, but no run whose errors are tried again.
                let stands = options.mode == Mode::Replay || options.failures_stand;
                let found = Found { end: Err(failure), stands, own, record: Record::Effect(record) };
                if stands {
                    return Ok(Some(found));
                }
                passing.get_or_insert(found);
            }
        }
        Ok(passing)
    }

    /// Takes an end from the record: it is counted, and copied where the run's own journal does not have it.
    pub(crate) fn take(&self, found: Found) -> Result<Result<Replies, Failure>, Failure> {
        let journal = &self.llm.options.journal;
        match found.record {
            Record::Completion(record) => {
                if !found.own {
                    // A cassette may have another pipeline's names in it, or none.
                    let record = CompletionRecord { llm: self.name.to_owned(), ..(*record).clone() };
                    self.observe(&journal.record_completion(&record)?);
                }
                // What the run's own journal held when the session began was charged then.
                if found.own && self.llm.earlier.contains(&record.key) {
                    self.state.budget.recalled(&record.usage);
                } else {
                    self.state.budget.recorded(&self.role.config, record.attempts, &record.usage);
                }
            }
            Record::Effect(record) if !found.own => self.observe(&journal.record_effect(&record)?),
            Record::Effect(_) => {}
        }
        Ok(found.end)
    }

    /// Returns the end of a recorded request, and whether it is final in a resumed run.
    fn end_of(&self, record: &CompletionRecord) -> Option<(Result<Replies, Failure>, bool)> {
        if let Some(CompletionResult::Replies(replies)) = &record.result {
            return Some((Ok(replies.clone()), true));
        }
        let failure = record.failure.as_ref()?;
        let options = &self.llm.options;
        let stands =
            options.mode == Mode::Replay || options.failures_stand || retry::stands_on_resume(failure.class);
        Some((Err(retry::failure_of(self.name, &self.role.config, record.attempts, failure)), stands))
    }

    /// Sends the request, unless the run's mode forbids it. `others` is true if the role has another table
    /// that can be asked instead.
    pub(crate) fn ask(&self, question: &Question, others: bool) -> Result<Replies, Failure> {
        let options = &self.llm.options;
        match options.mode {
            Mode::Live | Mode::Record => {
                if others
                    && let Some(failures) = self.state.rest.rests(&self.role.config, options.clock.as_ref())
                {
                    return Err(self.broken(question, resting(self.name, failures), Duration::ZERO)?);
                }
                self.send(question)
            }
            Mode::Replay => Err(self.miss(question)?),
            Mode::Batch => Err(self.wait_for(question, question.canonical.clone(), None)),
        }
    }

    fn send(&self, question: &Question) -> Result<Replies, Failure> {
        // An answer that cannot be recorded would be paid for and lost.
        self.llm.options.journal.is_writable()?;
        let Some(provider) = &self.role.provider else {
            return Err(Failure::new(
                FailureClass::Request,
                "llm.no-provider",
                format!("`{}` has no provider to ask, and the answer is in no record", self.name),
            ));
        };
        let clock = self.llm.options.clock.as_ref();
        let start = clock.now();
        let watched = Watched::new(self.llm.options.watch.as_ref(), self.name, &question.path);
        let mut attempts = 0;
        let end = loop {
            attempts += 1;
            let attempt = match self.attempt(provider.as_ref(), question, attempts, &watched) {
                Ok(attempt) => attempt,
                Err(failure) => return Err(self.broken(question, failure, clock.now() - start)?),
            };
            match attempt {
                Attempt::Done(replies) => break Ok(replies),
                Attempt::Failed(failure) => break Err(failure),
                Attempt::Brought(end) => return self.brought(question, end),
                Attempt::Again(failure, wait) => {
                    self.note_retry(question, attempts, failure, wait)?;
                    watched.is(CallPhase::BackingOff(attempts, wait));
                    if !clock.sleep(wait, &|| self.cancelled()) {
                        return Err(cancelled());
                    }
                    self.llm.options.journal.is_writable()?;
                }
            }
        };
        self.finish(question, end, attempts, clock.now() - start)
    }

    /// Records how a question ended and hands it out.
    fn finish(
        &self,
        question: &Question,
        end: Result<Replies, ProviderFailure>,
        attempts: u32,
        elapsed: Duration,
    ) -> Result<Replies, Failure> {
        let record = CompletionRecord {
            key: question.key.clone(),
            path: question.path.clone(),
            role: self.site.role.clone(),
            llm: self.name.to_owned(),
            request: question.canonical.clone(),
            result: end.as_ref().ok().cloned().map(CompletionResult::Replies),
            failure: end.as_ref().err().cloned(),
            usage: end.as_ref().map(|replies| replies.usage).unwrap_or_default(),
            attempts,
            elapsed_ms: elapsed.as_millis() as u64,
        };
        self.observe(&self.llm.options.journal.record_completion(&record)?);
        match &end {
            Ok(_) => self.state.rest.is_up(),
            Err(failure) => {
                self.state.rest.failed(failure.class, &self.role.config, self.llm.options.clock.as_ref());
            }
        }
        end.map_err(|failure| retry::failure_of(self.name, &self.role.config, attempts, &failure))
    }

    /// Exactly one request to the provider. `Err` is a question that ends without the server's word.
    fn attempt(
        &self,
        provider: &dyn Provider,
        question: &Question,
        attempt: u32,
        watched: &Watched<'_>,
    ) -> Result<Attempt, Failure> {
        let options = &self.llm.options;
        let is_cancelled = || self.cancelled();
        let config = &self.role.config;
        watched.is(CallPhase::Queued);
        let held = |pause| watched.is(CallPhase::Held(pause));
        let gate = &self.state.gate;
        let permit = gate.enter(options.clock.as_ref(), &is_cancelled, &held).ok_or_else(cancelled)?;
        let reservation = match self.state.budget.reserve(self.name, config, &question.request, &is_cancelled)
        {
            Ok(reservation) => reservation,
            Err(Refusal::Cancelled) => return Err(cancelled()),
            Err(Refusal::Cap(failure)) => return Err(failure),
            Err(Refusal::Later) => return Err(after_others(self.name, &question.path)),
        };
        let host = ProviderHost { host: self.host, redactor: &options.redactor, cancelled: &is_cancelled };
        watched.is(CallPhase::Sent(attempt));
        let answer = provider.complete(&host, &question.request);
        drop(permit);
        match answer {
            Ok(CompletionResult::Replies(replies)) => {
                let replies = self.clean(replies);
                reservation.answered(&replies.usage);
                Ok(Attempt::Done(replies))
            }
            Ok(CompletionResult::Pending { body, .. }) => {
                let put_off = PutOff { provider, host: &host, question, body };
                self.later(put_off, reservation)
            }
            Ok(CompletionResult::ProviderFailure(failure)) => {
                reservation.failed(may_have_used(failure.class));
                Ok(self.judge(question, attempt, options.redactor.provider_failure(failure)))
            }
            Err(failure) => {
                reservation.failed(true);
                Err(options.redactor.failure(failure))
            }
        }
    }

    /// A question that the provider put off: with what has come for it, or it waits.
    fn later(&self, put_off: PutOff<'_>, reservation: Reservation<'_>) -> Result<Attempt, Failure> {
        let PutOff { provider, host, question, body } = put_off;
        let options = &self.llm.options;
        let arrived = match (&options.answers, &body) {
            (Some(answers), Some(body)) => answers.find(&question.key, body)?,
            _ => None,
        };
        let body = body.unwrap_or_else(|| question.canonical.clone());
        let end = match arrived {
            None => None,
            Some(Arrived::Failure(failure)) => Some(Err(options.redactor.provider_failure(failure))),
            Some(Arrived::Body(answer)) => {
                let answer = Some(options.redactor.text(&answer).into_owned());
                let request = CompletionRequest { answer, ..question.request.clone() };
                match provider.complete(host, &request).map_err(|f| options.redactor.failure(f))? {
                    CompletionResult::Replies(replies) => Some(Ok(self.clean(replies))),
                    CompletionResult::ProviderFailure(f) => Some(Err(options.redactor.provider_failure(f))),
                    CompletionResult::Pending { .. } => None,
                }
            }
        };
        match end {
            Some(Ok(replies)) => {
                reservation.answered(&replies.usage);
                Ok(Attempt::Brought(Ok(replies)))
            }
            Some(Err(failure)) if !failure.class.is_transient() => {
                reservation.failed(false);
                Ok(Attempt::Brought(Err(failure)))
            }
            end => {
                reservation.waits();
                Err(self.wait_for(question, body, end.and_then(Result::err)))
            }
        }
    }

    /// Records the result that arrived for a deferred request. It took no time here. An error stays in the
    /// folder of replies until a person removes it, so it is found again on every resume but recorded once.
    fn brought(
        &self,
        question: &Question,
        end: Result<Replies, ProviderFailure>,
    ) -> Result<Replies, Failure> {
        if let Err(failure) = &end {
            let known = self.llm.options.journal.completion(&question.key)?;
            if known.is_some_and(|record| record.failure.as_ref() == Some(failure)) {
                return Err(retry::failure_of(self.name, &self.role.config, 1, failure));
            }
        }
        self.finish(question, end, 1, Duration::ZERO)
    }

    /// Takes note that a question waits; the candidate is parked.
    fn wait_for(&self, question: &Question, body: Value, failed: Option<ProviderFailure>) -> Failure {
        self.llm.waiting.put(PendingQuestion {
            key: question.key.clone(),
            path: question.path.clone(),
            role: self.site.role.clone(),
            llm: self.name.to_owned(),
            model: question.request.model.clone(),
            body,
            failed,
        })
    }

    fn judge(&self, question: &Question, attempt: u32, failure: ProviderFailure) -> Attempt {
        let config = &self.role.config;
        if !failure.class.is_transient() || attempt >= config.max_attempts {
            return Attempt::Failed(failure);
        }
        let wait = retry::wait(config, self.llm.options.run_seed, &question.path, attempt, &failure);
        // A wait that outlasts the call's deadline would only turn a clear failure into an abandoned thread.
        if self.host.remaining_ms().is_some_and(|left| u128::from(left) <= wait.as_millis()) {
            return Attempt::Failed(failure);
        }
        Attempt::Again(failure, wait)
    }

    fn note_retry(
        &self,
        question: &Question,
        attempt: u32,
        failure: ProviderFailure,
        wait: Duration,
    ) -> Result<(), Failure> {
        if failure.retry_after_ms.is_some() {
            self.state.gate.hold(self.llm.options.clock.as_ref(), wait);
        }
        self.state.budget.retried();
        let wait_ms = wait.as_millis() as u64;
        let event = Event::Retry { path: question.path.clone(), attempt, failure, wait_ms };
        self.append(&event)
    }

    /// Records that a request ended without a reply of the server, so that a replay ends the same way. An
    /// interruption is not recorded: it does not depend on the request.
    fn broken(&self, question: &Question, failure: Failure, elapsed: Duration) -> Result<Failure, Failure> {
        if failure.class == FailureClass::Cancelled {
            return Ok(failure);
        }
        let result = serde_json::to_value(&failure)
            .map_err(|e| Failure::new(FailureClass::System, "record.corrupt", e.to_string()))?;
        let event = self.llm.options.journal.record_effect(&EffectRecord {
            key: question.key.clone(),
            path: question.path.clone(),
            call: CALL.to_owned(),
            result,
            timed: true,
            elapsed_ms: elapsed.as_millis() as u64,
        })?;
        self.observe(&event);
        Ok(failure)
    }

    fn miss(&self, question: &Question) -> Result<Failure, Failure> {
        let options = &self.llm.options;
        let mut sources: Vec<&dyn Lookup> =
            options.cassettes.iter().map(|c| c.as_ref() as &dyn Lookup).collect();
        sources.push(options.journal.as_ref());
        let near = nearest(&sources, &question.key, &question.canonical)?;
        let message = format!(
            "replay: the request of role `{}` at `{}` is not in the record; {near}",
            self.site.role, question.path
        );
        let failure = Failure::new(FailureClass::ReplayMiss, "llm.replay-miss", message)
            .help("replay with the pipeline file, seed and overrides of the recording, or ask live (`--record` adds to it)");
        Ok(options.redactor.failure(failure))
    }

    fn clean(&self, replies: Replies) -> Replies {
        crate::clean::replies(&self.llm.options.redactor, replies)
    }

    fn cancelled(&self) -> bool {
        (self.llm.options.cancelled)() || self.host.cancelled()
    }

    /// Appends an event that is not an effect.
    pub(crate) fn append(&self, event: &Event) -> Result<(), Failure> {
        self.llm.options.journal.append(event)?;
        self.observe(event);
        Ok(())
    }

    fn observe(&self, event: &Event) {
        if let Some(observer) = &self.llm.options.observer {
            observer(event);
        }
    }
}

fn cancelled() -> Failure {
    Failure::new(
        FailureClass::Cancelled,
        "llm.cancelled",
        "the run was interrupted before the model answered",
    )
}

/// Parked without a question: it is put once there are answers to those that wait.
fn after_others(name: &str, path: &str) -> Failure {
    let message = format!("`{path}` is asked later: what waits may use up what a cap of `{name}` leaves");
    Failure::new(FailureClass::Cancelled, PENDING, message)
}

fn resting(name: &str, failures: u32) -> Failure {
    let message = format!("`{name}` is left out for a while: its last {failures} questions in a row failed");
    Failure::new(FailureClass::Provider, RESTING, message)
        .help("`rest_after` and `rest_s` of its table say after how many failures, and for how long")
}
