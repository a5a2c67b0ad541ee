//! [`Llm`]: requests to the model tables of one run, and the state that they share.

use crate::answer::{DeferredReplies, PendingRequest, PendingRequests, RoleAnswer, Unanswered};
use crate::caps::may_have_used;
use crate::gate::{Clock, Gate, SystemClock};
use crate::key::canonical_request;
use crate::models::RoleModels;
use crate::role_request::RoleRequest;
use crate::settings::ModelSettings;
use crate::table::{ModelTable, TableState};
use crate::table_client::TableClient;
use crate::usage::ModelUsage;
use planforge_contract::api::Host;
use planforge_contract::{CompletionRequest, Failure, FailureClass, Replies};
use planforge_record::{Event, Journal, Lookup, Redactor, SamplePath};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The host's side of every language model of a run. Shared by all threads.
pub struct Llm {
    session: Session,
}

impl std::fmt::Debug for Llm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Llm")
            .field("tables", &self.session.tables.keys().collect::<Vec<_>>())
            .field("mode", &self.session.options.mode)
            .finish_non_exhaustive()
    }
}

impl Llm {
    /// Prepares the tables of a run. Use of earlier sessions in its journal counts towards their caps.
    ///
    /// # Errors
    /// `llm.config` with every invalid value of the tables. If a cap depends on it, a request that the journal
    /// names and does not hold.
    pub fn new(options: LlmOptions) -> Result<Self, Failure> {
        Ok(Self { session: Session::new(options)? })
    }

    /// Changes the limits of a table, also for requests that wait: the values of `settings` under
    /// [`LIMIT_KEYS`](crate::LIMIT_KEYS).
    ///
    /// # Errors
    /// `llm.unknown-model`, `llm.config`, `llm.limit-too-low`.
    pub fn set_limits(&self, name: &str, settings: &ModelSettings) -> Result<(), Failure> {
        let table = self.session.tables.get(name).ok_or_else(|| {
            let message = format!("there is no table `[llm.{name}]`");
            Failure::new(FailureClass::Request, "llm.unknown-model", message)
        })?;
        if let Some(problem) = settings.problems().first() {
            let message = format!("llm.{name}.{}: {}", problem.key, problem.message);
            return Err(Failure::new(FailureClass::Request, "llm.config", message));
        }
        table.caps.change(name, settings)?;
        table.gate.set_limits(settings.max_concurrency, settings.requests_per_minute);
        Ok(())
    }

    /// Asks the model of table `name`, as [`Llm::ask`] does.
    ///
    /// # Errors
    /// A deferral, or the first failure in sample order: provider (after all retries), context overflow, budget,
    /// cancelled, replay miss, or the record itself. Replies to other samples stay in the record and are not
    /// requested again on resume.
    pub fn complete(
        &self,
        name: &str,
        request: CompletionRequest,
        site: &CallSite,
        host: &dyn Host,
    ) -> Result<Replies, Unanswered> {
        self.ask(&RoleModels::from(name), request, site, host).replies
    }

    /// Asks the tables of a role for `request.sampling.n` replies (absent means 1).
    ///
    /// Each table's sampling fills what the request leaves out; `request.model` is always the table's. If a
    /// server returns fewer replies than requested, further requests ask for the rest, each with its own sample
    /// path and seed. If a table fails after its retries or has reached a cap, the next one of the role is asked
    /// for the same samples. Returns exactly `n` replies in sample order. Usage is the sum over all requests
    /// that were answered, absent where a server did not report it; raw is their bodies, separated by line
    /// feeds.
    pub fn ask(
        &self,
        models: &RoleModels,
        request: CompletionRequest,
        site: &CallSite,
        host: &dyn Host,
    ) -> RoleAnswer {
        let samples = request.sampling.n.unwrap_or(1);
        match self.clients(models, &request, site, host) {
            Ok(clients) => RoleRequest::new(clients).ask(models, self.session.options.run_seed, samples),
            Err(failure) => RoleAnswer {
                replies: Err(failure.into()),
                answered: Vec::new(),
                failed: Vec::new(),
                failed_requests: BTreeMap::new(),
            },
        }
    }

