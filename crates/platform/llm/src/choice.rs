//! One request to a role that several model tables can take: which table is asked for which samples, and the
//! fallback after a failure.
//!
//! Samples with the same order of tables form one request. A request that fails at one table goes to the next
//! with exactly its samples. Before anything is sent, the record is searched for a reply of any of the
//! tables. So nothing is paid for twice, and a replay follows the recorded failures.

use crate::ask::{Ask, Found, Question, RESTING};
use crate::budget::estimated_tokens;
use crate::llm::{Answer, Left, Mode, TableAnswer};
use crate::models::RoleModels;
use planforge_contract::{Failure, FailureClass, Replies, Usage};
use planforge_record::Event;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Choice<'a> {
    /// The tables of the role, in the order of [`RoleModels::names`].
    tables: Vec<Ask<'a>>,
    /// Replies so far.
    parts: Mutex<Vec<Part>>,
    /// Tables that did not reply so far, with the first sample of the request and the place in the order.
    left: Mutex<Vec<(u32, usize, Left)>>,
}

/// The replies to one request.
struct Part {
    samples: Vec<u32>,
    table: usize,
    replies: Replies,
}

/// Samples, and the tables to ask for them.
#[derive(Debug, Clone)]
struct Turn {
    /// Positions of tables.
    order: Vec<usize>,
    /// Index in `order` of the table to ask now.
    at: usize,
    samples: Vec<u32>,
    /// Name and failure code of the tables before it.
    before: Vec<(String, String)>,
}

impl Turn {
    fn next(&self) -> Option<Self> {
        (self.at + 1 < self.order.len()).then(|| Self { at: self.at + 1, ..self.clone() })
    }
    fn first(&self) -> u32 {
        self.samples.first().copied().unwrap_or(0)
    }
    /// The same for at most `size` samples each.
    fn split(&self, size: u32) -> Vec<Self> {
        let part = |samples: &[u32]| Self { samples: samples.to_vec(), ..self.clone() };
        self.samples.chunks(size.max(1) as usize).map(part).collect()
    }
}

impl<'a> Choice<'a> {
    pub(crate) fn new(tables: Vec<Ask<'a>>) -> Self {
        Self { tables, parts: Mutex::default(), left: Mutex::default() }
    }

    /// Asks for the samples `0..wanted`.
    pub(crate) fn ask(self, models: &RoleModels, run_seed: u64, wanted: u32) -> Answer {
        let end = self.all(&self.turns(models, run_seed, wanted));
        let mut parts = self.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_by_key(|part| part.samples.first().copied());
        let mut left = self.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        left.sort_by_key(|(first, at, _)| (*first, *at));
        let tables: Vec<&str> = self.tables.iter().map(|table| table.name).collect();
        let answered = answered(&parts, &tables);
        Answer { end: end.map(|()| merged(parts)), answered, left: summed(left) }
    }

