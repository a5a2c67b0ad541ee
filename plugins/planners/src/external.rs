//! `planner-external`: runs a planner program from a command line and reads how it ended.
//!
//! ```toml
//! [[stage]]
//! do = "plan"
//! label = "plan"
//! use = "planner-external"
//! options = { preset = "fast-downward", command = ["python3", "/opt/downward/fast-downward.py"], alias = "lama-first" }
//! limits = { time_s = 60, memory_mb = 2048 }
//! ```
//!
//! | `preset` | plans from | outcome from |
//! |---|---|---|
//! | `fast-downward` | `sas_plan`, `sas_plan.1`, ... | exit codes: 0-3 plan, 10-11 unsolvable, 12 exhausted, 20-24 limits, 34 and 37 unsupported |
//! | `k-star` | standard output | its output; "proved unsolvable" counts as exhausted only, because it also prints it for other endings |
//! | `pyperplan` | `problem.pddl.soln` | its output; "no solution" is exhausted |
//! | none | `sas_plan`, `sas_plan.1`, ... | the option `exit_codes` |
//!
//! Every call has a temporary folder and a process group, which is killed at a limit of time or output and at an interrupt. A task with
//! errors is `unreadable`, and one that uses an unsupported requirement is `unsupported`; both do not start the program. A limit is never a
//! statement about solvability. Plans found before a limit are kept. A program that breaks, prints unreadable output, announces a missing plan
//! or leaves an invalid one has failed.

mod command;
mod solve;

/// The codes of failures of an external planner.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const OPTIONS: &str = "external.options";
    pub(crate) const NOT_STARTED: &str = "external.not-started";
    pub(crate) const BROKE: &str = "external.broke";
    pub(crate) const NO_PLAN_FILE: &str = "external.no-plan-file";
    pub(crate) const WRONG_PLAN: &str = "external.wrong-plan";
    pub(crate) const FLOODED: &str = "external.flooded";
    pub(crate) const FOLDER: &str = "external.folder";
    pub(crate) const UNSUPPORTED: &str = "external.unsupported";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("external/codes.md");
}

#[cfg(test)]
mod tests;

pub use codes::CODES;
pub use command::{PRESETS, Preset, PresetInfo};

use planforge_contract::ProgressTimer;
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct ExternalPlanner {
    options: ExternalPlannerOptions,
}

impl Plugin for ExternalPlanner {
    type Options = ExternalPlannerOptions;

    fn about() -> About {
        let mut command = CommandOption::new("command").setting("arguments").variables("env");
        for preset in &PRESETS {
            command = command.usual_program("preset", preset.name, preset.program);
        }
        About::new("Runs a planner program: Fast Downward, K*, pyperplan or any other")
            .external()
            .command(command)
    }

    fn create(options: ExternalPlannerOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        command::check(&options)?;
        Ok(Self { options })
    }
}

impl Planner for ExternalPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        solve::run(&ProgressTimer::new(host, "seconds of the planner"), &self.options, request)
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_planner_external", Planner, ExternalPlanner);

/// Options of `planner-external`. The lower of these limits and those of the plan stage counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExternalPlannerOptions {
    /// A planner with a known command line. Left out: the command line is `command` and `arguments`, and the program ends with the exit
    /// codes of `exit_codes`.
    pub preset: Option<Preset>,
    /// The program and the words before its arguments, for example `["python3",
    /// "/opt/downward/fast-downward.py"]`. No shell is used. Left out: the preset's program, looked up in
    /// `PATH`.
    pub command: Vec<String>,
    /// The arguments, one a word, with the slots `{domain}`, `{problem}`, `{plan}` (paths in the run's own folder), `{k}`,
    /// `{seed}`, `{time_s}`, `{memory_mb}`, `{search}` and `{heuristic}`. They replace the preset's.
    pub arguments: Vec<String>,
    /// Fast Downward: a configuration by name, for example `lama-first` or `seq-opt-lmcut`.
    pub alias: Option<String>,
    /// Fast Downward: a search string, for example `astar(lmcut())`; pyperplan: `gbf`, `astar`, `bfs`, ...
    pub search: Option<String>,
    /// pyperplan: `hff`, `lmcut`, `hmax`, ...
    pub heuristic: Option<String>,
    /// Meaning of the exit codes of a program without preset.
    pub exit_codes: ExitCodes,
    /// True if this configuration proves its first plan cheapest. Left out: the property of the preset.
    pub optimal: Option<bool>,
    /// Executes plans on the task before they are accepted. An invalid plan is a failure of the planner; a plan
    /// that the limits leave undecided is kept without validation.
    pub validate: bool,
    /// Supported requirements besides `:strips`. A task that uses another is unsupported, and the program is
    /// not started. Left out: those of the preset; without a preset every task is tried.
    pub supports: Option<Vec<String>>,
    /// Variables of the program's environment. It gets these and the host's search path, and nothing else of the host's.
    pub env: BTreeMap<String, String>,
    /// Most seconds of wall time.
    pub time_limit_s: u32,
    /// Most mebibytes of address space, for each process.
    pub memory_limit_mb: u32,
    /// Most kibibytes that the program may print, and most of all plan files together.
    pub output_limit_kb: u32,
}

/// Meaning of a program's exit codes. An unlisted code is a failure of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExitCodes {
    /// A plan was found.
    pub plan: Vec<i32>,
    /// The task was proven to have no plan.
    pub unsolvable: Vec<i32>,
    /// No plan was found, which proves nothing.
    pub exhausted: Vec<i32>,
    /// The program's own time limit.
    pub time: Vec<i32>,
    /// The program's own memory limit.
    pub memory: Vec<i32>,
    /// Something in the task that the program does not plan for.
    pub unsupported: Vec<i32>,
}

impl Default for ExitCodes {
    fn default() -> Self {
        Self {
            plan: vec![0],
            unsolvable: Vec::new(),
            exhausted: Vec::new(),
            time: Vec::new(),
            memory: Vec::new(),
            unsupported: Vec::new(),
        }
    }
}

impl Default for ExternalPlannerOptions {
    fn default() -> Self {
        Self {
            preset: None,
            command: Vec::new(),
            arguments: Vec::new(),
            alias: None,
            search: None,
            heuristic: None,
            exit_codes: ExitCodes::default(),
            optimal: None,
            validate: true,
            supports: None,
            env: BTreeMap::new(),
            time_limit_s: 300,
            memory_limit_mb: 4096,
            output_limit_kb: 16 * 1024,
        }
    }
}
