//! `planner-llm`: a language model (role `planner`) writes the plan by itself, with or without thinking aloud first.
//!
//! The question holds what there is: the domain and the problem as PDDL, else their texts and the action interface. The plan is
//! read strictly from the last code block tagged `plan` (the forms that are read: see `read.rs`, and
//! `planforge explain planner.unreadable-step`). A reply without a readable plan is a failure of the planner and says nothing
//! about the task. A plan that was read is never taken for right: a verify stage judges it.
//!
//! [`explain_request`] and [`explanation`] serve `--explain-plan`: a role tells a validated plan in plain language.

mod claims;
mod codes;
mod explain;
mod options;
mod plan;
mod prompt;
mod read;
mod rules;

pub use codes::CODES;
pub use explain::{EXPLAINER, explain_request, explanation};
pub use options::Options;

use planforge_plugin_sdk::prelude::*;

/// The plugin.
#[derive(Debug)]
pub struct LlmPlanner {
    options: Options,
    prompts: prompt::Prompts,
}

impl Plugin for LlmPlanner {
    type Options = Options;

    fn about() -> About {
        About::new("A language model writes the plan by itself")
            .role(plan::ROLE, "writes the plan")
            .requests(1)
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Planner for LlmPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        plan::run(host, &self.options, &self.prompts, request)
    }
}

planforge_plugin_sdk::export_plugin!(Planner, LlmPlanner);

#[cfg(test)]
mod tests;
