//! What the replies of one run came to, counted: by action, by round, and what the exact comparison says beside the heuristic one.

use super::fate::{Fate, Group, Reading};
use planforge_contract::DomainDifference;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Replies by what they came to.
pub type Counts = BTreeMap<Fate, u64>;
/// How many replies have an error of each size.
pub type Histogram = BTreeMap<u64, u64>;

/// The replies for one action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The action.
    pub action: String,
    /// What they came to.
    pub counts: Counts,
    /// Action reconstruction errors, where an action could be read: by reading, and by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<Reading, BTreeMap<Fate, Histogram>>,
}

impl Tally {
    /// Replies.
    pub fn replies(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.counts, &other.counts);
        for (reading, classes) in &other.errors {
            let own = self.errors.entry(*reading).or_default();
            for (fate, histogram) in classes {
                let own = own.entry(*fate).or_default();
                histogram.iter().for_each(|(error, n)| *own.entry(*error).or_default() += n);
            }
        }
    }
}

pub(super) fn add(counts: &mut Counts, other: &Counts) {
    other.iter().for_each(|(fate, n)| *counts.entry(*fate).or_default() += n);
}

/// The replies of a primary class.
pub(super) fn of_group(counts: &Counts, group: Group) -> u64 {
    counts.iter().filter(|(fate, _)| fate.group() == group).map(|(_, n)| n).sum()
}

/// How plans were compared: which rule, and on how much.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// How plans count: `definition` or `reference-code`.
    pub rule: String,
    /// Plans asked for of each problem.
    pub k: u64,
    /// Problems.
    pub problems: u64,
    /// Which ground actions plans are made of.
    pub semantics: String,
}

/// What the exact comparison says of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exact {
    /// The same behaviour over the whole reachable space of the problems.
    Equal,
    /// Another.
    Different,
    /// A limit was reached.
    Undecided,
    /// Nobody asked.
    #[default]
    NotAsked,
}

impl Exact {
    /// All of them.
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

/// Replies of one class by what the exact comparison says of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactCount {
    /// Replies.
    pub replies: u64,
    /// Their action reconstruction errors, by reading.
    pub errors: BTreeMap<Reading, Histogram>,
}

/// A reply that is equivalent by its plans and not known to be equal: what to look at. Replies that are alike are one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    /// The action.
    pub action: String,
    /// What the exact comparison says.
    pub exact: Exact,
    /// The action reconstruction errors, in the order of [`Reading::ALL`].
    pub errors: [Option<u64>; 3],
    /// Where different: the shortest sequence that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// Replies that are alike in all of this.
    pub times: u64,
    /// The path of the first of them in the record.
    pub path: String,
}

impl Suspect {
    pub(super) fn error(&self, reading: Reading) -> Option<u64> {
        self.errors.get(reading.index()).copied().flatten()
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
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
    /// How many.
    pub replies: u64,
}

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellClasses {
    /// The stage that classified.
    pub stage: String,
    /// By action, in the order of the reference domain.
    pub actions: Vec<Tally>,
    /// Samples by what the domain of all their written actions came to; empty where no stage looked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whole: Counts,
    /// How plans were compared. More than one where a run mixes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// The exact comparison beside the class, where the action fits; empty where nobody asked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<Fate, BTreeMap<Exact, ExactCount>>,
    /// Equivalent by plans and not known to be equal: different ones first, then by falling error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<Suspect>,
    /// Suspects beyond those that are listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub suspects_left_out: u64,
    /// For round 0 (as the replies came), 1, ...: by action, what the replies that went into rounds had come to by then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<BTreeMap<String, Counts>>,
    /// From round 0 to the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Samples that broke before they came to the judge, or at it.
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
