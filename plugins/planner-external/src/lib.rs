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
//! | `preset` | plans from | how it ended |
//! |---|---|---|
//! | `fast-downward` | `sas_plan`, `sas_plan.1`, ... | exit codes: 0-3 plan, 10-11 unsolvable, 12 exhausted, 20-24 limits, 34 and 37 unsupported |
//! | `k-star` | standard output | what it prints; "proved unsolvable" is believed as exhausted only, for it says so of other endings too |
//! | `pyperplan` | `problem.pddl.soln` | what it prints; "no solution" is exhausted |
//! | none | `sas_plan`, `sas_plan.1`, ... | the option `exit_codes` |
//!
//! Every call has a folder of its own, which is gone afterwards, and a process group of its own, which is killed whole at a limit
//! of time or output and at an interrupt. A task with errors is `unreadable` and one that uses what the program does not support
//! is `unsupported`, both without starting it; a limit is never a statement about solvability. Plans that the program found
//! before a limit are kept. A program that breaks, prints rubbish, announces a plan that is not there or leaves one that does not
//! hold on the task is a failure of the program.

mod codes;
mod command;
mod options;
mod plans;
mod presets;
mod solve;

pub use codes::CODES;
pub use options::{ExitCodes, Options};
pub use presets::{PRESETS, Preset, PresetInfo};

use planforge_plugin_sdk::prelude::*;

/// The plugin.
#[derive(Debug)]
pub struct ExternalPlanner {
    options: Options,
}

impl Plugin for ExternalPlanner {
    type Options = Options;

    fn about() -> About {
        About::new("Runs a planner program: Fast Downward, K*, pyperplan or any other").external()
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        command::check(&options)?;
        Ok(Self { options })
    }
}

impl Planner for ExternalPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        solve::run(host, &self.options, request)
    }
}

planforge_plugin_sdk::export_plugin!(Planner, ExternalPlanner);

#[cfg(test)]
mod tests;
