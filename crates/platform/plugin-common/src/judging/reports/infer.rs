//! The output of `planforge pddl infer --json`.

use planforge_contract::{Inference, ReportedDiagnostic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An inferred problem, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferReport {
    /// `inferred`; `refused` where statements cannot be used, `conflict` where constraints are violated, `ambiguous` where several different
    /// problems follow, `not-compiled` where what follows is no problem of the domain; `undecided` where a limit was met; `failed`.
    pub decision: String,
    /// The problem, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Provenance of its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inference: Option<Inference>,
    /// Reason why there is none, as one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Findings in the representation, the knowledge file and the problem.
    #[serde(default)]
    pub diagnostics: Vec<ReportedDiagnostic>,
}
