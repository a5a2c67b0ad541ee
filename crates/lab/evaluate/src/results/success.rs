//! Success of a task for one question: for, against, or open with a reason.

use super::outcome::{ProblemOutcome, TaskOutcome};
use super::task::TaskResult;
use serde::Serialize;

/// The answer of a task for a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountsAs {
    For,
    Against,
    Open(OpenReason),
}

/// The reason why nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenReason {
    /// A limit, an unsupported construct, a missing input.
    Undecided,
    /// The question makes no sense for what was written.
    NotComparable,
    /// Something broke.
    Failed,
    /// It was not run to an end.
    Unfinished,
}

impl OpenReason {
    /// All of them, with the letter and the word that tables have for each.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Undecided, "u", "undecided"),
        (Self::NotComparable, "c", "not comparable"),
        (Self::Failed, "f", "failed"),
        (Self::Unfinished, "o", "not run"),
    ];
}

pub(crate) fn counts_as(outcome: Option<ProblemOutcome>) -> CountsAs {
    match outcome {
        Some(ProblemOutcome::Equivalent) => CountsAs::For,
        Some(ProblemOutcome::Different | ProblemOutcome::Missing) => CountsAs::Against,
        Some(ProblemOutcome::NotComparable) => CountsAs::Open(OpenReason::NotComparable),
        Some(ProblemOutcome::Failed) => CountsAs::Open(OpenReason::Failed),
        Some(ProblemOutcome::Unfinished) => CountsAs::Open(OpenReason::Unfinished),
        Some(ProblemOutcome::Undecided) | None => CountsAs::Open(OpenReason::Undecided),
    }
}

pub(crate) fn counts_as_solved(task: &TaskResult) -> CountsAs {
    match task.outcome {
        TaskOutcome::Solved => CountsAs::For,
        // The environment has the reference's names alone.
        _ if task.solved_renamed => CountsAs::For,
        TaskOutcome::NotSolved => CountsAs::Against,
        // Without a problem there is nothing to solve, and asking again brings the same reply.
        _ if task.problem == Some(ProblemOutcome::Missing) => CountsAs::Against,
        TaskOutcome::Undecided => CountsAs::Open(OpenReason::Undecided),
        TaskOutcome::Failed => CountsAs::Open(OpenReason::Failed),
        TaskOutcome::Unfinished => CountsAs::Open(OpenReason::Unfinished),
    }
}
