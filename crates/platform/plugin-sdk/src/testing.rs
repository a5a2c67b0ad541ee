//! Helpers for tests of plugins: a host with scripted answers and recorded questions, servers of models with scripted answers, and the
//! requirements on every provider.

mod providers;
pub mod scripted;
mod service;

pub use providers::{CreateProvider, provider_conformance};
pub use service::{ANSWER_MODEL, AnswerEnd, AnswerPart, ServiceError, ServiceInterface};

use crate::rights::{self, Question};
use planforge_contract::api::{Environment, EnvironmentAnswer, EnvironmentCall, Host, LogLevel, Planner};
use planforge_contract::{
    Capabilities, CompletionRequest, EnvironmentOpen, Failure, FailureClass, FinishReason, PlanOutcome,
    PlanRequest, PluginKind, Replies, Reply, Usage,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type WorkerFunction = dyn Fn(&str) -> Result<String, Failure> + Send + Sync;

/// A host for tests. It gives scripted replies in order, role by role. A request without a scripted reply
/// fails with `testing.no-reply`, so that a test cannot pass on an unexpected request.
#[derive(Default)]
pub struct TestHost {
    rights: Option<(PluginKind, Capabilities)>,
    environment: Option<(Arc<dyn Environment>, EnvironmentOpen)>,
    planners: BTreeMap<String, Arc<dyn Planner>>,
    worker: Option<Box<WorkerFunction>>,
    remaining_ms: Option<u64>,
    is_cancelled_by_progress: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    replies: BTreeMap<String, VecDeque<Result<Reply, Failure>>>,
    requests: Vec<(String, CompletionRequest)>,
    logs: Vec<(LogLevel, String)>,
    progress: Vec<(u64, u64, String)>,
    cancelled: bool,
}

impl TestHost {
    /// A host that allows every question.
    pub fn new() -> Self {
        Self::default()
    }
    /// A host that allows what the real one allows to plugins of that kind without optional capabilities.
    pub fn for_kind(kind: PluginKind) -> Self {
        Self::for_capabilities(kind, Capabilities::default())
    }
    /// A host that allows what the real one allows to plugins of that kind with these capabilities.
    pub fn for_capabilities(kind: PluginKind, capabilities: Capabilities) -> Self {
        Self { rights: Some((kind, capabilities)), ..Self::default() }
    }
    /// Scripts the role's next reply.
    #[must_use]
    pub fn reply(self, role: &str, content: &str) -> Self {
        self.answer(role, Ok(Reply::new(content, FinishReason::Stop)))
    }
    /// Scripts the role's next answer, a failure too.
    #[must_use]
    pub fn answer(self, role: &str, answer: Result<Reply, Failure>) -> Self {
        self.state().replies.entry(role.to_owned()).or_default().push_back(answer);
        self
    }
    /// Opens an environment on a task.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>, task: EnvironmentOpen) -> Self {
        self.environment = Some((environment, task));
        self
    }
    /// Sets the planner behind the label of a plan stage.
    #[must_use]
    pub fn planner(mut self, label: &str, planner: Arc<dyn Planner>) -> Self {
        self.planners.insert(label.to_owned(), planner);
        self
    }
    /// Plays the child process.
    #[must_use]
    pub fn worker(mut self, work: impl Fn(&str) -> Result<String, Failure> + Send + Sync + 'static) -> Self {
        self.worker = Some(Box::new(work));
        self
    }
    /// Sets the constant answer of [`Host::remaining_ms`].
    #[must_use]
    pub fn remaining_ms(mut self, left: u64) -> Self {
        self.remaining_ms = Some(left);
        self
    }
    /// Interrupts the run at the first report of progress.
    #[must_use]
    pub fn cancel_at_progress(mut self) -> Self {
        self.is_cancelled_by_progress = true;
        self
    }
    /// Interrupts the run.
    pub fn cancel(&self) {
        self.state().cancelled = true;
    }
    /// All completion requests with their roles, in order.
    pub fn requests(&self) -> Vec<(String, CompletionRequest)> {
        self.state().requests.clone()
    }
    /// Every log line, in order.
    pub fn logs(&self) -> Vec<(LogLevel, String)> {
        self.state().logs.clone()
    }
    /// Every progress report, in order.
    pub fn progress_reports(&self) -> Vec<(u64, u64, String)> {
        self.state().progress.clone()
    }
    /// Number of scripted replies that were not requested.
    pub fn left_over(&self) -> usize {
        self.state().replies.values().map(VecDeque::len).sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn check(&self, question: Question) -> Result<(), Failure> {
        match &self.rights {
            Some((kind, capabilities)) if !rights::may(*kind, capabilities, question) => {
                Err(Failure::forbidden(question.name()))
            }
            _ => Ok(()),
        }
    }
}

impl Host for TestHost {
    fn complete(&self, role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        self.check(Question::Complete)?;
        let mut state = self.state();
        let n = request.sampling.n.unwrap_or(1);
        state.requests.push((role.to_owned(), request));
        let mut replies = Vec::new();
        for _ in 0..n {
            let next = state.replies.get_mut(role).and_then(VecDeque::pop_front);
            replies.push(next.unwrap_or_else(|| {
                let message = format!("no further reply is scripted for the role `{role}`");
                Err(Failure::new(FailureClass::Provider, "testing.no-reply", message))
            })?);
        }
        Ok(Replies { replies, usage: Usage::default(), model: "scripted".into(), raw: String::new() })
    }
    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        self.check(Question::Environment)?;
        let Some((environment, task)) = &self.environment else {
            return Err(Failure::new(FailureClass::Request, "host.no-environment", "no environment is open"));
        };
        ask_environment(environment.as_ref(), self, task, call)
    }
    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        self.check(Question::Plan)?;
        let planner = self.planners.get(label).ok_or_else(|| {
            Failure::new(
                FailureClass::Request,
                "host.no-planner",
                format!("no plan stage has the label `{label}`"),
            )
        })?;
        planner.plan(self, &request)
    }
    fn worker(&self, input: &str) -> Result<String, Failure> {
        self.check(Question::Worker)?;
        match &self.worker {
            Some(work) => work(input),
            None => Err(Failure::new(FailureClass::Request, "host.no-worker", "no worker is scripted")),
        }
    }
    fn log(&self, level: LogLevel, message: &str) {
        self.state().logs.push((level, message.to_owned()));
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        let mut state = self.state();
        state.progress.push((done, total, what.to_owned()));
        state.cancelled |= self.is_cancelled_by_progress;
    }
    fn cancelled(&self) -> bool {
        self.state().cancelled
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.remaining_ms
    }
}

/// Puts a call to the method of the same name.
///
/// # Errors
/// Failure of the environment.
pub fn ask_environment(
    environment: &dyn Environment,
    host: &dyn Host,
    task: &EnvironmentOpen,
    call: EnvironmentCall,
) -> Result<EnvironmentAnswer, Failure> {
    Ok(match call {
        EnvironmentCall::Describe => EnvironmentAnswer::Describe(environment.describe(host, task)?),
        EnvironmentCall::Walks(spec) => EnvironmentAnswer::Walks(environment.walks(host, task, &spec)?),
        EnvironmentCall::Execute(s) => EnvironmentAnswer::Execute(environment.execute(host, task, &s)?),
        EnvironmentCall::Validate(plan) => {
            EnvironmentAnswer::Validate(environment.validate(host, task, &plan)?)
        }
        EnvironmentCall::DescribeState(query) => {
            EnvironmentAnswer::DescribeState(environment.describe_state(host, task, &query)?)
        }
    })
}
