//! Result classes (domain-generators paper, section 3): what became of actions that a model was asked to write. The evidence of
//! `verifier-classes`, which evaluations read.

use super::domains::{ActionReconstructionError, DomainDifference, HeuristicEquivalence};
use crate::ReportedDiagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A candidate's actions by class, each in an otherwise true domain, and the domain of all of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResultClasses {
    /// Problems that behaviour was judged on; 0 where it was not looked at.
    pub problems: u64,
    /// By action of the reference domain that was asked for, in its order.
    pub actions: Vec<Classification>,
    /// The domain in which every action that was asked for is the written one; absent where that was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<Classification>,
}

/// What was found out about one action, or about a domain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Classification {
    /// The action's name as the reference has it; of a domain the domain's.
    pub name: String,
    /// The class as Table 1 calls it: `NoPDDL`, `PError`, `UToken`, `TError`, `PAError`, `NError`, `BPError`, `NoPlan`, `NPApp`, `OPApp`,
    /// `Equivalent`; or `Undecided`, or `Fits` where it fits the domain and behaviour was not looked at.
    pub class: String,
    /// The primary class: `syntax error`, `semantic error`, `different domain`, `equivalent`, `undecided` or `fits`.
    pub group: String,
    /// Everything found wrong, the finding that decides the class first; places are in the action's text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Where undecided: why, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How plans compare, where the behaviour was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<HeuristicEquivalence>,
    /// What is not shared with the reference, where the action can be read; of a domain the sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction_error: Option<ActionReconstructionError>,
    /// The exact comparison on the same problems, where that was asked for and the action fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<ExactAnswer>,
}

/// The exact comparison in short.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExactAnswer {
    /// equal (over the whole reachable space of the problems), different or undecided.
    pub decision: String,
    /// Where undecided: all sequences of at most this many steps behave the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// Where different: the problem's place in the list, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<u64>,
    /// Where different: the shortest sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// Pairs of states that were met, over all problems.
    pub pairs: u64,
}
