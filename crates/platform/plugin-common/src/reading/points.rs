//! Points that a text leaves open.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Kind of a point that a text leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
    /// The number of things that something holds or carries.
    Capacity,
    /// Which thing belongs to whom.
    Owner,
    /// A condition of an action.
    Precondition,
    /// A rule that covers a part of the cases.
    PartialRule,
    /// An effect that may or may not be undone.
    NotUndone,
    /// An effect that the text does not name.
    UntoldEffect,
    /// A thing that may or may not be used again.
    Reuse,
    /// A connection that may lead one way or both ways.
    BothWays,
    /// A fact at the start.
    Initial,
    /// The number of objects.
    Number,
    /// The kind of things that a rule is about.
    Type,
    /// The thing that a word such as "it" refers to.
    Reference,
    /// A part of the goal.
    Goal,
    /// A condition on the end that the goal does not name.
    EndState,
    /// A wish that may be a demand.
    Wish,
    /// None of these.
    #[serde(other)]
    Other,
}

impl GapKind {
    /// All kinds, in the order of their questions.
    pub const ALL: [Self; 16] = [
        Self::Capacity,
        Self::Owner,
        Self::Precondition,
        Self::PartialRule,
        Self::NotUndone,
        Self::UntoldEffect,
        Self::Reuse,
        Self::BothWays,
        Self::Initial,
        Self::Number,
        Self::Type,
        Self::Reference,
        Self::Goal,
        Self::EndState,
        Self::Wish,
        Self::Other,
    ];

    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Owner => "owner",
            Self::Precondition => "precondition",
            Self::PartialRule => "partial-rule",
            Self::NotUndone => "not-undone",
            Self::UntoldEffect => "untold-effect",
            Self::Reuse => "reuse",
            Self::BothWays => "both-ways",
            Self::Initial => "initial",
            Self::Number => "number",
            Self::Type => "type",
            Self::Reference => "reference",
            Self::Goal => "goal",
            Self::EndState => "end-state",
            Self::Wish => "wish",
            Self::Other => "other",
        }
    }

    /// The kind of that name in any case, with spaces or underscores for hyphens; `Other` for every other text.
    pub fn from_name(name: &str) -> Self {
        let name = name.trim().to_lowercase().replace([' ', '_'], "-");
        Self::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or(Self::Other)
    }
}

impl fmt::Display for GapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Capacity => "capacity",
            Self::Owner => "what belongs to whom",
            Self::Precondition => "a precondition that nobody states",
            Self::PartialRule => "a rule for a part of the cases",
            Self::NotUndone => "an effect that is not undone",
            Self::UntoldEffect => "an effect that is not named",
            Self::Reuse => "use of a thing again",
            Self::BothWays => "a connection in one or both directions",
            Self::Initial => "a fact at the start",
            Self::Number => "the number of objects",
            Self::Type => "the kind of a thing",
            Self::Reference => "the thing that a word refers to",
            Self::Goal => "a part of the goal",
            Self::EndState => "the state at the end",
            Self::Wish => "a wish or a demand",
            Self::Other => "another point",
        })
    }
}

/// A change of a domain and a problem. Texts are PDDL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PointChange {
    /// Types, as `van - vehicle`. A type of an existing name replaces it.
    pub types: Vec<String>,
    /// Declarations, as `(at ?r - robot ?x - room)`. One of an existing name replaces it.
    pub predicates: Vec<String>,
    /// Whole actions. One of an existing name replaces it.
    pub actions: Vec<String>,
    /// Names of actions.
    pub remove_actions: Vec<String>,
    /// Objects, as `b3 - box`. One of an existing name replaces it.
    pub objects: Vec<String>,
    /// Names of objects. Facts about them are removed too.
    pub remove_objects: Vec<String>,
    /// Facts that hold at the start.
    pub add: Vec<String>,
    /// Facts that do not hold at the start.
    pub remove: Vec<String>,
    /// The whole goal.
    pub goal: Option<String>,
}

impl PointChange {
    /// True if nothing is listed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A point that the text leaves open or that the PDDL contradicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Kind of the point.
    pub kind: GapKind,
    /// A question for the author of the text, answered by yes or no.
    pub question: String,
    /// The answer that the PDDL assumes: `no: it carries one box at a time`.
    pub here: String,
    /// The answer of the other reader, in the same form.
    pub otherwise: String,
    /// A quote of the text that gives the other answer: the PDDL is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Steps from the start that show the difference in the words of the question, as the model says: nothing has executed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The change that makes the PDDL of the other reader.
    pub change: PointChange,
}

/// The evidence of `verifier-points`: points of a candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Points {
    /// Points whose change can be made, the most doubtful first.
    pub points: Vec<Point>,
    /// Remarks about the reply: points that cannot be used, and quotes that the text does not have.
    pub remarks: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_by_name() {
        for kind in GapKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(serde_json::from_value::<GapKind>(kind.name().into()).unwrap(), kind);
        }
        assert_eq!(GapKind::from_name("Both Ways"), GapKind::BothWays);
        assert_eq!(GapKind::from_name("weather"), GapKind::Other);
        assert_eq!(serde_json::from_str::<GapKind>("\"weather\"").unwrap(), GapKind::Other);
    }

    #[test]
    fn a_change_has_only_what_it_names() {
        let change: PointChange = serde_json::from_str(r#"{"add": ["(free g)"]}"#).unwrap();
        assert!(!change.is_empty() && change.goal.is_none());
        assert!(serde_json::from_str::<PointChange>("{}").unwrap().is_empty());
    }
}
