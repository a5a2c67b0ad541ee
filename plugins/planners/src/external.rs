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

mod codes;
mod command;
mod options;
mod plans;
mod presets;
mod solve;

pub use codes::CODES;
pub use options::{ExitCodes, ExternalPlannerOptions};
pub use presets::{PRESETS, Preset, PresetInfo};

use planforge_contract::ProgressTimer;
use planforge_plugin_sdk::prelude::*;

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

#[cfg(test)]
mod tests;
