//! [`Llm`]: roles, mode, journal and limits of one run.

use crate::budget::Budget;
use crate::clock::{Clock, SystemClock};
use crate::config::RoleConfig;
use crate::deferred::{Answers, PendingQuestion, Waiting};
use crate::limit::Gate;
use crate::usage::ModelUsage;
use crate::watch::CallWatch;
use planforge_contract::api::{Host, Provider};
use planforge_contract::{CompletionRequest, Event, Failure, FailureClass, Replies, SamplePath, Tags, Usage};
use planforge_record::{Journal, Lookup, Redactor};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What happens when a question is in no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It is asked. Only the run's own journal is looked into, never a cassette.
    #[default]
    Live,
    /// It is asked. Cassettes are looked into first, so a recording can be completed.
    Record,
    /// It is a failure of class `replay-miss` that shows the nearest recorded request. Nothing is ever asked.
    Replay,
    /// It is a failure with code [`PENDING`](crate::PENDING), which parks the candidate.
    Batch,
}

/// One `[llm.NAME]` table with its provider.
#[derive(Clone)]
pub struct Role {
    /// The host's keys of the table.
    pub config: RoleConfig,
    /// The provider; replay needs none.
    pub provider: Option<Arc<dyn Provider>>,
    /// Whether the provider declares the capability `simulated` and so may see tags.
    pub simulated: bool,
}

impl Role {
    /// A table with a real provider.
    pub fn new(config: RoleConfig, provider: Option<Arc<dyn Provider>>) -> Self {
        Self { config, provider, simulated: false }
    }
}

/// Told of each event that [`Llm`] appends, for progress.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// What an [`Llm`] is made from.
#[derive(Clone)]
pub struct LlmOptions {
    /// Tables by name.
    pub roles: BTreeMap<String, Role>,
    /// The run's seed.
    pub run_seed: u64,
    /// What happens on a miss.
    pub mode: Mode,
    /// The run's own journal: looked into first, and every answer is appended to it.
    pub journal: Arc<dyn Journal>,
    /// Further records to look into, first match wins. Not used in [`Mode::Live`].
    pub cassettes: Vec<Arc<dyn Lookup>>,
    /// What has come from outside for questions that a provider put off.
    pub answers: Option<Arc<dyn Answers>>,
    /// Takes secrets out of replies, records and failures.
    pub redactor: Arc<Redactor>,
    /// Whether the run is being interrupted; the host object of a call is asked too.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Told of events.
    pub observer: Option<Observer>,
    /// Told where each question stands.
    pub watch: Option<CallWatch>,
}

impl LlmOptions {
    /// Live, with the machine's clock, no roles, no cassettes, no secrets and nothing that interrupts.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self {
            roles: BTreeMap::new(),
            run_seed: 0,
            mode: Mode::Live,
            journal,
            cassettes: Vec::new(),
            answers: None,
            redactor: Arc::default(),
            cancelled: Arc::new(|| false),
            clock: Arc::new(SystemClock::default()),
            observer: None,
            watch: None,
        }
    }
}

/// Where a question comes from. Fixed before dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The sample path so far: task / stage label / lineage indices.
    pub path: SamplePath,
    /// The how many-th question of this plugin call, from 0.
    pub call: u32,
    /// The role that asks, for the record.
    pub role: String,
}

/// The host's side of every language model of a run. Shared by all threads.
pub struct Llm {
    pub(crate) options: LlmOptions,
    pub(crate) state: BTreeMap<String, RoleState>,
    /// Keys of the answers that the run's own journal held at the beginning and that were charged then.
    pub(crate) earlier: HashSet<String>,
    pub(crate) waiting: Waiting,
}

pub(crate) struct RoleState {
    pub(crate) gate: Gate,
    pub(crate) budget: Budget,
}

impl std::fmt::Debug for Llm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Llm")
            .field("roles", &self.state.keys().collect::<Vec<_>>())
            .field("mode", &self.options.mode)
            .finish_non_exhaustive()
    }
}

impl Llm {
    /// Makes the seam of a run.
    ///
    /// # Errors
    /// `llm.config`: all values of the tables that make no sense.
    pub fn new(options: LlmOptions) -> Result<Self, Failure> {
        let mut wrong = Vec::new();
        for (name, role) in &options.roles {
            wrong.extend(
                role.config.problems().into_iter().map(|p| format!("llm.{name}.{}: {}", p.key, p.message)),
            );
        }
        if !wrong.is_empty() {
            return Err(Failure::new(FailureClass::Request, "llm.config", wrong.join("; ")));
        }
        let state: BTreeMap<String, RoleState> = options
            .roles
            .iter()
            .map(|(name, role)| {
                let gate = Gate::new(role.config.max_concurrency, role.config.requests_per_minute);
                (name.clone(), RoleState { gate, budget: Budget::default() })
            })
            .collect();
        let earlier = charge_earlier(&options, &state);
        Ok(Self { options, state, earlier, waiting: Waiting::default() })
    }

