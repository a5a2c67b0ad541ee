//! One request to a role that several model tables can take: which table is asked for which samples, and the
//! fallback after a failure.
//!
//! Samples with the same order of tables form one request. A request that fails at one table goes to the next
//! with exactly its samples. Before anything is sent, the record is searched for a reply of any of the
//! tables. So nothing is paid for twice, and a replay follows the recorded failures.

use crate::answer::{FailedTable, RoleAnswer, TableReplies, Unanswered};
use crate::caps::estimated_tokens;
use crate::gate::PAUSED;
use crate::models::RoleModels;
use crate::session::Mode;
use crate::table_client::{RecordedEnd, TableClient, TableRequest};
use planforge_contract::{Failure, FailureClass, Replies, Usage};
use planforge_record::Event;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

pub(crate) struct RoleRequest<'a> {
    /// The tables of the role, in the order of [`RoleModels::names`].
    tables: Vec<TableClient<'a>>,
    /// Replies so far.
    parts: Mutex<Vec<PartialReplies>>,
    /// Tables that failed so far, with the first sample of the request and the position in the order.
    failed: Mutex<Vec<(u32, usize, FailedTable)>>,
}

/// The replies to one request.
struct PartialReplies {
    samples: Vec<u32>,
    table: usize,
    replies: Replies,
}

/// Samples that are requested together, and the tables to ask for them.
#[derive(Debug, Clone)]
struct SampleGroup {
    /// Positions of tables.
    order: Vec<usize>,
    /// Index in `order` of the table to ask now.
    at: usize,
    samples: Vec<u32>,
    /// Name and failure code of the tables before it.
    failed_before: Vec<(String, String)>,
}

impl SampleGroup {
    /// The same samples at the next table, if there is one.
    fn next(&self) -> Option<Self> {
        (self.at + 1 < self.order.len()).then(|| Self { at: self.at + 1, ..self.clone() })
    }
    fn first(&self) -> u32 {
        self.samples.first().copied().unwrap_or(0)
    }
    /// Groups of at most `size` samples each.
    fn split(&self, size: u32) -> Vec<Self> {
        let part = |samples: &[u32]| Self { samples: samples.to_vec(), ..self.clone() };
        self.samples.chunks(size.max(1) as usize).map(part).collect()
    }
}

/// Groups that are asked for concurrently. At most one thread waits for its turn at the server, so that few threads wait.
struct GroupQueue<'g> {
    groups: &'g [SampleGroup],
    /// Most threads.
    most: usize,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    /// Number of groups that were taken.
    taken: usize,
    threads: usize,
    /// True while a thread has a group whose request is not sent.
    is_waiting: bool,
    unanswered: Vec<(u32, Unanswered)>,
}

impl GroupQueue<'_> {
    /// The next group. Without one, or if a thread waits, the caller's thread ends.
    fn take(&self) -> Option<&SampleGroup> {
        let mut state = lock(&self.state);
        let group = if state.is_waiting { None } else { self.groups.get(state.taken) };
        match group {
            Some(_) => (state.taken, state.is_waiting) = (state.taken + 1, true),
            None => state.threads -= 1,
        }
        group
    }

    /// The request of the waiting thread was sent. Returns true if the caller must start a thread for the next group.
    fn starts_thread(&self) -> bool {
        let mut state = lock(&self.state);
        state.is_waiting = false;
        let starts = state.taken < self.groups.len() && state.threads < self.most;
        state.threads += usize::from(starts);
        starts
    }

    fn finish(&self, group: &SampleGroup, was_sent: bool, result: Result<(), Unanswered>) {
        let mut state = lock(&self.state);
        state.is_waiting &= was_sent;
        state.unanswered.extend(result.err().map(|reason| (group.first(), reason)));
    }
}

impl<'a> RoleRequest<'a> {
    pub(crate) fn new(tables: Vec<TableClient<'a>>) -> Self {
        Self { tables, parts: Mutex::default(), failed: Mutex::default() }
    }

