//! The class of a reply: a row of Table 1, or the reason why it has none.

use planforge_planning::result_class::{ResultClass, ResultGroup};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