    /// Asks the model of table `name` for `request.sampling.n` replies (absent means 1).
    ///
    /// The table's sampling fills what the request leaves out; `request.model` is always the table's. Where a server returns
    /// fewer replies than asked, the rest is asked for in further requests, each with its own sample path and seed.
    /// Returns exactly `n` replies in sample order; usage is the sum over all requests (absent where a server did not say), raw is
    /// their bodies, a line feed between them.
    ///
    /// # Errors
    /// The first failure in sample order: provider (after all retries), context overflow, budget, cancelled, replay miss,
    /// [`PENDING`](crate::PENDING), or the record itself. Replies that came before it stay in the record and are not asked for again on resume.
    pub fn complete(
        &self,
        name: &str,
        request: CompletionRequest,
        site: &CallSite,
        host: &dyn Host,
    ) -> Result<Replies, Failure> {
        let (Some(role), Some(state)) = (self.options.roles.get(name), self.state.get(name)) else {
            let known: Vec<&str> = self.state.keys().map(String::as_str).collect();
            return Err(Failure::new(
                FailureClass::Request,
                "llm.unknown-model",
                format!("there is no table [llm.{name}]; there is {}", known.join(", ")),
            ));
        };
        let request = filled(request, role);
        if request.messages.is_empty() {
            return Err(Failure::new(
                FailureClass::Request,
                "llm.empty-request",
                "the request has no message",
            ));
        }
        let wanted = request.sampling.n.unwrap_or(1);
        if wanted == 0 {
            return Err(Failure::new(
                FailureClass::Request,
                "llm.empty-request",
                "the request asks for 0 replies",
            ));
        }
        let ask = crate::ask::Ask { llm: self, name, role, state, site, host, request: &request };
        let size = role.config.n_per_request.unwrap_or(wanted);
        let mut parts = ask.samples(0, wanted, size)?;
        parts.sort_by_key(|(first, _)| *first);
        let result = merged(parts.into_iter().map(|(_, replies)| replies).collect(), wanted as usize);
        Ok(result)
    }

    /// The questions of this session that wait for an answer, each once, in the order of sample paths.
    pub fn pending(&self) -> Vec<PendingQuestion> {
        self.waiting.all()
    }

    /// Where time is taken from.
    pub fn clock(&self) -> &dyn Clock {
        self.options.clock.as_ref()
    }

    /// Use of every table so far.
    pub fn usage(&self) -> BTreeMap<String, ModelUsage> {
        self.state
            .iter()
            .filter_map(|(name, state)| {
                let role = self.options.roles.get(name)?;
                Some((name.clone(), state.budget.usage(&role.config)))
            })
            .collect()
    }

    /// The redactor, for texts that others write.
    pub fn redactor(&self) -> &Redactor {
        &self.options.redactor
    }
}

/// Charges each table with what the run's own journal says of earlier sessions, and returns the keys.
fn charge_earlier(options: &LlmOptions, state: &BTreeMap<String, RoleState>) -> HashSet<String> {
    let mut keys = HashSet::new();
    for event in options.journal.events() {
        let Event::Completion { key, llm, attempts, usage, .. } = event else { continue };
        if let (Some(role), Some(state)) = (options.roles.get(&llm), state.get(&llm)) {
            state.budget.earlier(&role.config, attempts, &usage);
            keys.insert(key);
        }
    }
    keys
}

/// The request with everything that the table says and the request does not.
fn filled(mut request: CompletionRequest, role: &Role) -> CompletionRequest {
    let config = &role.config;
    let sampling = &mut request.sampling;
    request.model.clone_from(&config.model);
    sampling.temperature = sampling.temperature.or(config.temperature);
    sampling.top_p = sampling.top_p.or(config.top_p);
    sampling.max_tokens = sampling.max_tokens.or(config.max_tokens);
    sampling.seed = sampling.seed.or(config.seed);
    sampling.logprobs = sampling.logprobs.or(config.logprobs);
    if sampling.stop.is_empty() {
        sampling.stop.clone_from(&config.stop);
    }
    for (key, value) in &config.extra_body {
        request.extra.entry(key.clone()).or_insert_with(|| value.clone());
    }
    if !role.simulated {
        request.tags = Tags::default();
    }
    request
}

fn merged(parts: Vec<Replies>, wanted: usize) -> Replies {
    let sum = |count: fn(&Usage) -> Option<u64>| parts.iter().map(|p| count(&p.usage)).sum::<Option<u64>>();
    let usage =
        Usage { prompt_tokens: sum(|u| u.prompt_tokens), completion_tokens: sum(|u| u.completion_tokens) };
    let model = parts.first().map(|p| p.model.clone()).unwrap_or_default();
    let raw = parts.iter().map(|p| p.raw.as_str()).collect::<Vec<_>>().join("\n");
    let mut replies: Vec<_> = parts.into_iter().flat_map(|p| p.replies).collect();
    replies.truncate(wanted);
    Replies { replies, usage, model, raw }
}