    /// Asks for the samples `0..samples`.
    pub(crate) fn ask(self, models: &RoleModels, run_seed: u64, samples: u32) -> RoleAnswer {
        let result = self.ask_all(&self.group_samples(models, run_seed, samples));
        let mut parts = self.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_by_key(|part| part.samples.first().copied());
        let mut failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort_by_key(|(first, at, _)| (*first, *at));
        let tables: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        let answered = replies_by_table(&parts, &tables);
        let requests = |table: &TableClient<'_>| table.failed_requests.load(Ordering::Relaxed);
        let failed_requests = self.tables.iter().map(|table| (table.name.to_owned(), requests(table)));
        RoleAnswer {
            replies: result.map(|()| merge_replies(parts)),
            answered,
            failed: merge_failures(failed),
            failed_requests: failed_requests.filter(|(_, requests)| *requests > 0).collect(),
        }
    }

    /// Assigns samples to tables before anything is sent.
    fn group_samples(&self, models: &RoleModels, run_seed: u64, samples: u32) -> Vec<SampleGroup> {
        let mut groups: Vec<SampleGroup> = Vec::new();
        for sample in 0..samples {
            let path = self.tables.first().map(|table| table.sample_path(sample)).unwrap_or_default();
            let order = models.order(run_seed, &path);
            match groups.iter_mut().find(|group| group.order == order) {
                Some(group) => group.samples.push(sample),
                None => {
                    let group =
                        SampleGroup { order, at: 0, samples: vec![sample], failed_before: Vec::new() };
                    groups.push(group);
                }
            }
        }
        groups.iter().flat_map(|group| self.split_by_limit(group)).collect()
    }

