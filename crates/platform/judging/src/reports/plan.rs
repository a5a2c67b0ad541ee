//! The output of `planforge pddl plan --json`.

use planforge_contract::{PlanDocument, ReportedDiagnostic, SearchStatistics};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `planforge pddl plan --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanReport {
    /// [`PlanOutcome::name`](planforge_contract::PlanOutcome::name).
    pub outcome: String,
    /// Best first; empty where there is none.
    pub plans: Vec<PlanDocument>,
    /// Why there is none, or what could not be read.
    #[serde(default)]
    pub explanation: Vec<String>,
    /// What is wrong with the task, warnings included.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Whether the first plan is proven cheapest.
    #[serde(default)]
    pub optimal: bool,
    /// About the search.
    #[serde(default)]
    pub statistics: SearchStatistics,
}
