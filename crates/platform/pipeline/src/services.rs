//! The services that a run uses: plugin instances, the rights to call, the journal, and the count of copied replies.
//!
//! Events that the journal holds already are not written twice, and effects are looked up first.

use planforge_contract::api::{Environment, Planner, Translator, Verifier};
use planforge_contract::{
    EnvironmentOpen, Failure, FailureClass, Message, PluginInfo, PluginKind, Reply, Speaker, TaskView,
};
use planforge_llm::{Llm, Mode};
use planforge_obfuscate::Renaming;
use planforge_record::{EffectRecord, Event, Journal, Lookup, effect_key};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A plugin instance of a stage.
#[derive(Clone)]
pub enum StageInstance {
    /// Of a translate stage.
    Translator(Arc<dyn Translator>),
    /// Of a verify stage.
    Verifier(Arc<dyn Verifier>),
    /// Of a plan stage.
    Planner(Arc<dyn Planner>),
}

/// The instances of a pipeline, one for each stage that uses a plugin.
#[derive(Clone, Default)]
pub struct Instances {
    /// By the stage's label.
    pub stages: BTreeMap<String, (PluginInfo, StageInstance)>,
    /// The environment, where the pipeline has one.
    pub environment: Option<(PluginInfo, Arc<dyn Environment>)>,
}

/// Progress of a run, for display.
#[derive(Debug)]
pub enum Progress<'a> {
    /// An event that the runner recorded, or found recorded by an earlier session.
    Event(&'a Event),
    /// A plugin reports the progress of a call.
    Call {
        /// The call's sample path.
        path: &'a str,
        done: u64,
        /// Steps in all; 0 where that is not known.
        total: u64,
        /// Name of the current step.
        what: &'a str,
    },
    /// A call of a plugin begins or ends.
    Work {
        /// The call's sample path.
        path: &'a str,
        plugin: &'a str,
        /// The kind of the plugin.
        kind: PluginKind,
        /// True at the start, false at the end of the call.
        begins: bool,
    },
}

/// Callback for progress. Called from many threads.
pub type RunObserver = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// The services that a run uses.
#[derive(Clone)]
pub struct Services {
    pub instances: Instances,
    /// The language models, over the same journal.
    pub llm: Arc<Llm>,
    /// The record of the run; an existing one is resumed.
    pub journal: Arc<dyn Journal>,
    /// Further records to search: the run that is replayed, cassettes. Unused in [`Mode::Live`].
    pub sources: Vec<Arc<dyn Lookup>>,
    /// The reaction to an outcome that the record does not hold.
    pub mode: Mode,
    /// Most plugin calls at a time; 0 means the pipeline's number, else 1.
    pub jobs: usize,
    /// Returns true once the run is interrupted.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    pub observer: Option<RunObserver>,
    /// Time of day as RFC 3339 in UTC, for the record alone.
    pub now: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A task to work on: all that a run needs of its suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunTask {
    /// Its name in events and sample paths: `SUITE.STEM`.
    pub name: String,
    /// The parts that translators may see.
    pub view: TaskView,
    /// The reference, for the environment alone.
    pub reference: EnvironmentOpen,
    /// The suite's `picture.toml`, for drawings in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// The names that replace the suite's own, if it is obfuscated. Results are reported under the suite's
    /// own names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renaming: Option<Renaming>,
    /// Parts of the reference that the pipeline would be given and the task does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_given: Vec<String>,
}

/// Locks, ignoring poisoning: the data is consistent at every moment, so a panic elsewhere does not spoil it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to make plugin calls, shared by all tasks of a run.
pub(crate) struct Pool {
    jobs: usize,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Pool {
    pub(crate) fn new(jobs: usize) -> Self {
        let jobs = jobs.max(1);
        Self { jobs, free: Mutex::new(jobs), freed: Condvar::new() }
    }

    /// Returns results in the order of `items`, whatever order they were computed in. Work of several tasks
    /// shares the limit. A thread is started only once it may call, so that few threads wait.
    pub(crate) fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
        let work_from = |mut index: usize, _permit: Permit<'_>| {
            while let Some(item) = items.get(index) {
                let result = work(item);
                lock(&results).push((index, result));
                index = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        let work_from = &work_from;
        std::thread::scope(|scope| {
            while next.load(Ordering::Relaxed) < items.len() {
                let permit = self.acquire();
                let index = next.fetch_add(1, Ordering::Relaxed);
                if self.jobs == 1 || index + 1 >= items.len() {
                    work_from(index, permit);
                } else {
                    scope.spawn(move || work_from(index, permit));
                }
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// As [`Pool::map`], for work that makes its calls through `map` itself and so must not hold a right to call.
    pub(crate) fn drive<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        Self::new(self.jobs).map(items, work)
    }

    fn acquire(&self) -> Permit<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }
}

struct Permit<'a>(&'a Pool);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}

/// Writes what happens and finds what happened before.
pub(crate) struct Recorder {
    journal: Arc<dyn Journal>,
    sources: Vec<Arc<dyn Lookup>>,
    mode: Mode,
    observer: Option<RunObserver>,
    /// True if there was an earlier session.
    resumed: bool,
    /// Count of each line of earlier sessions that has not occurred in this one.
    earlier: Mutex<HashMap<String, u32>>,
}

impl Recorder {
    pub(crate) fn new(
        journal: Arc<dyn Journal>,
        sources: Vec<Arc<dyn Lookup>>,
        mode: Mode,
        observer: Option<RunObserver>,
    ) -> Self {
        let mut earlier = HashMap::new();
        let mut resumed = false;
        for event in journal.events() {
            resumed |= matches!(event, Event::SessionStarted { .. });
            *earlier.entry(line(&event)).or_insert(0) += 1;
        }
        Self { journal, sources, mode, observer, resumed, earlier: Mutex::new(earlier) }
    }

