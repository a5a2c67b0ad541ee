//! `planner-classical`: grounds the task and searches its states in process.
//!
//! | `search` | finds | proves cheapest |
//! |---|---|---|
//! | `greedy` | a plan, quickly | no |
//! | `astar` | a cheapest plan, with LM-cut; blind where LM-cut does not apply, which the statistics report | yes |
//! | `bfs` | a plan with the fewest steps | if steps are the cost |
//! | `top-k`, or `k` above 1 | the `k` cheapest distinct plans in order, fewer only if there are no others | yes |
//!
//! A task with errors is `unreadable`, a construct that the searches do not handle is `unsupported`, and a
//! limit (of the stage, of the options, of the host's deadline, or an interrupt) is `limit-reached`. None of
//! these is a statement about solvability. A task proven to have no plan comes with an explanation by delete
//! relaxation.

mod budget;
mod codes;
mod options;
mod report;
mod solve;
mod top_k;

pub use codes::CODES;
pub use options::{ClassicalPlannerOptions, Search};

use planforge_plugin_sdk::prelude::*;

/// Supported requirements besides `:strips`.
pub const SUPPORTS: [&str; 9] = [
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":conditional-effects",
    ":action-costs",
    ":derived-predicates",
];

#[derive(Debug)]
pub struct ClassicalPlanner {
    options: ClassicalPlannerOptions,
}

impl Plugin for ClassicalPlanner {
    type Options = ClassicalPlannerOptions;

    fn about() -> About {
        About::new(
            "Grounding and state-space search: greedy, A* with LM-cut, breadth-first, the k cheapest plans",
        )
    }

    fn create(options: ClassicalPlannerOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options })
    }
}

impl Planner for ClassicalPlanner {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        Ok(solve::run(host, &self.options, request))
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_planner_classical", Planner, ClassicalPlanner);

#[cfg(test)]
mod tests;
