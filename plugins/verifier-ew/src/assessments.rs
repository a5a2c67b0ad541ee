//! Assessments without a score.

use crate::codes;
use crate::options::Settings;
use crate::rating::CandidateState;
use planforge_contract::{Assessment, Decision, Failure, FailureClass, UndecidedReason};

/// Rejected, ranked by the table.
pub(crate) fn rejected_assessment(
    summary: impl Into<String>,
    standing: CandidateState,
    settings: &Settings,
) -> Assessment {
    ranked_assessment(Decision::Rejected, summary, standing, settings)
}

pub(crate) fn ranked_assessment(
    decision: Decision,
    summary: impl Into<String>,
    standing: CandidateState,
    settings: &Settings,
) -> Assessment {
    let mut assessment = Assessment::new(decision, summary);
    if let Some(rating) = standing.rating(settings.ratings) {
        assessment.metrics.insert("rating".into(), rating);
    }
    assessment
}

pub(crate) fn undecided_assessment(reason: UndecidedReason, message: String) -> Assessment {
    Assessment::new(Decision::Undecided { reason, message: message.clone() }, message)
}

/// Undecided because a limit was reached.
pub(crate) fn limit_assessment(message: String) -> Assessment {
    undecided_assessment(UndecidedReason::Limit, message)
}

/// The run is being interrupted: no verdict.
pub(crate) fn interruption_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted")
}
