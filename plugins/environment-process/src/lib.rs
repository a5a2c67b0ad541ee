//! `environment-process`: the environment is an external program in any language that answers one JSON object
//! a line. It need not know PDDL: a simulator, a game or a model of a plant that can be reset and stepped is
//! enough (exploration-walk paper, Assumption 1). `PROTOCOL.md` beside this crate describes the answers;
//! `planforge plugins try-environment -- COMMAND` tries a program.
//!
//! * If the program lists its applicable actions, walks are drawn from that list, uniformly or by coverage. If not, the actions are grounded
//!   over the objects and each is tried, which is all that the paper's assumption grants.
//! * Copies of the program are kept between calls, and each call begins at the initial state. A copy that hangs, dies, writes anything but
//!   answers or contradicts itself is killed with its child processes, its call fails, and it is never used
//!   again.
//! * The program sees only the environment variables that the options name: no key of the host reaches it.
//! * It declares the capability `external`: its answers come from outside, so the host journals them and a replay needs no program. It has
//!   no `model`.

mod check;
mod codes;
mod conversation;
mod explore;
mod interface;
mod options;
mod pool;
mod protocol;

pub use check::{Check, CheckReport, Status, check};
pub use codes::CODES;
pub use options::ProcessEnvironmentOptions;

use conversation::{Conversation, Question};
use explore::Explorer;
use interface::Interface;
use planforge_contract::ProgressTimer;
use planforge_plugin_sdk::prelude::*;
use protocol::Method;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub struct ProcessEnvironment {
    options: ProcessEnvironmentOptions,
    pool: pool::Pool,
    /// Suite and task -> interface of the program.
    known: Mutex<BTreeMap<(String, String), Arc<Interface>>>,
}

impl Plugin for ProcessEnvironment {
    type Options = ProcessEnvironmentOptions;

    fn about() -> About {
        About::new("A program outside that answers one JSON object a line: any simulator, in any language")
            .external()
            .folder("cwd")
            .command(CommandOption::new("command").setting("inherit").variables("set").folder("cwd"))
    }

    fn create(options: ProcessEnvironmentOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        if options.command.first().is_none_or(|word| word.trim().is_empty()) {
            let text = "environment-process has no `command`";
            return Err(Failure::new(FailureClass::Request, codes::OPTIONS, text)
                .help("write the program and its arguments: command = [\"python3\", \"puzzle.py\"]"));
        }
        for (name, seconds) in
            [("timeout_s", options.timeout_s), ("start_timeout_s", options.start_timeout_s)]
        {
            if !(seconds.is_finite() && seconds > 0.0) {
                let text = format!("`{name}` of environment-process is {seconds}; it must be above 0");
                return Err(Failure::new(FailureClass::Request, codes::OPTIONS, text));
            }
        }
        Ok(Self { options, pool: pool::Pool::default(), known: Mutex::default() })
    }
}

impl ProcessEnvironment {
    /// Explores a task with a program that has described it before.
    fn explore<T>(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        work: impl FnOnce(&mut Explorer<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let timer = ProgressTimer::new(host, "seconds of the environment's program");
        self.pool.with(&timer, &self.options, |conversation| {
            let interface = self.interface(&timer, task, conversation)?;
            work(&mut Explorer::new(&timer, &self.options, task, &interface, conversation))
        })
    }

    fn interface(
        &self,
        timer: &ProgressTimer<'_>,
        task: &EnvironmentOpen,
        conversation: &mut Conversation,
    ) -> Result<Arc<Interface>, Failure> {
        let key = (task.suite.clone(), task.task.clone());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interface) = known().get(&key) {
            return Ok(Arc::clone(interface));
        }
        let said = conversation.ask(timer, &self.options, task, Question::new(Method::Describe))?;
        let interface = Interface::of(&said).map_err(|why| conversation.misdescribes(&why))?;
        Ok(Arc::clone(known().entry(key).or_insert(Arc::new(interface))))
    }
}

impl Environment for ProcessEnvironment {
    fn describe(&self, host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        self.explore(host, task, |explorer| {
            let interface = explorer.interface;
            Ok(EnvironmentInfo { interface: interface.public.clone(), model: None })
        })
    }

    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure> {
        self.explore(host, task, |explorer| Ok(Walks { walks: explorer.walks(spec)? }))
    }

    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure> {
        self.explore(host, task, |explorer| {
            Ok(ExecutionReport { executions: explorer.execute_any(&sequences.sequences)? })
        })
    }

    fn validate(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        self.explore(host, task, |explorer| explorer.validate(&plan.steps))
    }

    fn describe_state(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        self.explore(host, task, |explorer| explorer.describe_state(query))
    }
}

planforge_plugin_sdk::bundle_plugin!(Environment, ProcessEnvironment);

#[cfg(test)]
mod tests;
