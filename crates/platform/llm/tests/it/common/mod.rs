//! A provider without a network, and an [`Llm`] whose waits are over at once.
#![allow(unreachable_pub, reason = "a module of one test program")]

use planforge_contract::api::{Host, Provider};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FinishReason, Message, ProviderFailure,
    ProviderFailureClass, Replies, Reply, Usage,
};
use planforge_llm::{
    CallSite, Clock, Llm, LlmOptions, Mode, ModelSettings, ModelTable, RoleAnswer, RoleModels, Unanswered,
};
use planforge_record::{Journal, Lookup, MemoryJournal};
use planforge_testkit::{ScriptedClock, SilentHost};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Script = dyn Fn(usize, &CompletionRequest) -> Result<CompletionResult, Failure> + Send + Sync;

/// Answers as a function of the request's number and content.
pub struct ScriptedProvider {
    script: Box<Script>,
    pub seen: Mutex<Vec<CompletionRequest>>,
    in_flight: AtomicUsize,
    pub most_in_flight: AtomicUsize,
}

impl ScriptedProvider {
    pub fn new(
        script: impl Fn(usize, &CompletionRequest) -> Result<CompletionResult, Failure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            script: Box::new(script),
            seen: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        })
    }
    /// As many replies as asked, each naming request, seed and path.
    pub fn obliging() -> Arc<Self> {
        Self::new(|_, request| Ok(replies(request, request.sampling.n.unwrap_or(1))))
    }
    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

impl Provider for ScriptedProvider {
    fn complete(&self, _: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let number = {
            let mut seen = self.seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(now, Ordering::SeqCst);
        let result = (self.script)(number, request);
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

pub fn replies(request: &CompletionRequest, n: u32) -> CompletionResult {
    let question = &request.messages.last().unwrap().content;
    let seed = request.sampling.seed.unwrap();
    CompletionResult::Replies(Replies {
        replies: (0..n).map(|i| Reply::new(format!("{question}|{seed}|{i}"), FinishReason::Stop)).collect(),
        usage: Usage {
            prompt_tokens: Some(10),
            completion_tokens: Some(5 * u64::from(n)),
            ..Usage::default()
        },
        model: "scripted".into(),
        raw: format!("raw {n}"),
    })
}

pub fn failure(class: ProviderFailureClass, retry_after_ms: Option<u64>) -> CompletionResult {
    CompletionResult::ProviderFailure(ProviderFailure {
        class,
        status: None,
        retry_after_ms,
        usage: None,
        message: "scripted trouble".into(),
    })
}

/// The scripted clock as this crate's trait.
#[derive(Default)]
pub struct Instantly(pub ScriptedClock);

impl Clock for Instantly {
    fn now(&self) -> Duration {
        self.0.now()
    }
    fn sleep(&self, duration: Duration, cancelled: &dyn Fn() -> bool) -> bool {
        self.0.sleep(duration);
        !cancelled()
    }
}

pub struct Bench {
    pub journal: Arc<MemoryJournal>,
    pub clock: Arc<Instantly>,
    pub options: LlmOptions,
}

impl Bench {
    pub fn new(provider: Option<Arc<ScriptedProvider>>) -> Self {
        Self::with(provider, |_| {})
    }
    pub fn with(provider: Option<Arc<ScriptedProvider>>, change: impl FnOnce(&mut ModelSettings)) -> Self {
        let journal = Arc::new(MemoryJournal::default());
        let clock = Arc::new(Instantly::default());
        let mut settings = ModelSettings::new("scripted", "m");
        change(&mut settings);
        let mut options = LlmOptions::new(Arc::clone(&journal) as Arc<dyn Journal>);
        options
            .tables
            .insert("main".into(), ModelTable::new(settings, provider.map(|p| p as Arc<dyn Provider>)));
        options.run_seed = 42;
        options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
        Self { journal, clock, options }
    }
    /// A further table, whose model has the table's name.
    pub fn table(
        mut self,
        name: &str,
        provider: Option<Arc<ScriptedProvider>>,
        change: impl FnOnce(&mut ModelSettings),
    ) -> Self {
        let mut settings = ModelSettings::new("scripted", name);
        change(&mut settings);
        let table = ModelTable::new(settings, provider.map(|p| p as Arc<dyn Provider>));
        self.options.tables.insert(name.into(), table);
        self
    }
    /// The same tables without a provider, over the record.
    pub fn replay(&self) -> Self {
        let journal = Arc::new(MemoryJournal::default());
        let mut options = self.options.clone();
        options.journal = Arc::clone(&journal) as Arc<dyn Journal>;
        options.mode = Mode::Replay;
        options.cassettes = vec![Arc::clone(&self.journal) as Arc<dyn Lookup>];
        options.tables.values_mut().for_each(|table| table.provider = None);
        Self { journal, clock: Arc::clone(&self.clock), options }
    }
    pub fn llm(&self) -> Llm {
        Llm::new(self.options.clone()).unwrap()
    }
}

pub fn question(text: &str, n: u32) -> CompletionRequest {
    let mut request =
        CompletionRequest { messages: vec![Message::user(text)], ..CompletionRequest::default() };
    request.sampling.n = Some(n);
    request
}

pub fn site(path: &str) -> CallSite {
    CallSite { path: path.into(), call: 0, role: "writer".into() }
}

pub fn ask(llm: &Llm, text: &str, n: u32) -> Result<Vec<String>, Unanswered> {
    let replies = llm.complete("main", question(text, n), &site("t/s/0"), &SilentHost::default())?;
    Ok(replies.replies.into_iter().map(|r| r.content).collect())
}

/// Reads the reason why a request has no replies.
pub trait UnansweredResult {
    /// The failure; panics for replies and for a deferral.
    fn failure(self) -> Failure;
    fn is_deferred(&self) -> bool;
}

impl<T: std::fmt::Debug> UnansweredResult for Result<T, Unanswered> {
    fn failure(self) -> Failure {
        match self.unwrap_err() {
            Unanswered::Failed(failure) => failure,
            Unanswered::Deferred(reason) => panic!("deferred: {reason}"),
        }
    }
    fn is_deferred(&self) -> bool {
        matches!(self, Err(Unanswered::Deferred(_)))
    }
}

/// Several tables in that order.
pub fn order(names: &[&str]) -> RoleModels {
    RoleModels::Order(names.iter().map(|name| (*name).to_owned()).collect())
}

/// Tables with weights.
pub fn weights(weights: &[(&str, f64)]) -> RoleModels {
    RoleModels::Weights(weights.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect())
}

/// Asks a role at the given sample path.
pub fn ask_at(llm: &Llm, models: &RoleModels, path: &str, text: &str, n: u32) -> RoleAnswer {
    llm.ask(models, question(text, n), &site(path), &SilentHost::default())
}

/// The texts of an answer.
pub fn texts(answer: &RoleAnswer) -> Vec<String> {
    answer.replies.as_ref().unwrap().replies.iter().map(|reply| reply.content.clone()).collect()
}