    /// Assigns samples to tables before anything is sent.
    fn turns(&self, models: &RoleModels, run_seed: u64, wanted: u32) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for sample in 0..wanted {
            let path = self.tables.first().map(|table| table.path(sample)).unwrap_or_default();
            let order = models.order(run_seed, &path);
            match turns.iter_mut().find(|turn| turn.order == order) {
                Some(turn) => turn.samples.push(sample),
                None => turns.push(Turn { order, at: 0, samples: vec![sample], before: Vec::new() }),
            }
        }
        turns.iter().flat_map(|turn| self.requests(turn)).collect()
    }

    fn table(&self, turn: &Turn) -> Option<&Ask<'a>> {
        turn.order.get(turn.at).and_then(|at| self.tables.get(*at))
    }

    /// Splits a turn by the table's `n_per_request`.
    fn requests(&self, turn: &Turn) -> Vec<Turn> {
        let most = self.table(turn).and_then(|table| table.role.config.n_per_request);
        turn.split(most.unwrap_or(u32::MAX))
    }

    /// Sends requests concurrently, up to the tables' limits. The set of requests depends only on the number
    /// of replies and on the failures of earlier ones.
    fn all(&self, turns: &[Turn]) -> Result<(), Failure> {
        if let [turn] = turns {
            return self.one(turn);
        }
        let most: u32 =
            self.tables.iter().map(|table| table.role.config.max_concurrency).fold(0, u32::saturating_add);
        let next = AtomicUsize::new(0);
        let failures: Mutex<Vec<(u32, Failure)>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..turns.len().min(most as usize) {
                scope.spawn(|| {
                    while let Some(turn) = turns.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(failure) = self.one(turn) {
                            lock(&failures).push((turn.first(), failure));
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failures.into_iter().min_by_key(|(first, _)| *first) {
            Some((_, failure)) => Err(failure),
            None => Ok(()),
        }
    }

    /// One request, further ones for what the server left out, and the next table where this one fails.
    fn one(&self, turn: &Turn) -> Result<(), Failure> {
        let Some(table) = self.table(turn) else { return Ok(()) };
        let question = table.question(turn.first(), turn.samples.len() as u32);
        let found = table.look_up(&question)?;
        let later = turn.next();
        let answered = found.as_ref().is_some_and(|found| is_answer(&found.end));
        if !answered
            && let Some(later) = &later
            && self.is_held(later)?
        {
            return self.follow_record(turn, table, &question, found, later.clone());
        }
        // What was told when it was recorded is not told again.
        let known = found.as_ref().filter(|found| found.own).and_then(|found| found.end.as_ref().err());
        let known = known.map(|failure| failure.code.clone());
        let end = match found {
            Some(found) if found.stands => table.take(found)?,
            // The record of a run whose tables were asked in another order: what is missing is missed at the last one.
            None if table.llm.options.mode == Mode::Replay && later.is_some() => {
                return self.all(&later.iter().flat_map(|later| self.requests(later)).collect::<Vec<_>>());
            }
            _ => table.ask(&question, later.is_some()),
        };
        match end.and_then(|replies| some(table.name, replies)) {
            Ok(replies) => self.keep(turn, replies),
            Err(failure) => match later.filter(|_| moves_on(&failure)) {
                None => {
                    self.note(turn, table, None, &failure);
                    Err(with_earlier(failure, &turn.before))
                }
                Some(mut later) => {
                    self.leave(turn, table, &question.path, &failure, known.as_ref() != Some(&failure.code))?;
                    later.before.push((table.name.to_owned(), failure.code));
                    self.all(&self.requests(&later))
                }
            },
        }
    }

    /// Somebody further down answered: what is known of why this table did not is part of the same record.
    fn follow_record(
        &self,
        turn: &Turn,
        table: &Ask<'_>,
        question: &Question,
        found: Option<Found>,
        mut later: Turn,
    ) -> Result<(), Failure> {
        if let Some(found) = found {
            let own = found.own;
            if let Err(failure) = table.take(found)?.and_then(|replies| some(table.name, replies)) {
                self.leave(turn, table, &question.path, &failure, !own)?;
                later.before.push((table.name.to_owned(), failure.code));
            }
        }
        self.all(&self.requests(&later))
    }

    /// True if the record has a reply of that table, or of a later one, to any of these samples.
    fn is_held(&self, turn: &Turn) -> Result<bool, Failure> {
        for request in self.requests(turn) {
            let Some(table) = self.table(&request) else { continue };
            let question = table.question(request.first(), request.samples.len() as u32);
            if table.look_up(&question)?.is_some_and(|found| is_answer(&found.end)) {
                return Ok(true);
            }
            if let Some(later) = request.next()
                && self.is_held(&later)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stores replies and asks for the missing ones.
    fn keep(&self, turn: &Turn, mut replies: Replies) -> Result<(), Failure> {
        replies.replies.truncate(turn.samples.len());
        let (came, rest) = turn.samples.split_at(replies.replies.len());
        let table = turn.order.get(turn.at).copied().unwrap_or(0);
        let got = came.len() as u32;
        lock(&self.parts).push(Part { samples: came.to_vec(), table, replies });
        if rest.is_empty() {
            return Ok(());
        }
        self.all(&Turn { samples: rest.to_vec(), ..turn.clone() }.split(got))
    }

    /// Records that the next table is asked, unless the record has it already.
    fn leave(
        &self,
        turn: &Turn,
        table: &Ask<'_>,
        path: &str,
        failure: &Failure,
        tell: bool,
    ) -> Result<(), Failure> {
        let next = turn.next().and_then(|next| self.table(&next)).map(|next| next.name);
        self.note(turn, table, next, failure);
        if !tell {
            return Ok(());
        }
        let (role, to) = (&table.site.role, next.unwrap_or_default());
        let message = format!("role `{role}` at {path}: `{}` is followed by `{to}`: {failure}", table.name);
        table.append(&Event::Log { plugin: "planforge".to_owned(), level: "warn".to_owned(), message })
    }

    fn note(&self, turn: &Turn, table: &Ask<'_>, to: Option<&str>, failure: &Failure) {
        let left = Left {
            llm: table.name.to_owned(),
            to: to.map(str::to_owned),
            code: failure.code.clone(),
            asked: matches!(failure.class, FailureClass::Provider | FailureClass::ContextOverflow)
                && failure.code != RESTING,
            samples: turn.samples.len() as u32,
        };
        lock(&self.left).push((turn.first(), turn.at, left));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_answer(end: &Result<Replies, Failure>) -> bool {
    end.as_ref().is_ok_and(|replies| !replies.replies.is_empty())
}

/// An answer without any reply is a failure of the server.
fn some(name: &str, replies: Replies) -> Result<Replies, Failure> {
    if !replies.replies.is_empty() {
        return Ok(replies);
    }
    let message = format!("`{name}`: the server answered without any reply");
    Err(Failure::new(FailureClass::Provider, "llm.no-reply", message))
}

/// True if another table may do better: the server, the request to it or its plugin failed, or its cap is
/// reached. An interruption, a deferred reply and an unreadable record end the request.
const fn moves_on(failure: &Failure) -> bool {
    use FailureClass as C;
    match failure.class {
        C::Provider | C::ContextOverflow | C::Budget | C::Plugin => true,
        C::Request | C::Reply | C::Limit | C::Cancelled | C::ReplayMiss | C::System => false,
    }
}

/// Adds the tables that were asked before to the last table's failure.
fn with_earlier(mut failure: Failure, before: &[(String, String)]) -> Failure {
    if !before.is_empty() && moves_on(&failure) {
        let each: Vec<String> = before.iter().map(|(name, code)| format!("`{name}` [{code}]")).collect();
        failure.message = format!("{}; before it: {}", failure.message, each.join(", "));
    }
    failure
}

/// By table, in the order of their first samples.
fn answered(parts: &[Part], tables: &[&str]) -> Vec<TableAnswer> {
    let mut answered: Vec<TableAnswer> = Vec::new();
    for part in parts {
        let name = tables.get(part.table).copied().unwrap_or_default();
        let estimated = estimated_tokens(part.replies.replies.iter().map(|reply| reply.content.as_str()), 0);
        match answered.iter_mut().find(|answer| answer.llm == name) {
            Some(answer) => {
                answer.samples.extend(&part.samples);
                answer.estimated_tokens += estimated;
                answer.usage = sum(&answer.usage, &part.replies.usage);
            }
            None => answered.push(TableAnswer {
                llm: name.to_owned(),
                samples: part.samples.clone(),
                usage: part.replies.usage,
                estimated_tokens: estimated,
            }),
        }
    }
    answered
}

/// The same table that left to the same other for the same reason, once.
fn summed(left: Vec<(u32, usize, Left)>) -> Vec<Left> {
    let mut sums: Vec<Left> = Vec::new();
    for (_, _, one) in left {
        match sums.iter_mut().find(|sum| sum.llm == one.llm && sum.to == one.to && sum.code == one.code) {
            Some(sum) => sum.samples += one.samples,
            None => sums.push(one),
        }
    }
    sums
}

fn sum(a: &Usage, b: &Usage) -> Usage {
    let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
    Usage {
        prompt_tokens: both(a.prompt_tokens, b.prompt_tokens),
        completion_tokens: both(a.completion_tokens, b.completion_tokens),
    }
}

/// All replies in the order of their samples.
fn merged(parts: Vec<Part>) -> Replies {
    let usage = parts.iter().map(|part| part.replies.usage).reduce(|a, b| sum(&a, &b)).unwrap_or_default();
    let model = parts.first().map(|part| part.replies.model.clone()).unwrap_or_default();
    let raw = parts.iter().map(|part| part.replies.raw.as_str()).collect::<Vec<_>>().join("\n");
    let mut replies: Vec<_> =
        parts.into_iter().flat_map(|part| part.samples.into_iter().zip(part.replies.replies)).collect();
    replies.sort_by_key(|(sample, _)| *sample);
    Replies { replies: replies.into_iter().map(|(_, reply)| reply).collect(), usage, model, raw }
}
