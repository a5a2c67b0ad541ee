//! What `planforge equivalent domain --json` prints.

use crate::ReportedDiagnostic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two domains compared on given problems, by every sequence of ground actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainEquivalentReport {
    /// True only where the domains behave the same over the whole reachable space of every problem. Says nothing of other problems.
    pub equivalent: bool,
    /// equal, different or undecided.
    pub decision: String,
    /// Which ground actions are legal: `strips` or `ground-no-ops-dropped`.
    pub semantics: String,
    /// Where undecided and every problem was compared: all sequences of at most this many steps behave the same on all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// Where different: the place in `problems` (from 0) of the shortest difference; the first where several are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<usize>,
    /// By problem, in the order given.
    pub problems: Vec<ComparedProblem>,
    /// What is wrong with the files.
    pub diagnostics: Vec<ReportedDiagnostic>,
}

/// Two domains compared on one problem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ComparedProblem {
    /// The problem's file.
    pub problem: String,
    /// equal (over the whole reachable space), different or undecided.
    pub decision: String,
    /// Where no difference in behaviour was found and not everything was seen: all sequences of at most this many steps behave the
    /// same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// Whether both are the same ground task, so that nothing had to be searched.
    pub same_model: bool,
    /// Pairs of states that were met.
    pub pairs: u64,
    /// The first difference in what is executed or where the goal holds, by length and then by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// The first step that costs something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_difference: Option<DomainCostDifference>,
    /// Where undecided: why, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A sequence of ground actions after which two domains behave differently.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainDifference {
    /// `refused` (one executes the last step, the other does not) or `goal` (it holds afterwards in one alone).
    pub kind: String,
    /// Which domain refuses, or in which the goal does not hold: `first` or `second`.
    pub by: String,
    /// The sequence; a refused step is its last.
    pub steps: Vec<String>,
    /// Why it is refused, or that the goal does not hold, as a clause.
    pub why: String,
    /// The conditions that do not hold there, as PDDL and why.
    pub conditions: Vec<String>,
}

/// A step that costs something else in the other domain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainCostDifference {
    /// The sequence; its last step is the one.
    pub steps: Vec<String>,
    /// What it adds to the metric in the first (negated where more is better).
    pub first: f64,
    /// What it adds in the second.
    pub second: f64,
}
