//! Counts of one run's replies: by class, action and round, with the exact comparison beside the heuristic
//! one.

use super::reply_class::{Group, Reading, ReplyClass};
use planforge_contract::DomainDifference;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Replies by class.
pub type Counts = BTreeMap<ReplyClass, u64>;
/// Numbers of replies by error.
pub type Histogram = BTreeMap<u64, u64>;

/// The replies for one action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub action: String,
    /// Replies by class.
    pub counts: Counts,
    /// Action reconstruction errors, where an action could be read: by reading, and by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<Reading, BTreeMap<ReplyClass, Histogram>>,
    /// Replies that are in another class by the positions of parameters: by class, their classes by position.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub positional: BTreeMap<ReplyClass, Counts>,
}

impl Tally {
    pub fn replies(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Replies by the class that they have with parameters by position, as in the paper.
    pub fn by_position(&self) -> Counts {
        let mut counts = self.counts.clone();
        for (graded, classes) in &self.positional {
            let own = counts.entry(*graded).or_default();
            *own = own.saturating_sub(classes.values().sum());
            add(&mut counts, classes);
        }
        counts.retain(|_, n| *n > 0);
        counts
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.counts, &other.counts);
        for (graded, classes) in &other.positional {
            add(self.positional.entry(*graded).or_default(), classes);
        }
        for (reading, classes) in &other.errors {
            let own = self.errors.entry(*reading).or_default();
            for (fate, histogram) in classes {
                let own = own.entry(*fate).or_default();
                histogram.iter().for_each(|(error, n)| *own.entry(*error).or_default() += n);
            }
        }
    }
}

pub(crate) fn add(counts: &mut Counts, other: &Counts) {
    other.iter().for_each(|(fate, n)| *counts.entry(*fate).or_default() += n);
}

/// The replies of a primary class.
pub(crate) fn of_group(counts: &Counts, group: Group) -> u64 {
    counts.iter().filter(|(fate, _)| fate.group() == group).map(|(_, n)| n).sum()
}

/// The rule and size of a comparison of plans.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ComparisonRule {
    /// The rule: `definition` or `reference-code`.
    pub rule: String,
    /// Plans requested for each problem.
    pub k: u64,
    pub problems: u64,
    /// The ground actions that plans consist of.
    pub semantics: String,
}

/// The result of the exact comparison for a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExactResult {
    /// The same behaviour over the whole reachable space of the problems.
    Equal,
    /// Another.
    Different,
    /// A limit was reached.
    Undecided,
    /// No exact comparison was requested.
    #[default]
    NotAsked,
}

impl ExactResult {
    pub const ALL: [Self; 4] = [Self::Equal, Self::Different, Self::Undecided, Self::NotAsked];

    /// The words of tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::Undecided => "undecided",
            Self::NotAsked => "not asked",
        }
    }
}

/// Replies of one class by the result of the exact comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCount {
    pub replies: u64,
    /// Their action reconstruction errors, by reading.
    pub errors: BTreeMap<Reading, Histogram>,
}

/// A reply that is equivalent by its plans and not known to be equal. Identical replies are one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    pub action: String,
    /// The result of the exact comparison.
    pub exact: ExactResult,
    /// The action reconstruction errors, in the order of [`Reading::ALL`].
    pub errors: [Option<u64>; 3],
    /// For a different one: the shortest sequence that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// Replies that are alike in all of this.
    pub times: u64,
    /// The path of the first of them in the record.
    pub path: String,
}

impl Suspect {
    pub(crate) fn error(&self, reading: Reading) -> Option<u64> {
        self.errors.get(reading.index()).copied().flatten()
    }

    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.action, self.exact, self.errors, &self.difference)
            == (&other.action, other.exact, other.errors, &other.difference)
    }
}

/// Replies whose class changed from the first round to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The primary class as the reply came.
    pub from: Group,
    /// The primary class after the last round.
    pub to: Group,
    /// Number of replies.
    pub replies: u64,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellClasses {
    /// The stage that classified.
    pub stage: String,
    /// By action, in the order of the reference domain.
    pub actions: Vec<Tally>,
    /// Samples by the class of the domain with all their actions; empty if no stage classified it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole: Counts,
    /// The rules of comparison. More than one if the run mixes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<ComparisonRule>,
    /// The exact comparison beside the class, for actions that fit; empty if it was not requested.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<ReplyClass, BTreeMap<ExactResult, ExactCount>>,
    /// Equivalent by plans and not known to be equal: different ones first, then by falling error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Suspect>,
    /// Suspects beyond those that are listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suspects_left_out: u64,
    /// For round 0 (the first replies), 1, ...: by action, the classes of the replies that went into rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<BTreeMap<String, Counts>>,
    /// From round 0 to the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Samples that failed before the judge or at it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_samples: u64,
    /// Samples that came and were not classified.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged_samples: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
