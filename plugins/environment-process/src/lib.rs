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
mod conversation;
mod explore;
mod interface;
mod protocol;

pub use check::{Check, CheckReport, Status, check};
pub use codes::CODES;

use conversation::{Conversation, Pool, Question};
use explore::Explorer;
use interface::Interface;
use planforge_child::{CommandSpec, Limits, USUAL_VARIABLES};
use planforge_contract::ProgressTimer;
use planforge_plugin_sdk::prelude::*;
use protocol::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub struct ProcessEnvironment {
    options: ProcessEnvironmentOptions,
    pool: Pool,
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
        Ok(Self { options, pool: Pool::default(), known: Mutex::default() })
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

/// Options of `environment-process`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = require_command)]
pub struct ProcessEnvironmentOptions {
    /// The program and its arguments, one word an entry: `["python3", "puzzle.py"]`. No shell is used. A
    /// program without a slash is looked up in `PATH`; paths are relative to `cwd`.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// The folder that the program is started in, relative to the pipeline file; by default the pipeline file's own.
    pub cwd: String,
    /// Seconds that the program may take for one answer.
    #[schemars(range(min = 0.001, max = 86400.0))]
    pub timeout_s: f64,
    /// Seconds that it may take for its first answer, which includes its start.
    #[schemars(range(min = 0.001, max = 86400.0))]
    pub start_timeout_s: f64,
    /// Megabytes (2^20 bytes) of address space for each of its processes; 0 for no limit.
    pub memory_mb: u64,
    /// Kilobytes (2^10 bytes) of one answer at most.
    #[schemars(range(min = 1, max = 1048576))]
    pub answer_kb: u64,
    /// Kilobytes (2^10 bytes) that it may write to its standard error between two answers.
    #[schemars(range(min = 1, max = 1048576))]
    pub errors_kb: u64,
    /// Most copies of the program that run at a time.
    #[schemars(range(min = 1, max = 256))]
    pub processes: u32,
    /// Most ground actions, if the program cannot list the applicable ones and every ground action has to be
    /// tried.
    #[schemars(range(min = 1))]
    pub max_ground_actions: u64,
    /// Environment variables that the program inherits, by name. It sees only these and those of `set`.
    pub inherit: Vec<String>,
    /// Environment variables that are set for the program. Write no secret here: pipeline files are recorded.
    pub set: BTreeMap<String, String>,
}

impl Default for ProcessEnvironmentOptions {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            cwd: String::new(),
            timeout_s: 10.0,
            start_timeout_s: 30.0,
            memory_mb: 4096,
            answer_kb: 16 << 10,
            errors_kb: 16 << 10,
            processes: 4,
            max_ground_actions: 10_000,
            inherit: USUAL_VARIABLES.iter().map(|name| (*name).to_owned()).collect(),
            set: BTreeMap::new(),
        }
    }
}

/// States in the schema that `command` has no default.
fn require_command(schema: &mut schemars::Schema) {
    let command = schema.get_mut("properties").and_then(|properties| properties.get_mut("command"));
    if let Some(command) = command.and_then(serde_json::Value::as_object_mut) {
        command.remove("default");
    }
    schema.insert("required".to_owned(), serde_json::json!(["command"]));
}

impl ProcessEnvironmentOptions {
    /// The command that starts the program.
    pub(crate) fn spec(&self) -> CommandSpec {
        let mut words = self.command.iter();
        let mut spec = CommandSpec::new(words.next().map_or("", String::as_str)).arguments(words);
        if !self.cwd.is_empty() {
            spec = spec.folder(&self.cwd);
        }
        spec.environment =
            planforge_child::Environment::Only { handed_on: self.inherit.clone(), set: self.set.clone() };
        spec
    }

    /// The resource limits of the program.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            memory_bytes: (self.memory_mb > 0).then(|| self.memory_mb.saturating_mul(1 << 20)),
            output_bytes: self.answer_kb.saturating_mul(1 << 10),
            error_bytes: self.errors_kb.saturating_mul(1 << 10),
            ..Limits::default()
        }
    }

    /// The time for an answer, or for the first.
    pub(crate) fn patience(&self, first: bool) -> Duration {
        let seconds = if first { self.start_timeout_s } else { self.timeout_s };
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(60))
    }
}

/// The codes of this plugin's failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const OPTIONS: &str = "process.options";
    pub(crate) const START: &str = "process.start";
    pub(crate) const DIED: &str = "process.died";
    pub(crate) const SILENT: &str = "process.silent";
    pub(crate) const LIMIT: &str = "process.limit";
    pub(crate) const PROTOCOL: &str = "process.protocol";
    pub(crate) const ERROR: &str = "process.error";
    pub(crate) const CONTRADICTION: &str = "process.contradiction";
    pub(crate) const TOO_MANY: &str = "process.too-many-actions";
    pub(crate) const NOT_EXECUTABLE: &str = "process.not-executable";
    pub(crate) const STOPPED: &str = "process.stopped";

    /// The way out that nearly all of them share.
    pub(crate) const CHECK: &str =
        "try the program by itself with `planforge plugins try-environment -- COMMAND`";

    /// A help text followed by the one that all failures share.
    pub(crate) fn or_check(way: &str) -> String {
        format!("{way}; {CHECK}")
    }

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("codes.md");
}

#[cfg(test)]
mod tests;
