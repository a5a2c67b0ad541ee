//! Parts that the answers of several tools have, and failures of tool calls. `planforge explain` explains their codes.

use planforge_app::Error;
use planforge_app::contract::{Failure, FailureClass, ReportedDiagnostic, ReportedSeverity};
use planforge_app::pddl::validate::{FailedCondition, ToldPlan};
use schemars::JsonSchema;
use serde::Serialize;

/// Most diagnostics of an answer; the rest is counted.
const MOST_DIAGNOSTICS: usize = 100;

/// Most steps of a plan, or differences of domains, that an answer tells in sentences.
pub(crate) const MOST_TOLD: usize = 200;

/// A plan in sentences, a line each: the result, what the first 200 steps change, and the reason of a refusal.
pub(crate) fn plan_in_words(told: Option<ToldPlan>) -> Vec<String> {
    let Some(mut told) = told else { return Vec::new() };
    told.steps.truncate(MOST_TOLD);
    told.to_string().lines().map(str::to_owned).collect()
}

/// Findings about the texts, errors first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Findings {
    /// Errors: the texts cannot be used unchanged.
    pub(crate) errors: usize,
    /// Warnings.
    pub(crate) warnings: usize,
    /// Each finding with its code, place and suggested actions, errors first; at most 100. The tool `explain` explains a code.
    pub(crate) diagnostics: Vec<ReportedDiagnostic>,
    /// Findings beyond these.
    pub(crate) omitted: usize,
}

impl Findings {
    pub(crate) fn new(mut diagnostics: Vec<ReportedDiagnostic>) -> Self {
        diagnostics.sort_by_key(|d| std::cmp::Reverse(d.severity));
        let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
        let (errors, warnings) = (count(ReportedSeverity::Error), count(ReportedSeverity::Warning));
        let omitted = diagnostics.len().saturating_sub(MOST_DIAGNOSTICS);
        diagnostics.truncate(MOST_DIAGNOSTICS);
        Self { errors, warnings, diagnostics, omitted }
    }
}

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct UnmetCondition {
    /// The condition with its objects, as PDDL.
    needs: String,
    /// Reason why it does not hold, as a clause.
    why: String,
    /// The change that would make it hold, as a clause.
    remedy: String,
}

impl UnmetCondition {
    pub(crate) fn of(condition: &FailedCondition) -> Self {
        Self { needs: condition.text.clone(), why: condition.why.clone(), remedy: condition.remedy.clone() }
    }
}

/// A mistake in the arguments of a call.
pub(crate) fn wrong_arguments(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "mcp.arguments", message)
}

/// The failure of a cancelled call.
pub(crate) fn cancelled() -> Failure {
    Failure::new(FailureClass::Cancelled, "mcp.cancelled", "the call was cancelled")
}

/// The failure of a file that is not read.
pub(crate) fn file_failure(path: &str, why: &str) -> Failure {
    let message = format!("`{path}` cannot be read: {why}");
    Failure::new(FailureClass::Request, "mcp.file", message)
        .help("name a file under a root that the client grants, or pass the text itself")
}

/// The failure of a client that cannot do what the call needs.
pub(crate) fn client_failure(message: impl Into<String>) -> Failure {
    Failure::new(FailureClass::Request, "mcp.client", message)
}

/// The failure of a use case. Findings in the texts of a call are mistakes in its arguments.
pub(crate) fn use_case_failure(error: &Error) -> Failure {
    let mut failure = error.to_failure();
    if error.failures_found().next().is_none() {
        failure.code = "mcp.arguments".into();
    }
    failure
}
