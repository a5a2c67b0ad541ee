//! The state that all requests of a run share: options, model tables with their limits, deferred requests.

use crate::answer::{DeferredReplies, PendingRequests};
use crate::caps::SpendingCaps;
use crate::gate::{CallWatch, Clock, Gate, SystemClock, TablePause};
use crate::settings::ModelSettings;
use crate::usage::may_have_used;
use planforge_contract::api::Provider;
use planforge_contract::{CompletionRequest, Failure, FailureClass, Tags};
use planforge_record::{CompletionEvent, Event, Journal, Lookup, Redactor, SamplePath};
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
        let Event::Completion(CompletionEvent { key, llm, request, failure, attempts, usage, .. }) = event
        else {
            continue;
        };
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
    planforge_contract::read_json(&journal.get(id)?).map_err(|e| {
        Failure::new(FailureClass::System, "record.corrupt", format!("blob {id} is not a request: {e}"))
    })
}

/// One `[llm.NAME]` table with its provider.
#[derive(Clone)]
pub struct ModelTable {
    /// The host's keys of the table.
    pub settings: ModelSettings,
    /// The provider; replay needs none.
    pub provider: Option<Arc<dyn Provider>>,
    /// True if the provider declares the capability `simulated`, and so may see tags.
    pub simulated: bool,
    /// True if the provider declares that its service enforces the grammar of a request.
    pub enforces_grammars: bool,
}

impl ModelTable {
    /// A table with a real provider.
    pub fn new(settings: ModelSettings, provider: Option<Arc<dyn Provider>>) -> Self {
        Self { settings, provider, simulated: false, enforces_grammars: false }
    }

    /// Fills the fields that the request leaves out from the table.
    pub(crate) fn fill_defaults(&self, mut request: CompletionRequest) -> CompletionRequest {
        let settings = &self.settings;
        let sampling = &mut request.sampling;
        request.model.clone_from(&settings.model);
        sampling.temperature = sampling.temperature.or(settings.temperature);
        sampling.top_p = sampling.top_p.or(settings.top_p);
        sampling.max_tokens = sampling.max_tokens.or(settings.max_tokens);
        sampling.seed = sampling.seed.or(settings.seed);
        sampling.logprobs = sampling.logprobs.or(settings.logprobs);
        if sampling.stop.is_empty() {
            sampling.stop.clone_from(&settings.stop);
        }
        for (key, value) in &settings.extra_body {
            request.extra.entry(key.clone()).or_insert_with(|| value.clone());
        }
        if !self.enforces_grammars {
            // A required grammar stays, and the request fails before it is sent.
            request.constraint = request.constraint.filter(|constraint| constraint.required);
        }
        if !self.simulated {
            request.tags = Tags::default();
        }
        request
    }
}

/// The limits of one table while a run lasts.
pub(crate) struct TableState {
    pub(crate) gate: Gate,
    pub(crate) caps: SpendingCaps,
    pub(crate) pause: TablePause,
}

impl TableState {
    pub(crate) fn new(settings: &ModelSettings) -> Self {
        Self {
            gate: Gate::new(settings.max_concurrency, settings.requests_per_minute),
            caps: SpendingCaps::new(settings),
            pause: TablePause::default(),
        }
    }
}