    fn clients<'a>(
        &'a self,
        models: &'a RoleModels,
        request: &CompletionRequest,
        site: &'a CallSite,
        host: &'a dyn Host,
    ) -> Result<Vec<TableClient<'a>>, Failure> {
        let session = &self.session;
        let refused = |code: &str, message: String| Err(Failure::new(FailureClass::Request, code, message));
        let mut clients: Vec<TableClient<'a>> = Vec::new();
        for name in models.names() {
            let (Some(table), Some(state)) = (session.options.tables.get(name), session.tables.get(name))
            else {
                let known: Vec<String> = session.tables.keys().map(|name| format!("`{name}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let message = format!("there is no table `[llm.{name}]`; the tables are: {known}");
                return refused("llm.unknown-model", message);
            };
            let wants_grammar = request.constraint.is_some();
            let request = table.fill_defaults(request.clone());
            let lacks_grammar = wants_grammar && !table.enforces_grammars;
            if lacks_grammar && request.constraint.is_some() {
                let message = format!(
                    "the request requires a grammar, and `{}` of [llm.{name}] does not enforce one",
                    table.settings.provider
                );
                return refused("llm.no-grammar", message);
            }
            let is_twin =
                clients.iter().any(|other| canonical_request(&other.request) == canonical_request(&request));
            clients.push(TableClient {
                session,
                name,
                table,
                state,
                site,
                host,
                request,
                lacks_grammar,
                is_twin,
                failed_requests: AtomicU64::new(0),
            });
        }
        if clients.is_empty() {
            return refused("llm.unknown-model", format!("the role `{}` has no model table", site.role));
        }
        if request.messages.is_empty() {
            return refused("llm.empty-request", "the request has no message".to_owned());
        }
        if request.sampling.n == Some(0) {
            return refused("llm.empty-request", "the request asks for 0 replies".to_owned());
        }
        Ok(clients)
    }

    /// The deferred requests of this session, each once, in the order of sample paths.
    pub fn pending(&self) -> Vec<PendingRequest> {
        self.session.pending.all()
    }

    /// The run's clock.
    pub fn clock(&self) -> &dyn Clock {
        self.session.options.clock.as_ref()
    }

    /// Use of every table so far.
    pub fn usage(&self) -> BTreeMap<String, ModelUsage> {
        let tables = &self.session.options.tables;
        self.session
            .tables
            .iter()
            .filter_map(|(name, state)| Some((name.clone(), state.caps.usage(&tables.get(name)?.settings))))
            .collect()
    }

    /// The redactor, for texts that others write.
    pub fn redactor(&self) -> &Redactor {
        &self.session.options.redactor
    }
}

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
    /// Defers it ([`crate::Unanswered::Deferred`]), which parks the candidate.
    Batch,
}

/// Callback for each event that [`crate::Llm`] appends, for progress.
pub type Observer = Arc<dyn Fn(&Event) + Send + Sync>;

/// Configuration of an [`crate::Llm`].
#[derive(Clone)]
pub struct LlmOptions {
    /// Model tables by name.
    pub tables: BTreeMap<String, ModelTable>,
    pub run_seed: u64,
    /// Reaction to a miss.
    pub mode: Mode,
    /// The run's own journal: searched first; every reply is appended to it.
    pub journal: Arc<dyn Journal>,
    /// Further records to search, first match wins. Unused in [`Mode::Live`].
    pub cassettes: Vec<Arc<dyn Lookup>>,
    /// Source of results for deferred requests.
    pub deferred: Option<Arc<dyn DeferredReplies>>,
    /// True if recorded failures are final in a resumed run. Otherwise those requests are sent again, because
    /// the cause may be gone.
    pub failures_are_final: bool,
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
    /// Live, with the machine's clock, no tables, no cassettes, no secrets and nothing that interrupts.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self {
            tables: BTreeMap::new(),
            run_seed: 0,
            mode: Mode::Live,
            journal,
            cassettes: Vec::new(),
            deferred: None,
            failures_are_final: false,
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
    /// Zero-based index of the request within the plugin call.
    pub call: u32,
    /// The requesting role, for the record.
    pub role: String,
}

/// The state of one session of a run.
pub(crate) struct Session {
    pub(crate) options: LlmOptions,
    pub(crate) tables: BTreeMap<String, TableState>,
    /// Keys of the requests of earlier sessions, which were charged when this session was created.
    pub(crate) charged: HashSet<String>,
    pub(crate) pending: PendingRequests,
}