    /// True if the journal held a session before this one.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Writes an event, unless an earlier session of the run wrote it.
    pub(crate) fn event(&self, event: Event) -> Result<(), Failure> {
        let known = {
            let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
            // Most runs have no earlier session, and need no line.
            let count = if earlier.is_empty() { None } else { earlier.get_mut(&line(&event)) };
            match count {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    true
                }
                _ => false,
            }
        };
        if !known {
            self.journal.append(&event)?;
        }
        self.progress(&Progress::Event(&event));
        Ok(())
    }

    /// Writes an event that belongs to this session alone.
    pub(crate) fn session(&self, event: &Event) -> Result<(), Failure> {
        self.journal.append(event)?;
        self.progress(&Progress::Event(event));
        Ok(())
    }

    pub(crate) fn progress(&self, progress: &Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer(progress);
        }
    }

    /// Stores a document and returns its name.
    pub(crate) fn blob<T: Serialize>(&self, document: &T) -> Result<String, Failure> {
        let value = serde_json::to_value(document).map_err(|e| corrupt(&e))?;
        Ok(self.journal.put_json(&value)?)
    }

    /// Returns the outcome of a call, from the record if it is there.
    ///
    /// Outcomes that depended on time or memory are taken from the record in every mode. Others are taken in
    /// a resumed run, so that no search is repeated, and recomputed in a replay. A recomputation that a
    /// slower machine's limit cut off does not replace the record.
    pub(crate) fn effect<T: Serialize + DeserializeOwned>(
        &self,
        call: &str,
        path: &str,
        request: &impl Serialize,
        keep: impl Fn(&T) -> Keep,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let request = serde_json::to_value(request).map_err(|e| corrupt(&e))?;
        let key = effect_key(call, &request, path);
        let own = self.journal.effect(&key)?;
        let had = own.is_some();
        let mut found = own;
        if found.is_none() && self.mode != Mode::Live {
            for source in &self.sources {
                found = found.or(source.effect(&key)?);
            }
        }
        if let Some(record) = &found
            && (record.timed || self.mode != Mode::Replay)
        {
            return self.take_record(record, had);
        }
        let start = Instant::now();
        let value = make()?;
        let keep = keep(&value);
        if keep == Keep::Timed
            && let Some(record) = &found
        {
            return self.take_record(record, had);
        }
        if keep != Keep::No && !had {
            let timed = keep == Keep::Timed;
            let result = serde_json::to_value(&value).map_err(|e| corrupt(&e))?;
            let elapsed_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
            let record =
                EffectRecord { key, path: path.to_owned(), call: call.to_owned(), result, timed, elapsed_ms };
            let event = self.journal.record_effect(&record)?;
            self.progress(&Progress::Event(&event));
        }
        Ok(value)
    }

    fn take_record<T: DeserializeOwned>(&self, record: &EffectRecord, had: bool) -> Result<T, Failure> {
        let value = serde_json::from_value(record.result.clone()).map_err(|e| corrupt(&e))?;
        if !had {
            let event = self.journal.record_effect(record)?;
            self.progress(&Progress::Event(&event));
        }
        Ok(value)
    }
}

