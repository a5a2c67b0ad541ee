//! The output of `planforge pddl plan --json`.

use planforge_contract::{PlanDocument, PlanOutcome, ReportedDiagnostic, SearchStatistics};
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

impl PlanReport {
    /// Reports an outcome, with the findings of reading the task before its own.
    pub fn new(outcome: PlanOutcome, mut found: Vec<ReportedDiagnostic>) -> Self {
        let mut report = Self {
            outcome: outcome.name().to_owned(),
            plans: Vec::new(),
            explanation: Vec::new(),
            diagnostics: Vec::new(),
            optimal: false,
            statistics: SearchStatistics::default(),
        };
        match outcome {
            PlanOutcome::Plan { plans, optimal, statistics } => {
                report.plans = plans;
                report.optimal = optimal;
                report.statistics = statistics;
            }
            PlanOutcome::ProvenUnsolvable { explanation, statistics }
            | PlanOutcome::Exhausted { explanation, statistics } => {
                report.explanation = explanation;
                report.statistics = statistics;
            }
            PlanOutcome::LimitReached { message, plans, statistics, .. } => {
                report.explanation = vec![message];
                report.plans = plans;
                report.statistics = statistics;
            }
            PlanOutcome::Unsupported { diagnostics } | PlanOutcome::Unreadable { diagnostics } => {
                found.extend(diagnostics);
            }
        }
        report.diagnostics = found;
        report
    }
}
