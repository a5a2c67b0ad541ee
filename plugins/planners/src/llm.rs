//! `planner-llm`: a language model (role `planner`) writes the plan, with or without reasoning first.
//!
//! The question holds the domain and the problem as PDDL, else their texts and the action interface. The plan
//! is read strictly from the last code block tagged `plan` (accepted forms: `read.rs` and `planforge explain
//! planner.unreadable-step`). A reply without a readable plan is a failure of the planner and says nothing
//! about the task. A readable plan is not assumed to be valid: a verify stage judges it.
//!
//! [`explain_request`] and [`explanation`] serve `--explain-plan`: a model explains a validated plan in plain
//! language.

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
pub use options::LlmPlannerOptions;

use planforge_plugin_sdk::prelude::*;

#[derive(Debug)]
pub struct LlmPlanner {
    options: LlmPlannerOptions,
    prompts: prompt::Prompts,
}

impl Plugin for LlmPlanner {
    type Options = LlmPlannerOptions;

    fn about() -> About {
        About::new("A language model writes the plan by itself")
            .role(plan::ROLE, "writes the plan")
            .requests(1)
    }

    fn create(options: LlmPlannerOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, prompts: prompt::Prompts::new()? })
    }
}

impl Planner for LlmPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        plan::run(host, &self.options, &self.prompts, request)
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_planner_llm", Planner, LlmPlanner);

#[cfg(test)]
mod tests;
