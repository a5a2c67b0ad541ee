//! [`Llm`]: roles, mode, journal and limits of one run.

use crate::ask::Ask;
use crate::budget::{Budget, may_have_used};
use crate::choice::Choice;
use crate::clock::{Clock, SystemClock};
use crate::config::RoleConfig;
use crate::deferred::{Answers, PendingQuestion, Waiting};
use crate::key::canonical_request;
use crate::limit::Gate;
use crate::models::RoleModels;
use crate::rest::Rest;
use crate::usage::ModelUsage;
use crate::watch::CallWatch;
use planforge_contract::api::{Host, Provider};
use planforge_contract::{CompletionRequest, Failure, FailureClass, Replies, Tags, Usage};
use planforge_record::{Event, Journal, Lookup, Redactor, SamplePath};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The reaction to a request that is in no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Sends it. Only the run's own journal is searched, never a cassette.
    #[default]
    Live,
    /// Sends it. Cassettes are searched first, so a recording can be completed.
    Record,
    /// Fails with class `replay-miss` and shows the nearest recorded request. Nothing is ever sent.
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
    /// True if the provider declares the capability `simulated`, and so may see tags.
    pub simulated: bool,
}

impl Role {
    /// A table with a real provider.
    pub fn new(config: RoleConfig, provider: Option<Arc<dyn Provider>>) -> Self {
        Self { config, provider, simulated: false }
    }
}

/// Callback for each event that [`Llm`] appends, for progress.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Configuration of an [`Llm`].
#[derive(Clone)]
pub struct LlmOptions {
    /// Model tables by name.
    pub roles: BTreeMap<String, Role>,
    pub run_seed: u64,
    /// Reaction to a miss.
    pub mode: Mode,
    /// The run's own journal: searched first; every reply is appended to it.
    pub journal: Arc<dyn Journal>,
    /// Further records to search, first match wins. Unused in [`Mode::Live`].
    pub cassettes: Vec<Arc<dyn Lookup>>,
    /// Source of results for deferred requests.
    pub answers: Option<Arc<dyn Answers>>,
    /// True if recorded failures are final in a resumed run. Otherwise those requests are sent again, because
    /// the cause may be gone.
    pub failures_stand: bool,
    /// Takes secrets out of replies, records and failures.
    pub redactor: Arc<Redactor>,
    /// Returns true once the run is interrupted; the host object of a call is checked too.
    pub cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    pub clock: Arc<dyn Clock>,
    /// Callback for events.
    pub observer: Option<Observer>,
    /// Callback for the progress of each request.
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
            failures_stand: false,
            redactor: Arc::default(),
            cancelled: Arc::new(|| false),
            clock: Arc::new(SystemClock::default()),
            observer: None,
            watch: None,
        }
    }
}

/// Origin of a request, fixed before it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSite {
    /// The sample path so far: task / stage label / lineage indices.
    pub path: SamplePath,
    /// The how many-th question of this plugin call, from 0.
    pub call: u32,
    /// The requesting role, for the record.
    pub role: String,
}

/// The end of a request to a role, with the tables that took part.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The replies in sample order, or why there are none.
    pub end: Result<Replies, Failure>,
    /// Tables that replied, even if `end` is a failure of other samples. Each table once, in the order of
    /// their first samples.
    pub answered: Vec<TableAnswer>,
    /// Tables that did not reply, and why.
    pub left: Vec<Left>,
}

/// The replies of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAnswer {
    /// The model table.
    pub llm: String,
    /// Sample indices of the request.
    pub samples: Vec<u32>,
    /// Tokens of its requests; absent where its server did not count those of one.
    pub usage: Usage,
    /// Tokens of its replies, estimated from their texts ([`crate::estimated_tokens`]).
    pub estimated_tokens: u64,
}

