//! The output of `planforge pddl plan --json`.

use planforge_contract::{PlanDocument, ReportedDiagnostic, SearchStatistics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A planner's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    /// [`PlanOutcome::name`](planforge_contract::PlanOutcome::name).
    pub outcome: String,
    /// Best first; empty where there is none.
    pub plans: Vec<PlanDocument>,
    /// Reasons why there is none, or errors of unreadable files.
    #[serde(default)]
    pub explanation: Vec<String>,
    /// Findings about the task, warnings included.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// True if the first plan is proven cheapest.
    #[serde(default)]
    pub optimal: bool,
    /// About the search.
    #[serde(default)]
    pub statistics: SearchStatistics,
}
