//! Criteria of success, and rules that pair runs of one task.

use crate::results::CountsAs;
use crate::results::{Judges, OpenReason, TaskResult, counts_as, counts_as_solved};
use serde::{Deserialize, Serialize};

/// The criterion of success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// The task is solved: by the environment's word on the plan where the pipeline asks it, else by the task's verdict.
    #[default]
    Solved,
    /// The problem is the reference problem.
    Problem,
    /// The problem is valid PDDL.
    Valid,
    /// VAL's Parser accepts what was written.
    Val,
    /// planforge's reader accepts the domain.
    FrontEnd,
    /// The walk score is 1.
    Walk,
    /// The domain is the reference domain.
    Domain,
    /// A reply's action behaves as the reference's. Its observations are replies for actions ([`super::Observed::by_action`]).
    Classes,
}

impl Question {
    /// The meaning of a yes, in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Problem => "problem is the reference",
            Self::Valid => "problem is valid PDDL",
            Self::Val => "accepted by VAL's Parser",
            Self::FrontEnd => "accepted by planforge's reader",
            Self::Walk => "walk score 1",
            Self::Domain => "domain is the reference",
            Self::Classes => "action is equivalent",
        }
    }

    /// True if some stage answers it for this task.
    pub(super) fn is_asked(self, task: &TaskResult) -> bool {
        match self {
            Self::Solved => true,
            Self::Problem | Self::Classes => task.problem.is_some(),
            Self::Valid => task.valid.is_some(),
            Self::Val => task.domain.val.is_some(),
            Self::FrontEnd => task.domain.front_end.is_some(),
            Self::Walk => task.domain.walk.is_some(),
            Self::Domain => task.domain.same.is_some(),
        }
    }

    /// The answer for a task.
    pub(super) fn answer(self, task: &TaskResult) -> CountsAs {
        match self {
            Self::Solved => counts_as_solved(task),
            Self::Problem | Self::Classes => counts_as(task.problem),
            Self::Valid => counts_as(task.valid),
            Self::Val => counts_as(task.domain.val),
            Self::FrontEnd => counts_as(task.domain.front_end),
            Self::Walk => counts_as(task.domain.walk),
            Self::Domain => counts_as(task.domain.same),
        }
    }

    /// The stage that answers it.
    pub(super) fn stage(self, judges: &Judges) -> Option<&String> {
        match self {
            Self::Solved => judges.solved_by.as_ref(),
            Self::Problem => judges.equivalent.as_ref(),
            Self::Valid => judges.valid.as_ref(),
            Self::Val => judges.val.as_ref(),
            Self::FrontEnd => judges.reads.as_ref(),
            Self::Walk => judges.walk.as_ref(),
            Self::Domain => judges.same_domain.as_ref(),
            Self::Classes => judges.classes.as_ref().map(|stages| &stages.judge),
        }
    }
}

/// An answer as a word.
pub(super) fn word(answer: CountsAs) -> &'static str {
    match answer {
        CountsAs::For => "yes",
        CountsAs::Against => "no",
        CountsAs::Open(why) => why_word(why),
    }
}

/// The reason why nobody knows, as a word.
pub(super) fn why_word(why: OpenReason) -> &'static str {
    OpenReason::ALL.iter().find(|(known, ..)| *known == why).map_or("open", |(.., word)| word)
}

/// The rule that pairs runs of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairBy {
    /// By their seed.
    #[default]
    Seed,
    /// In the order of their seeds, whatever these are: the first with the first. Seeds of different runs have nothing in common, so
    /// which of them meet is arbitrary; that they share a task is not.
    Task,
}
