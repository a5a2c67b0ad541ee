//! The ranking of candidates, including those without a score (Appendix B.3), and assessments without a score.

use crate::codes;
use crate::options::{Ratings, Settings};
use planforge_contract::{Assessment, Decision, Edits, Failure, FailureClass, UndecidedReason};

/// The state of a candidate, the worst first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CandidateState {
    /// The reply that was to edit the domain had no edits.
    NothingEdited,
    /// None of its edits could be made.
    EditsRefused,
    /// An action has no effect.
    NoEffect,
    /// The texts have errors, or have no action or object of the environment.
    Invalid,
    /// One side has no applicable action initially.
    NoFirstAction,
    /// It has a score; with goals, the mean of score and goal agreement.
    Scored(f64),
    /// Its score is 1 and its plan is valid in the environment.
    Solved,
}

impl CandidateState {
    /// The rank by edits, if these decide it. In the paper's code the edits are one program, which fails with
    /// its first refused edit.
    pub(crate) fn of_edits(edits: Option<Edits>, ratings: Ratings) -> Option<Self> {
        match (edits?, ratings) {
            (Edits { applied: 0, refused: 0 }, _) => Some(Self::NothingEdited),
            (Edits { applied: 0, .. }, _) => Some(Self::EditsRefused),
            (Edits { refused: 1.., .. }, Ratings::ReferenceCode) => Some(Self::EditsRefused),
            _ => None,
        }
    }

    /// The rating; `None` if there is none.
    pub(crate) fn rating(self, ratings: Ratings) -> Option<f64> {
        let code = match ratings {
            Ratings::None => return None,
            Ratings::Paper | Ratings::WithGoals => false,
            Ratings::ReferenceCode => true,
        };
        Some(match (self, code) {
            (Self::NothingEdited, false) => -5.0,
            (Self::NothingEdited, true) => -6.0,
            (Self::EditsRefused, false) => -4.0,
            (Self::EditsRefused, true) => -5.0,
            (Self::NoEffect, false) => -3.0,
            (Self::NoEffect, true) => -4.0,
            (Self::Invalid, false) => -2.0,
            (Self::Invalid, true) => -3.0,
            (Self::NoFirstAction, _) => -1.0,
            (Self::Scored(score), _) => score,
            (Self::Solved, false) => 1.0,
            (Self::Solved, true) => 2.0,
        })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_tables() {
        let worst_first = [
            CandidateState::NothingEdited,
            CandidateState::EditsRefused,
            CandidateState::NoEffect,
            CandidateState::Invalid,
            CandidateState::NoFirstAction,
            CandidateState::Scored(0.25),
            CandidateState::Solved,
        ];
        let table = |ratings| worst_first.map(|s| s.rating(ratings).unwrap());
        assert_eq!(table(Ratings::Paper), [-5.0, -4.0, -3.0, -2.0, -1.0, 0.25, 1.0]);
        assert_eq!(table(Ratings::ReferenceCode), [-6.0, -5.0, -4.0, -3.0, -1.0, 0.25, 2.0]);
        assert_eq!(table(Ratings::WithGoals), table(Ratings::Paper));
        assert_eq!(CandidateState::Solved.rating(Ratings::None), None);
    }

    #[test]
    fn edits_that_were_made_in_part_are_measured_and_in_the_reference_code_failed() {
        let of =
            |applied, refused, ratings| CandidateState::of_edits(Some(Edits { applied, refused }), ratings);
        assert_eq!(of(0, 0, Ratings::Paper), Some(CandidateState::NothingEdited));
        assert_eq!(of(0, 2, Ratings::Paper), Some(CandidateState::EditsRefused));
        assert_eq!(of(1, 2, Ratings::Paper), None);
        assert_eq!(of(1, 2, Ratings::ReferenceCode), Some(CandidateState::EditsRefused));
        assert_eq!(of(1, 0, Ratings::ReferenceCode), None);
        assert_eq!(CandidateState::of_edits(None, Ratings::Paper), None);
    }
}