/// One table that did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The model table.
    pub llm: String,
    /// The table that was asked next; absent if there was none.
    pub to: Option<String>,
    /// The code of its failure.
    pub code: String,
    /// True if its server was asked. It is not if a cap is reached or the table is resting.
    pub asked: bool,
    /// Number of samples that it was to give.
    pub samples: u32,
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
    pub(crate) rest: Rest,
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
    /// `llm.config`: all values of the tables that make no sense. Where a cap needs it, a request that the journal names and does not hold.
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
                (name.clone(), RoleState { gate, budget: Budget::default(), rest: Rest::default() })
            })
            .collect();
        let earlier = charge_earlier(&options, &state)?;
        Ok(Self { options, state, earlier, waiting: Waiting::default() })
    }

    /// Asks the model of table `name`, as [`Llm::ask`] does.
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
        self.ask(&RoleModels::from(name), request, site, host).end
    }

    /// Asks the tables of a role for `request.sampling.n` replies (absent means 1).
    ///
    /// Each table's sampling fills what the request leaves out; `request.model` is always the table's. Where a server returns
    /// fewer replies than asked, the rest is asked for in further requests, each with its own sample path and seed. Where a
    /// table fails after its retries or has reached a cap, the next one of the role is asked for the same samples.
    /// Gives exactly `n` replies in sample order; usage is the sum over all requests that were answered (absent where a server did
    /// not say), raw is their bodies, a line feed between them.
    pub fn ask(
        &self,
        models: &RoleModels,
        request: CompletionRequest,
        site: &CallSite,
        host: &dyn Host,
    ) -> Answer {
        let wanted = request.sampling.n.unwrap_or(1);
        match self.tables(models, &request, site, host) {
            Ok(tables) => Choice::new(tables).ask(models, self.options.run_seed, wanted),
            Err(failure) => Answer { end: Err(failure), answered: Vec::new(), left: Vec::new() },
        }
    }

    fn tables<'a>(
        &'a self,
        models: &'a RoleModels,
        request: &CompletionRequest,
        site: &'a CallSite,
        host: &'a dyn Host,
    ) -> Result<Vec<Ask<'a>>, Failure> {
        let refused = |code: &str, message: String| Err(Failure::new(FailureClass::Request, code, message));
        let mut tables: Vec<Ask<'a>> = Vec::new();
        for name in models.names() {
            let (Some(role), Some(state)) = (self.options.roles.get(name), self.state.get(name)) else {
                let known: Vec<&str> = self.state.keys().map(String::as_str).collect();
                let message = format!("there is no table [llm.{name}]; there is {}", known.join(", "));
                return refused("llm.unknown-model", message);
            };
            let request = filled(request.clone(), role);
            let twin =
                tables.iter().any(|other| canonical_request(&other.request) == canonical_request(&request));
            tables.push(Ask { llm: self, name, role, state, site, host, request, twin });
        }
        if tables.is_empty() {
            return refused("llm.unknown-model", format!("nobody takes the role `{}`", site.role));
        }
        if request.messages.is_empty() {
            return refused("llm.empty-request", "the request has no message".to_owned());
        }
        if request.sampling.n == Some(0) {
            return refused("llm.empty-request", "the request asks for 0 replies".to_owned());
        }
        Ok(tables)
    }

    /// The questions of this session that wait for an answer, each once, in the order of sample paths.
    pub fn pending(&self) -> Vec<PendingQuestion> {
        self.waiting.all()
    }

    /// The run's clock.
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

/// Charges each table with the use of earlier sessions in the run's own journal. Returns the keys of their
/// requests.
fn charge_earlier(
    options: &LlmOptions,
    state: &BTreeMap<String, RoleState>,
) -> Result<HashSet<String>, Failure> {
    let mut keys = HashSet::new();
    for event in options.journal.events() {
        let Event::Completion { key, llm, request, failure, attempts, usage, .. } = event else { continue };
        if let (Some(role), Some(state)) = (options.roles.get(&llm), state.get(&llm)) {
            let config = &role.config;
            let is_capped = config.max_total_tokens.is_some() || config.max_cost_usd.is_some();
            let is_known = usage.prompt_tokens.is_some() && usage.completion_tokens.is_some();
            let has_used = failure.is_none_or(|failure| may_have_used(failure.class));
            let request = if is_capped && !is_known && has_used {
                Some(request_of(options.journal.as_ref(), &request)?)
            } else {
                None
            };
            state.budget.earlier(config, attempts, &usage, request.as_ref());
            keys.insert(key);
        }
    }
    Ok(keys)
}

fn request_of(journal: &dyn Journal, id: &str) -> Result<CompletionRequest, Failure> {
    serde_json::from_slice(&journal.get(id)?).map_err(|e| {
        Failure::new(FailureClass::System, "record.corrupt", format!("blob {id} is no request: {e}"))
    })
}

/// Fills the fields that the request leaves out from the table.
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
