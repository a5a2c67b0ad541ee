//! The options of the plugin.

use planforge_child::{CommandSpec, Environment, Limits, USUAL_VARIABLES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

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
        spec.environment = Environment::Only { handed_on: self.inherit.clone(), set: self.set.clone() };
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
