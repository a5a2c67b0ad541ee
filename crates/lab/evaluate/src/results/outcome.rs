//! Outcomes of a task, and of its written problem and domain.

use planforge_record::TaskVerdict;
use serde::{Deserialize, Serialize};

/// The outcome of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskOutcome {
    /// The plan was found valid (in the environment, where the pipeline asks it).
    Solved,
    /// There is a verdict, and it is negative.
    NotSolved,
    /// Open because of a limit, an unsupported construct or a missing input.
    Undecided,
    /// Something broke.
    Failed,
    /// The run has not reached it.
    Unfinished,
}

impl TaskOutcome {
    /// The outcome for a verdict; a task without one is unfinished.
    pub const fn of(verdict: Option<&TaskVerdict>) -> Self {
        match verdict {
            None => Self::Unfinished,
            Some(TaskVerdict::Accepted) => Self::Solved,
            Some(
                TaskVerdict::Rejected { .. } | TaskVerdict::Unsolvable { .. } | TaskVerdict::Unusable { .. },
            ) => Self::NotSolved,
            Some(TaskVerdict::Undecided { .. }) => Self::Undecided,
            Some(TaskVerdict::Failed { .. }) => Self::Failed,
        }
    }

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::NotSolved => "not solved",
            Self::Undecided => "undecided",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// The answer to one question about a task's problem, such as equality with the reference or validity as
/// PDDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemOutcome {
    /// Yes.
    Equivalent,
    /// No.
    Different,
    /// No reply held a problem. This is an answer, not a breakage: the same reply would come again.
    Missing,
    /// Open because of a limit or an unsupported construct.
    Undecided,
    /// The question does not apply, because the candidate's domain differs.
    NotComparable,
    /// Something broke.
    Failed,
    /// The run has not reached it.
    Unfinished,
}

impl ProblemOutcome {
    pub const ALL: [Self; 7] = [
        Self::Equivalent,
        Self::Different,
        Self::Missing,
        Self::Undecided,
        Self::NotComparable,
        Self::Failed,
        Self::Unfinished,
    ];

    /// The word used in tables of equivalence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equivalent => "equivalent",
            Self::Different => "different",
            Self::Missing => "no problem",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Answers about the domain that was written for a task (test-time-scaling paper, Table 2). In each,
/// `Equivalent` is yes, `Different` is no, and `Missing` means that no reply held a domain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainOutcome {
    /// Acceptance by VAL's Parser, the paper's criterion; absent if no stage uses VAL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub val: Option<ProblemOutcome>,
    /// Acceptance by planforge's reader; absent if no stage checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front_end: Option<ProblemOutcome>,
    /// `Equivalent` for a walk score of 1; absent if no stage walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<ProblemOutcome>,
    /// Equality with the reference domain; absent if no stage compares domains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<ProblemOutcome>,
    /// True if a parser accepts the domain and no action has an effect: a copy of the given interface, for
    /// example. The answers of parsers are then no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty: bool,
}

impl DomainOutcome {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
