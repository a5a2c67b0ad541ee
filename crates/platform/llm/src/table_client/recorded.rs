//! Recorded ends of requests, from the run's own journal and from cassettes.

use super::{CALL, TableClient, TableRequest};
use crate::retry;
use crate::session::Mode;
use planforge_contract::{CompletionResult, Failure, FailureClass, Replies};
use planforge_record::{CompletionRecord, EffectRecord, Lookup};

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
