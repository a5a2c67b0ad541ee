//! The output of `planforge pddl equivalent domain --json`, and evidence of verifiers of domains.

use planforge_contract::{
    ActionReconstructionError, DomainDifference, HeuristicEquivalence, ReportedDiagnostic,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two domains compared on given problems: by every sequence of ground actions or, with `heuristic`, by their cheapest plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainEquivalentReport {
    /// True only where the domains behave the same over the whole reachable space of every problem. Says nothing of other problems.
    pub equivalent: bool,
    /// equal, different, undecided, or not-comparable: the actions could not be matched.
    pub decision: String,
    /// Reason why the domains are not comparable, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_comparable: Option<String>,
    /// The legal ground actions: `strips` or `ground-no-ops-dropped`.
    pub semantics: String,
    /// If undecided and every problem was compared: all sequences of at most this many steps behave the same
    /// on all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// If different: the place in `problems` (from 0) of the shortest difference; the first of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<usize>,
    /// By problem, in the order given; empty with `heuristic`.
    pub problems: Vec<ComparedProblem>,
    /// The comparison by the cheapest plans, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<HeuristicEquivalence>,
    /// Textual difference of the actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconstruction_error: Option<DomainReconstructionError>,
    /// Renaming of the second domain's actions before the comparison, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<MatchedInterface>,
    /// Errors in the files.
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
    /// If no difference in behaviour was found and the space was not searched completely: all sequences of at
    /// most this many steps behave the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// True if both are the same ground task, so that no search was needed.
    pub same_model: bool,
    /// Pairs of states that were met.
    pub pairs: u64,
    /// The first difference in what is executed or where the goal holds, by length and then by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// The first step that costs something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_difference: Option<DomainCostDifference>,
    /// Reason why it is undecided, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A step that costs something else in the other domain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainCostDifference {
    /// The sequence; its last step is the one.
    pub steps: Vec<String>,
    /// Change of the metric in the first (negated if more is better).
    pub first: f64,
    /// Change of the metric in the second.
    pub second: f64,
}

/// Action reconstruction errors (domain-generators paper, section 3) of the actions of two domains, paired by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainReconstructionError {
    /// The sum, where a variable is the one of the same name: the definition read literally.
    pub by_name: u64,
    /// The sum, where a parameter is the one at the same place: as the paper's code counts.
    pub by_position: u64,
    /// The sum of the least errors over bijections between parameters of the same type; absent where an action has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// By action of the first domain.
    pub actions: Vec<ActionReconstructionError>,
    /// Actions that only the second domain has; each counts with all that it says.
    pub extra: Vec<String>,
}

/// Match of a domain's actions, parameters and types with those of a reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MatchedInterface {
    /// By action of the reference.
    pub actions: Vec<MatchedAction>,
    /// Types that are called otherwise: the reference's name, the other.
    pub types: Vec<[String; 2]>,
    /// The sum of the actions' reconstruction errors under this match.
    pub error: u64,
    /// True if nothing was renamed or reordered.
    pub identity: bool,
    /// True if every pair of parameters has the same type; false only if the domain was taken unchanged.
    pub types_agree: bool,
    /// True if all matches were compared, so that none is better.
    pub exact: bool,
}

/// One action of a reference and the one that stands for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MatchedAction {
    /// The reference's action.
    pub reference: String,
    /// The other domain's.
    pub candidate: String,
    /// By parameter of the reference's action, the place of the other's, from 0.
    pub parameters: Vec<u64>,
    /// The reconstruction error of the two under this match.
    pub error: u64,
}