    fn table(&self, group: &SampleGroup) -> Option<&TableClient<'a>> {
        group.order.get(group.at).and_then(|at| self.tables.get(*at))
    }

    /// Splits a group by the table's `n_per_request`.
    fn split_by_limit(&self, group: &SampleGroup) -> Vec<SampleGroup> {
        let most = self.table(group).and_then(|table| table.table.settings.n_per_request);
        group.split(most.unwrap_or(u32::MAX))
    }

    /// Sends requests concurrently, up to the tables' limits. The set of requests depends only on the number
    /// of replies and on the failures of earlier ones.
    fn ask_all(&self, groups: &[SampleGroup]) -> Result<(), Unanswered> {
        if let [group] = groups {
            return self.ask_one(group, &|| {});
        }
        let limits = self.tables.iter().map(|table| table.table.settings.max_concurrency);
        let most: u32 = limits.fold(0, u32::saturating_add);
        let state = QueueState { threads: 1, ..QueueState::default() };
        let queue = GroupQueue { groups, most: most as usize, state: Mutex::new(state) };
        std::thread::scope(|scope| self.ask_queued(scope, &queue));
        let state = queue.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match state.unanswered.into_iter().min_by_key(|(first, _)| *first) {
            Some((_, reason)) => Err(reason),
            None => Ok(()),
        }
    }

    /// Asks for groups of the queue. Once a request is sent, another thread takes the next group.
    fn ask_queued<'s>(&'s self, scope: &'s Scope<'s, '_>, queue: &'s GroupQueue<'_>) {
        while let Some(group) = queue.take() {
            let is_sent = Cell::new(false);
            let sent = || {
                if !is_sent.replace(true) && queue.starts_thread() {
                    scope.spawn(move || self.ask_queued(scope, queue));
                }
            };
            let result = self.ask_one(group, &sent);
            queue.finish(group, is_sent.get(), result);
        }
    }

    /// One request, further ones for the missing replies, and the next table if this one fails. `sent` is called once the request
    /// is sent or needs not be.
    fn ask_one(&self, group: &SampleGroup, sent: &dyn Fn()) -> Result<(), Unanswered> {
        let Some(table) = self.table(group) else { return Ok(()) };
        let request = table.request_for(group.first(), group.samples.len() as u32);
        let recorded = table.look_up(&request)?;
        let next = group.next();
        let is_recorded = recorded.as_ref().is_some_and(|recorded| has_reply(&recorded.end));
        if !is_recorded
            && let Some(next) = &next
            && self.has_recorded_reply(next)?
        {
            sent();
            return self.follow_record(group, table, &request, recorded, next.clone());
        }
        // A fallback of an earlier session is not logged again.
        let own_failure = recorded.as_ref().filter(|r| r.is_own).and_then(|r| r.end.as_ref().err());
        let own_code = own_failure.map(|failure| failure.code.clone());
        let result = match recorded {
            Some(recorded) if recorded.is_final => table.use_recorded(recorded)?.map_err(Unanswered::from),
            // The recording asked the tables in another order: only the last one reports a miss.
            None if table.session.options.mode == Mode::Replay
                && let Some(next) = &next =>
            {
                sent();
                return self.ask_all(&self.split_by_limit(next));
            }
            _ => {
                let result = table.ask(&request, next.is_some(), sent);
                sent();
                result
            }
        };
        let failure = match result.and_then(|replies| Ok(require_reply(table.name, replies)?)) {
            Ok(replies) => return self.store_replies(group, replies),
            Err(Unanswered::Failed(failure)) => failure,
            Err(deferred) => return Err(deferred),
        };
        match next.filter(|_| allows_fallback(&failure)) {
            None => {
                self.note_failure(group, table, None, &failure);
                Err(with_earlier_failures(failure, &group.failed_before).into())
            }
            Some(mut next) => {
                let is_new = own_code.as_ref() != Some(&failure.code);
                self.record_fallback(group, table, &request.path, &failure, is_new)?;
                next.failed_before.push((table.name.to_owned(), failure.code));
                self.ask_all(&self.split_by_limit(&next))
            }
        }
    }

    /// A later table has a recorded reply: a recorded failure of this one belongs to the same record.
    fn follow_record(
        &self,
        group: &SampleGroup,
        table: &TableClient<'_>,
        request: &TableRequest,
        recorded: Option<RecordedEnd>,
        mut next: SampleGroup,
    ) -> Result<(), Unanswered> {
        if let Some(recorded) = recorded {
            let is_own = recorded.is_own;
            let end = table.use_recorded(recorded)?;
            if let Err(failure) = end.and_then(|replies| require_reply(table.name, replies)) {
                self.record_fallback(group, table, &request.path, &failure, !is_own)?;
                next.failed_before.push((table.name.to_owned(), failure.code));
            }
        }
        self.ask_all(&self.split_by_limit(&next))
    }

    /// True if the record has a reply of the group's table, or of a later one, to any of its samples.
    fn has_recorded_reply(&self, group: &SampleGroup) -> Result<bool, Failure> {
        for part in self.split_by_limit(group) {
            let Some(table) = self.table(&part) else { continue };
            let request = table.request_for(part.first(), part.samples.len() as u32);
            if table.look_up(&request)?.is_some_and(|recorded| has_reply(&recorded.end)) {
                return Ok(true);
            }
            if let Some(next) = part.next()
                && self.has_recorded_reply(&next)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stores replies and asks for the missing ones.
    fn store_replies(&self, group: &SampleGroup, mut replies: Replies) -> Result<(), Unanswered> {
        replies.replies.truncate(group.samples.len());
        let (answered, missing) = group.samples.split_at(replies.replies.len());
        let table = group.order.get(group.at).copied().unwrap_or(0);
        let count = answered.len() as u32;
        lock(&self.parts).push(PartialReplies { samples: answered.to_vec(), table, replies });
        if missing.is_empty() {
            return Ok(());
        }
        self.ask_all(&SampleGroup { samples: missing.to_vec(), ..group.clone() }.split(count))
    }

    /// Notes that the next table is asked, and logs it if `is_new`.
    fn record_fallback(
        &self,
        group: &SampleGroup,
        table: &TableClient<'_>,
        path: &str,
        failure: &Failure,
        is_new: bool,
    ) -> Result<(), Failure> {
        let next = group.next().and_then(|next| self.table(&next)).map(|next| next.name);
        self.note_failure(group, table, next, failure);
        if !is_new {
            return Ok(());
        }
        let (role, next) = (&table.site.role, next.unwrap_or_default());
        let message = format!("role `{role}` at {path}: `{}` is followed by `{next}`: {failure}", table.name);
        table.append(&Event::Log { plugin: "planforge".to_owned(), level: "warn".to_owned(), message })
    }

    fn note_failure(
        &self,
        group: &SampleGroup,
        table: &TableClient<'_>,
        next: Option<&str>,
        failure: &Failure,
    ) {
        let failed = FailedTable {
            llm: table.name.to_owned(),
            next: next.map(str::to_owned),
            code: failure.code.clone(),
            was_asked: matches!(failure.class, FailureClass::Provider | FailureClass::ContextOverflow)
                && failure.code != PAUSED,
            samples: group.samples.len() as u32,
        };
        lock(&self.failed).push((group.first(), group.at, failed));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn has_reply(end: &Result<Replies, Failure>) -> bool {
    end.as_ref().is_ok_and(|replies| !replies.replies.is_empty())
}

/// An answer without a reply is a failure of the server.
fn require_reply(name: &str, replies: Replies) -> Result<Replies, Failure> {
    if !replies.replies.is_empty() {
        return Ok(replies);
    }
    let message = format!("`{name}`: the server answered without any reply");
    Err(Failure::new(FailureClass::Provider, "llm.no-reply", message))
}

/// True if another table may succeed: the server, the request to it or its plugin failed, or its cap is
/// reached. An interruption and an unreadable record end the request.
const fn allows_fallback(failure: &Failure) -> bool {
    use FailureClass as C;
    match failure.class {
        C::Provider | C::ContextOverflow | C::Budget | C::Plugin => true,
        C::Request | C::Reply | C::Limit | C::Deferred | C::Cancelled | C::ReplayMiss | C::System => false,
    }
}

/// Adds the tables that were asked before to the last table's failure.
fn with_earlier_failures(mut failure: Failure, before: &[(String, String)]) -> Failure {
    if !before.is_empty() && allows_fallback(&failure) {
        let each: Vec<String> = before.iter().map(|(name, code)| format!("`{name}` [{code}]")).collect();
        failure.message = format!("{}; before it: {}", failure.message, each.join(", "));
    }
    failure
}

/// By table, in the order of their first samples.
fn replies_by_table(parts: &[PartialReplies], tables: &[&str]) -> Vec<TableReplies> {
    let mut by_table: Vec<TableReplies> = Vec::new();
    for part in parts {
        let name = tables.get(part.table).copied().unwrap_or_default();
        let estimated = estimated_tokens(part.replies.replies.iter().map(|reply| reply.content.as_str()), 0);
        match by_table.iter_mut().find(|replies| replies.llm == name) {
            Some(replies) => {
                replies.samples.extend(&part.samples);
                replies.estimated_tokens += estimated;
                replies.usage = add_usage(&replies.usage, &part.replies.usage);
            }
            None => by_table.push(TableReplies {
                llm: name.to_owned(),
                samples: part.samples.clone(),
                usage: part.replies.usage,
                estimated_tokens: estimated,
            }),
        }
    }
    by_table
}

/// Adds up the samples of failures with the same table, next table and code.
fn merge_failures(failed: Vec<(u32, usize, FailedTable)>) -> Vec<FailedTable> {
    let mut sums: Vec<FailedTable> = Vec::new();
    for (_, _, one) in failed {
        match sums.iter_mut().find(|sum| sum.llm == one.llm && sum.next == one.next && sum.code == one.code) {
            Some(sum) => sum.samples += one.samples,
            None => sums.push(one),
        }
    }
    sums
}

fn add_usage(a: &Usage, b: &Usage) -> Usage {
    let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
    // A server that reports no cached tokens has not used a cache.
    let part = |a: Option<u64>, b: Option<u64>| both(a, b).or(a).or(b);
    Usage {
        prompt_tokens: both(a.prompt_tokens, b.prompt_tokens),
        completion_tokens: both(a.completion_tokens, b.completion_tokens),
        cached_tokens: part(a.cached_tokens, b.cached_tokens),
        cache_write_tokens: part(a.cache_write_tokens, b.cache_write_tokens),
        reasoning_tokens: part(a.reasoning_tokens, b.reasoning_tokens),
        requests: Some(a.requests.unwrap_or(1) + b.requests.unwrap_or(1)),
        uncounted_requests: part(a.uncounted_requests, b.uncounted_requests),
    }
}

/// All replies in the order of their samples.
fn merge_replies(parts: Vec<PartialReplies>) -> Replies {
    let usage =
        parts.iter().map(|part| part.replies.usage).reduce(|a, b| add_usage(&a, &b)).unwrap_or_default();
    let model = parts.first().map(|part| part.replies.model.clone()).unwrap_or_default();
    let raw = parts.iter().map(|part| part.replies.raw.as_str()).collect::<Vec<_>>().join("\n");
    let mut replies: Vec<_> =
        parts.into_iter().flat_map(|part| part.samples.into_iter().zip(part.replies.replies)).collect();
    replies.sort_by_key(|(sample, _)| *sample);
    Replies { replies: replies.into_iter().map(|(_, reply)| reply).collect(), usage, model, raw }
}
