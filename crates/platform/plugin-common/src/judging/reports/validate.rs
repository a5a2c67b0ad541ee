//! The output of `planforge pddl validate --json` and `planforge check --json`.

use planforge_contract::ReportedDiagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Validity of PDDL, a plan or a pipeline file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidateReport {
    /// True only for `accepted`.
    pub valid: bool,
    /// accepted, rejected or undecided.
    pub decision: String,
    /// Everything found, warnings included.
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// The plan's cost, where a plan was judged and has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}
