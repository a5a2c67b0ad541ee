//! The host of a call in a check.

use crate::check::sample;
use planforge_contract::api::{Environment, EnvironmentAnswer, EnvironmentCall, Host, LogLevel, Planner};
use planforge_contract::{
    CompletionRequest, Failure, FailureClass, FinishReason, PlanOutcome, PlanRequest, Replies, Reply, Usage,
};
use planforge_plugin_sdk::testing::ask_environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Point at which the run of a check is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    Never,
    BeforeTheCall,
    /// When the plugin first asks for something.
    AtTheFirstQuestion,
}

/// Answers a plugin's questions, always in the same way.
pub(crate) struct CheckHost {
    pub(crate) environment: Option<Arc<dyn Environment>>,
    pub(crate) planner: Option<Arc<dyn Planner>>,
    /// The content of every reply; if absent, a good reply.
    pub(crate) reply: Option<String>,
    pub(crate) interruption: Interruption,
    pub(crate) timeout_ms: u64,
    pub(crate) interrupted: AtomicBool,
}

impl CheckHost {
    /// Refuses questions of an interrupted run, as a run does.
    fn check_interruption(&self) -> Result<(), Failure> {
        if self.interruption == Interruption::AtTheFirstQuestion {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        if self.cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, "host.cancelled", "the run was interrupted"));
        }
        Ok(())
    }
}

impl Host for CheckHost {
    fn complete(&self, _role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        self.check_interruption()?;
        let content = self.reply.clone().unwrap_or_else(|| {
            // Replies depend on the request, so that mixed-up answers are seen.
            let size: usize = request.messages.iter().map(|message| message.content.len()).sum();
            sample::reply(
                &request.tags.artefact,
                &format!("To {size} bytes with seed {:?}.", request.sampling.seed),
            )
        });
        let n = request.sampling.n.unwrap_or(1) as usize;
        let replies = vec![Reply::new(content, FinishReason::Stop); n];
        Ok(Replies { replies, usage: Usage::default(), model: "scripted".to_owned(), raw: String::new() })
    }

    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        self.check_interruption()?;
        match &self.environment {
            Some(environment) => {
                ask_environment(environment.as_ref(), self, &sample::environment_open(), call)
            }
            None => Err(Failure::new(FailureClass::Request, "host.no-environment", "no environment is open")),
        }
    }

    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        self.check_interruption()?;
        match &self.planner {
            Some(planner) => planner.plan(self, &request),
            None => {
                let text = format!("no plan stage has the label `{label}`");
                Err(Failure::new(FailureClass::Request, "host.no-planner", text))
            }
        }
    }

    fn log(&self, _level: LogLevel, _message: &str) {}

    fn progress(&self, _done: u64, _total: u64, _what: &str) {}

    fn cancelled(&self) -> bool {
        self.interruption == Interruption::BeforeTheCall || self.interrupted.load(Ordering::Relaxed)
    }

    fn remaining_ms(&self) -> Option<u64> {
        Some(self.timeout_ms)
    }
}