/// The treatment of an outcome in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It is cheap to make again and always the same.
    No,
    /// It is deterministic; a resumed run need not compute it again.
    Yes,
    /// It depended on time or memory, or on a program outside.
    Timed,
}

fn line(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

fn corrupt(error: &serde_json::Error) -> Failure {
    Failure::new(
        FailureClass::System,
        "record.corrupt",
        format!("a document cannot be written to or read from the record: {error}"),
    )
}

/// Counts replies that are word for word another reply to the same question. A server that ignores seeds gives them for samples, and so
/// does any at temperature 0. They stay samples of their own, in the beam and in the record; how many there are is reported.
///
/// Hashes of one task's requests and replies, 8 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    models: Mutex<BTreeMap<String, ReplyCounts>>,
}

#[derive(Debug, Default)]
struct ReplyCounts {
    /// Question and reply together.
    distinct: BTreeSet<u64>,
    copies: u64,
}

/// A question, as its replies are compared by it.
#[derive(Debug)]
pub(crate) struct CopyKey(DefaultHasher);

impl CopyKey {
    pub(crate) fn new(messages: &[Message]) -> Self {
        let mut hasher = DefaultHasher::new();
        for message in messages {
            let speaker = match message.role {
                Speaker::System => 0_u8,
                Speaker::User => 1,
                Speaker::Assistant => 2,
            };
            (speaker, message.content.as_str()).hash(&mut hasher);
        }
        Self(hasher)
    }
}

impl Copies {
    /// Records the replies to a request, which may be repeated. The order of requests does not matter.
    pub(crate) fn note<'r>(
        &self,
        model: &str,
        question: &CopyKey,
        replies: impl IntoIterator<Item = &'r Reply>,
    ) {
        let mut models = lock(&self.models);
        let seen = models.entry(model.to_owned()).or_default();
        for reply in replies {
            let mut both = question.0.clone();
            reply.content.hash(&mut both);
            if !seen.distinct.insert(both.finish()) {
                seen.copies += 1;
            }
        }
    }

    /// Replies that are copies, by `[llm.NAME]` table; only where there are any.
    pub(crate) fn by_model(&self) -> BTreeMap<String, u64> {
        let models = lock(&self.models);
        models.iter().filter(|(_, s)| s.copies > 0).map(|(name, s)| (name.clone(), s.copies)).collect()
    }
}

/// The warning about copies for the run's log.
pub(crate) fn copies_warning(model: &str, copies: u64, replies: u64) -> String {
    let are = if copies == 1 { "is a copy" } else { "are copies" };
    format!(
        "pipeline.copies: {copies} of {replies} replies under [llm.{model}] {are} of another reply to the same question: the server \
ignores `seed`, or the temperature is 0"
    )
}

#[cfg(test)]
mod pool_tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn order_is_that_of_the_work_and_the_limit_holds() {
        let pool = Pool::new(3);
        let running = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let outer: Vec<usize> = (0..4).collect();
        let results = pool.drive(&outer, |task| {
            let inner: Vec<usize> = (0..8).collect();
            pool.map(&inner, |item| {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                // The first waits for a second.
                while most.load(Ordering::SeqCst) < 2 {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis((8 - *item) as u64));
                running.fetch_sub(1, Ordering::SeqCst);
                task * 100 + item
            })
        });
        let wanted: Vec<Vec<usize>> = (0..4).map(|t| (0..8).map(|i| t * 100 + i).collect()).collect();
        assert_eq!(results, wanted);
        assert!((2..=3).contains(&most.load(Ordering::SeqCst)));
    }
}

#[cfg(test)]
mod copies_tests {
    use super::*;
    use planforge_contract::FinishReason;

    #[test]
    fn a_copy_is_the_same_reply_to_the_same_question() {
        let copies = Copies::default();
        let reply = |content: &str| Reply::new(content, FinishReason::Stop);
        let ask = |model: &str, question: &str, replies: &[&str]| {
            let replies: Vec<Reply> = replies.iter().map(|r| reply(r)).collect();
            copies.note(model, &CopyKey::new(&[Message::user(question)]), &replies);
        };
        ask("main", "a", &["x", "y"]);
        ask("main", "b", &["x"]);
        ask("other", "a", &["x"]);
        assert_eq!(copies.by_model(), BTreeMap::new());
        ask("main", "a", &["x", "z", "z"]);
        assert_eq!(copies.by_model(), BTreeMap::from([("main".to_owned(), 2)]));
    }
}
