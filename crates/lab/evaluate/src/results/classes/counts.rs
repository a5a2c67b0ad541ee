//! Classes of replies, and counts of them.

use planforge_contract::DomainDifference;
use planforge_planning::result_class::{ResultClass, ResultGroup};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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

/// The class of one reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReplyClass {
    /// A class of the paper, or undecided.
    Class(ResultClass),
    /// It fits the domain; its behaviour was not compared.
    Fits,
    /// It never came, or the judging call failed: its class is unknown.
    Failed,
    /// It came, and no stage classified it: a selection dropped it, or the run has not reached it.
    NotJudged,
}

/// The groups of figures and sums: the paper's primary classes, and the groups outside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The reply cannot be read.
    Syntax,
    /// It can be read and does not fit the domain.
    Semantic,
    /// It fits and behaves differently.
    Different,
    /// It behaves the same as far as it was compared.
    Equivalent,
    /// It fits; its behaviour was not compared.
    Fits,
    /// A limit was reached before a decision.
    Undecided,
    /// No reply, no judgement.
    Failed,
}

impl ReplyClass {
    /// All, in the order of Table 1, followed by what the paper has no row for.
    pub const ALL: [Self; 15] = [
        Self::Class(ResultClass::NoPddl),
        Self::Class(ResultClass::PError),
        Self::Class(ResultClass::UToken),
        Self::Class(ResultClass::PAError),
        Self::Class(ResultClass::NError),
        Self::Class(ResultClass::TError),
        Self::Class(ResultClass::BPError),
        Self::Class(ResultClass::NoPlan),
        Self::Class(ResultClass::NPApp),
        Self::Class(ResultClass::OPApp),
        Self::Class(ResultClass::Equivalent),
        Self::Fits,
        Self::Class(ResultClass::Undecided),
        Self::Failed,
        Self::NotJudged,
    ];

    /// The word of the evidence, and of tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class(class) => class.name(),
            Self::Fits => "Fits",
            Self::Failed => "Failed",
            Self::NotJudged => "NotJudged",
        }
    }

    /// The class with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fate| fate.name() == name)
    }

    /// The primary class.
    pub const fn group(self) -> Group {
        match self {
            Self::Class(class) => match class.group() {
                ResultGroup::Syntax => Group::Syntax,
                ResultGroup::Semantic => Group::Semantic,
                ResultGroup::Different => Group::Different,
                ResultGroup::Equivalent => Group::Equivalent,
                ResultGroup::Undecided => Group::Undecided,
            },
            Self::Fits => Group::Fits,
            Self::Failed | Self::NotJudged => Group::Failed,
        }
    }

    /// Those of a primary class, in the order of the table.
    pub fn members(group: Group) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |fate| fate.group() == group)
    }
}

impl Group {
    /// All, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Syntax,
        Self::Semantic,
        Self::Different,
        Self::Equivalent,
        Self::Fits,
        Self::Undecided,
        Self::Failed,
    ];

    /// The words of legends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax error",
            Self::Semantic => "semantic error",
            Self::Different => "different domain",
            Self::Equivalent => "equivalent",
            Self::Fits => "fits, behaviour not looked at",
            Self::Undecided => "undecided",
            Self::Failed => "no reply or no judgement",
        }
    }

    /// The row of Table 1.
    pub const fn row(self) -> &'static str {
        match self {
            Self::Syntax => "Syntax",
            Self::Semantic => "Semantics",
            Self::Different => "Diff",
            Self::Equivalent => "Equiv",
            Self::Fits => "Fits",
            Self::Undecided => "Undecided",
            Self::Failed => "NoClass",
        }
    }
}

impl Serialize for ReplyClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ReplyClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of(&name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is not a result class")))
    }
}

/// The kind of action reconstruction error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// A variable is the one of the same name: the paper's definition read literally.
    ByName,
    /// A parameter is the one at the same place, as the paper's code counts: the default, for its Fig. 5 was made so.
    #[default]
    ByPosition,
    /// The least over bijections between parameters of the same type.
    Least,
}

impl Reading {
    pub const ALL: [Self; 3] = [Self::ByName, Self::ByPosition, Self::Least];

    /// The words of tables and figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ByName => "by variable name",
            Self::ByPosition => "by parameter position",
            Self::Least => "least over type-respecting bijections of parameters",
        }
    }

    /// The place of its figure among three.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::ByName => 0,
            Self::ByPosition => 1,
            Self::Least => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_class_has_one_row_and_parses_from_its_name() {
        for class in ResultClass::ALL {
            let rows = ReplyClass::ALL.into_iter().filter(|fate| *fate == ReplyClass::Class(class)).count();
            assert_eq!((rows, ReplyClass::of(class.name())), (1, Some(ReplyClass::Class(class))));
        }
        let grouped: usize = Group::ALL.into_iter().map(|group| ReplyClass::members(group).count()).sum();
        assert_eq!(grouped, ReplyClass::ALL.len());
        assert_eq!(ReplyClass::of("Wrong"), None);
        let text = serde_json::to_string(&ReplyClass::ALL).unwrap();
        assert_eq!(serde_json::from_str::<Vec<ReplyClass>>(&text).unwrap(), ReplyClass::ALL);
    }
}
