//! [`Llm`]: requests to the model tables of one run.

use crate::answer::{PendingRequest, RoleAnswer, Unanswered};
use crate::gate::Clock;
use crate::key::canonical_request;
use crate::models::RoleModels;
use crate::role_request::RoleRequest;
use crate::session::{CallSite, LlmOptions, Session};
use crate::settings::ModelSettings;
use crate::table_client::TableClient;
use crate::usage::ModelUsage;
use planforge_contract::api::Host;
use planforge_contract::{CompletionRequest, Failure, FailureClass, Replies};
use planforge_record::Redactor;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

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
