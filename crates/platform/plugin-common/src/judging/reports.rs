//! Reports of commands: the objects that `planforge COMMAND --json` prints.

mod domains;
mod ew;
mod graph;
mod infer;
mod plan;
mod problems;
mod validate;

pub use domains::{
    ComparedProblem, DomainCostDifference, DomainEquivalentReport, DomainReconstructionError, MatchedAction,
    MatchedInterface,
};
pub use ew::{EwInterval, EwReport};
pub use graph::{StateGraphEdge, StateGraphPlan, StateGraphReport, StateGraphState};
pub use infer::InferReport;
pub use plan::PlanReport;
pub use problems::{AddedGoalFacts, EquivalentDifference, EquivalentReport, EquivalentWitness};
pub use validate::ValidateReport;

planforge_contract::documents! {
    PlanReport = "plan-report" @ 1;
    ValidateReport = "validate-report" @ 1;
    EwReport = "ew-report" @ 1;
    EquivalentReport = "equivalent-report" @ 1;
    DomainEquivalentReport = "domain-equivalent-report" @ 1;
    StateGraphReport = "state-graph-report" @ 1;
    InferReport = "infer-report" @ 1;
}