impl Session {
    /// Checks the tables and charges them with the use of earlier sessions.
    ///
    /// # Errors
    /// `llm.config` with every invalid value of the tables. If a cap depends on it, a request that the journal
    /// names and does not hold.
    pub(crate) fn new(options: LlmOptions) -> Result<Self, Failure> {
        let mut wrong = Vec::new();
        for (name, table) in &options.tables {
            let problems = table.settings.problems().into_iter();
            wrong.extend(problems.map(|p| format!("llm.{name}.{}: {}", p.key, p.message)));
        }
        if !wrong.is_empty() {
            return Err(Failure::new(FailureClass::Request, "llm.config", wrong.join("; ")));
        }
        let state = |(name, table): (&String, &ModelTable)| (name.clone(), TableState::new(&table.settings));
        let tables = options.tables.iter().map(state).collect();
        let charged = charge_earlier_sessions(&options, &tables)?;
        Ok(Self { options, tables, charged, pending: PendingRequests::default() })
    }
}

/// Charges each table with the use of earlier sessions in the run's own journal. Returns the keys of their
/// requests.
fn charge_earlier_sessions(
    options: &LlmOptions,
    tables: &BTreeMap<String, TableState>,
) -> Result<HashSet<String>, Failure> {
    let mut keys = HashSet::new();
    for event in options.journal.events() {
        let Event::Completion { key, llm, request, failure, attempts, usage, .. } = event else { continue };
        if let (Some(table), Some(state)) = (options.tables.get(&llm), tables.get(&llm)) {
            let settings = &table.settings;
            let is_capped = settings.max_total_tokens.is_some() || settings.max_cost_usd.is_some();
            let has_used =
                failure.is_none_or(|failure| failure.usage.is_some() || may_have_used(failure.class));
            let is_estimated = has_used && !usage.is_metered() || usage.uncounted_requests.is_some();
            let request = if is_capped && is_estimated {
                Some(read_request(options.journal.as_ref(), &request)?)
            } else {
                None
            };
            state.caps.add_earlier_session(settings, attempts, (&usage, has_used), request.as_ref());
            keys.insert(key);
        }
    }
    Ok(keys)
}

fn read_request(journal: &dyn Journal, id: &str) -> Result<CompletionRequest, Failure> {
    serde_json::from_slice(&journal.get(id)?).map_err(|e| {
        Failure::new(FailureClass::System, "record.corrupt", format!("blob {id} is not a request: {e}"))
    })
}

/// A request to a model, and the phase that it enters.
///
/// It is for display alone: nothing of it is recorded, and nothing depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallStep<'a> {
    /// The model table.
    pub llm: &'a str,
    /// The request's sample path, unique in the run.
    pub path: &'a str,
    pub phase: CallPhase,
    /// Requests a second that are sent to the table now; `None` without a limit.
    pub rate: Option<f64>,
}

/// The phase of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPhase {
    /// Waits for its turn: `max_concurrency` requests are in flight, or those in flight may exhaust a cap.
    Queued,
    /// Waits this long because of `requests_per_minute`, because the server refused requests, or because it asked to
    /// wait.
    Held(Duration),
    /// The request was sent; the first attempt is 1.
    Sent(u32),
    /// This attempt failed. The request waits this long before the next.
    BackingOff(u32, Duration),
    /// The request ended.
    Ended,
}

/// Callback for each step of each request that no record answers. Called from many threads.
pub type CallWatch = Arc<dyn Fn(&CallStep<'_>) + Send + Sync>;

/// Reports the phases of one request, and its end in every case.
pub(crate) struct CallProgress<'a> {
    watch: Option<&'a CallWatch>,
    llm: &'a str,
    path: &'a str,
    gate: &'a Gate,
}

impl<'a> CallProgress<'a> {
    pub(crate) fn new(watch: Option<&'a CallWatch>, llm: &'a str, path: &'a str, gate: &'a Gate) -> Self {
        Self { watch, llm, path, gate }
    }

    pub(crate) fn enter(&self, phase: CallPhase) {
        if let Some(watch) = self.watch {
            watch(&CallStep { llm: self.llm, path: self.path, phase, rate: self.gate.rate() });
        }
    }
}

impl Drop for CallProgress<'_> {
    fn drop(&mut self) {
        self.enter(CallPhase::Ended);
    }
}
