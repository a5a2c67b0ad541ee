//! The traits over the documents. All are synchronous and take `&self`; instances are called concurrently, up to
//! `PluginInfo.max_concurrency`, on the host's own threads (never on an async runtime's worker).
//!
//! Every method gets a [`Host`] bound to that one call. What a kind may not ask of it is `Failure` `host.forbidden`.

use crate::{
    CompletionRequest, CompletionResult, EnvironmentInfo, EnvironmentOpen, EnvironmentPlan,
    EnvironmentVerdict, ExecutionReport, Failure, PlanOutcome, PlanRequest, RateLimits, Replies, Sequences,
    StateDescription, StateQuery, TranslateRequest, TranslateResponse, VerifyRequest, VerifyResponse,
    WalkSpec, Walks,
};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Importance of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the plugin's author.
    Debug,
    /// For the record.
    Info,
    /// For the person who runs.
    Warn,
}

/// A call to the environment that the host opened for the task.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum EnvironmentCall {
    /// Describes the task's actions and objects.
    Describe,
    /// Take walks.
    Walks(WalkSpec),
    /// Try sequences.
    Execute(Sequences),
    /// Judge a plan.
    Validate(EnvironmentPlan),
    /// Describe a state.
    DescribeState(StateQuery),
}

/// The environment's answer, of the same name as the call.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum EnvironmentAnswer {
    /// The task's actions and objects.
    Describe(EnvironmentInfo),
    /// Walks taken.
    Walks(Walks),
    /// The number of steps executed of each sequence.
    Execute(ExecutionReport),
    /// A plan's verdict.
    Validate(EnvironmentVerdict),
    /// A state in words.
    DescribeState(StateDescription),
}

/// The host's services for a plugin during one call.
///
/// The default methods refuse, so that a host object for a kind implements only the services of that kind.
pub trait Host: Send + Sync {
    /// Asks the language model that the pipeline gives this role. The host applies role, budget, limits, retry, cassette,
    /// redaction and events, and asks again where a server returns fewer replies than `n`.
    ///
    /// # Errors
    /// `host.forbidden`, or what is left after all retries: budget, provider, context overflow, cancelled, replay miss.
    fn complete(&self, role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        let _ = (role, request);
        Err(Failure::forbidden("complete"))
    }
    /// Asks the task's environment.
    ///
    /// # Errors
    /// `host.forbidden`, `host.no-environment`, or what the environment failed with.
    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        let _ = call;
        Err(Failure::forbidden("environment"))
    }
    /// Asks the planner of the plan stage with that label.
    ///
    /// # Errors
    /// `host.forbidden`, an unknown label, a call cycle, or what the planner failed with.
    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        let _ = (label, request);
        Err(Failure::forbidden("plan"))
    }
    /// Runs this plugin's own `work` in a child process under the host's limits.
    ///
    /// # Errors
    /// `host.forbidden`, a limit, or the child's failure.
    fn worker(&self, input: &str) -> Result<String, Failure> {
        let _ = input;
        Err(Failure::forbidden("worker"))
    }
    /// For the host's own layers: the outer one keeps the record, the inner one has the child process.
    /// Answers [`Host::worker`] from the record, or else with the result of `ask`. A plugin calls `worker`.
    ///
    /// # Errors
    /// As [`Host::worker`].
    fn worker_through(
        &self,
        input: &str,
        ask: &dyn Fn() -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let _ = input;
        ask()
    }
    /// Reports the quotas of requests and tokens in a server's response, for providers. By default nothing happens.
    fn rate_limits(&self, limits: &RateLimits) {
        let _ = limits;
    }
    /// Adds a line to the run's log.
    fn log(&self, level: LogLevel, message: &str);
    /// Says how far the call is: `done` of `total` (0 where unknown). A call that neither reports progress nor asks the host for
    /// 600 s is given up, unless the pipeline sets a deadline.
    fn progress(&self, done: u64, total: u64, what: &str);
    /// True if the run is being interrupted. Long loops call it now and then.
    fn cancelled(&self) -> bool;
    /// Milliseconds until the host gives the call up; `None` where there is no deadline.
    fn remaining_ms(&self) -> Option<u64>;
}

/// A host without services and limits, for calls that need neither.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        false
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}

/// Speaks to a language model. Makes exactly one request a call: retries, `n` and limits are the host's.
pub trait Provider: Send + Sync {
    /// Asks once.
    ///
    /// # Errors
    /// A [`Failure`] means that the plugin broke; a server's refusal is `CompletionResult::ProviderFailure`.
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure>;
}

/// Writes PDDL from text.
pub trait Translator: Send + Sync {
    /// `request.n` samples.
    ///
    /// # Errors
    /// A [`Failure`] of the whole call; a single sample's failure is in the response.
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure>;
    /// The child-process side of [`Host::worker`].
    ///
    /// # Errors
    /// What broke; by default that the plugin has no worker.
    fn work(&self, input: &str) -> Result<String, Failure> {
        let _ = input;
        Err(no_worker())
    }
}

/// Judges candidates.
pub trait Verifier: Send + Sync {
    /// One assessment a candidate.
    ///
    /// # Errors
    /// A [`Failure`] of the whole call; one candidate's failure is in the response.
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure>;
}

/// Finds plans.
pub trait Planner: Send + Sync {
    /// Looks for `request.k` plans.
    ///
    /// # Errors
    /// A [`Failure`] means that the planner broke; everything else is an outcome.
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure>;
    /// The child-process side of [`Host::worker`].
    ///
    /// # Errors
    /// What broke; by default that the plugin has no worker.
    fn work(&self, input: &str) -> Result<String, Failure> {
        let _ = input;
        Err(no_worker())
    }
}

/// Says whether actions can be executed. Stateless between calls: each call names its task.
pub trait Environment: Send + Sync {
    /// The task's actions and objects.
    ///
    /// # Errors
    /// The environment broke or cannot be opened on this task.
    fn describe(&self, host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure>;
    /// Takes random walks, uniform over applicable ground actions.
    ///
    /// # Errors
    /// As [`Environment::describe`].
    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure>;
    /// Tries sequences, each from the initial state.
    ///
    /// # Errors
    /// As [`Environment::describe`].
    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure>;
    /// Judges a plan.
    ///
    /// # Errors
    /// As [`Environment::describe`].
    fn validate(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure>;
    /// Describes the state after a sequence.
    ///
    /// # Errors
    /// As [`Environment::describe`], or that the sequence cannot be executed.
    fn describe_state(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure>;
}

fn no_worker() -> Failure {
    Failure::new(crate::FailureClass::Request, "host.no-worker", "this plugin has no worker side")
}

/// Time between two reports: far less than a call may go on without progress.
const INTERVAL: Duration = Duration::from_secs(10);

/// Reports the seconds of a search or of a wait, so that the host does not give the call up. The work must have a limit of its
/// own, because a call that reports progress goes on.
#[derive(Clone)]
pub struct ProgressTimer<'h> {
    host: &'h dyn Host,
    what: &'static str,
    start: Instant,
    reported: Cell<Instant>,
}

impl<'h> ProgressTimer<'h> {
    /// A timer that starts now. `what` is the unit of the reports, such as `seconds of search`.
    pub fn new(host: &'h dyn Host, what: &'static str) -> Self {
        Self::since(host, what, Instant::now())
    }

    /// A timer of work that started at that time.
    pub fn since(host: &'h dyn Host, what: &'static str, start: Instant) -> Self {
        Self { host, what, start, reported: Cell::new(start) }
    }

    /// The host that gets the reports.
    pub const fn host(&self) -> &'h dyn Host {
        self.host
    }

    /// Reports progress if the last report is long ago. Cheap enough to be called every few milliseconds.
    pub fn tick(&self) {
        self.tick_at(Instant::now());
    }

    fn tick_at(&self, now: Instant) {
        if now.saturating_duration_since(self.reported.get()) >= INTERVAL {
            self.reported.set(now);
            self.host.progress(now.saturating_duration_since(self.start).as_secs(), 0, self.what);
        }
    }

    /// [`ProgressTimer::tick`], then [`Host::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.tick();
        self.host.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::LogLevel;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Reports(Mutex<Vec<(u64, String)>>);

    impl Host for Reports {
        fn log(&self, _level: LogLevel, _message: &str) {}
        fn progress(&self, done: u64, _total: u64, what: &str) {
            self.0.lock().unwrap().push((done, what.to_owned()));
        }
        fn cancelled(&self) -> bool {
            false
        }
        fn remaining_ms(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn progress_is_reported_every_ten_seconds() {
        let host = Reports::default();
        let timer = ProgressTimer::new(&host, "seconds of search");
        for tenths in 0..250 {
            timer.tick_at(timer.start + Duration::from_millis(tenths * 100));
        }
        let unit = || "seconds of search".to_owned();
        assert_eq!(*host.0.lock().unwrap(), [(10, unit()), (20, unit())]);
    }
}
