//! Result classes (domain-generators paper, section 3): what became of actions that a model was asked to write. The evidence of
//! `verifier-classes`, which evaluations read.

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

/// Result for one action, or for a domain.
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
    /// The class with parameters by position, as in the paper, if it is another: `class` is up to a typed bijection of the parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positional: Option<String>,
    /// The order of the comparison, if it is not the written one: by parameter of the reference, the place of the written action's, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<u64>>,
    /// Everything found wrong, the finding that decides the class first; places are in the action's text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<ReportedDiagnostic>,
    /// Reason why it is undecided, as a clause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Comparison of plans, if behaviour was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heuristic: Option<HeuristicEquivalence>,
    /// Difference from the reference, if the action can be read; for a domain, the sums.
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
    /// If undecided: all sequences of at most this many steps behave the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equal_up_to: Option<u32>,
    /// If different: the problem's place in the list, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<u64>,
    /// If different: the shortest sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<DomainDifference>,
    /// Pairs of states that were met, over all problems.
    pub pairs: u64,
}

/// A sequence of ground actions after which two domains behave differently.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DomainDifference {
    /// `refused` (one executes the last step, the other does not) or `goal` (it holds afterwards in one alone).
    pub kind: String,
    /// The domain that refuses, or in which the goal does not hold: `first` or `second`.
    pub by: String,
    /// The sequence; a refused step is its last.
    pub steps: Vec<String>,
    /// Reason for the refusal, or that the goal does not hold, as a clause.
    pub why: String,
    /// The conditions that do not hold there, as PDDL and why.
    pub conditions: Vec<String>,
}

/// Heuristic domain equivalence (domain-generators paper, section 3): plans of either domain executed in the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeuristicEquivalence {
    /// equivalent, different or undecided.
    pub decision: String,
    /// Plans asked for of each problem.
    pub k: u64,
    /// Rule for counting plans: `definition` or `reference-code`.
    pub rule: String,
    /// Ground actions that plans are made of: `strips` or `ground-no-ops-dropped`. They are executed under
    /// STRIPS semantics.
    pub semantics: String,
    /// By problem, the plans found in the first domain and in the second; it ends with the problem that shows a difference.
    pub plans: Vec<[u64; 2]>,
    /// Plans of one domain that are plans of the other too.
    pub shared: u64,
    /// If different: the paper's class, `no-plan`, `new-plan-fails` or `old-plan-fails`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// If different or undecided: the problem's place in the list, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<u64>,
    /// The failing plan, if a plan fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_plan: Option<FailingDomainPlan>,
    /// Reason as a clause: there is no plan, the numbers of plans differ, or the limit that left it
    /// open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A plan of one domain that is none of the other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FailingDomainPlan {
    /// In which domain it is a plan: `first` or `second`.
    pub plan_of: String,
    /// Its place among the plans of that domain, from 0: the cheapest first.
    pub rank: u64,
    /// Its steps.
    pub steps: Vec<String>,
    /// The step that the other domain refuses, from 0; absent where it executes all and the goal does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_step: Option<u64>,
    /// Reason, as a clause.
    pub why: String,
    /// The conditions that do not hold there, as PDDL and why.
    pub conditions: Vec<String>,
}

/// One action's error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ActionReconstructionError {
    /// The action.
    pub action: String,
    /// By names of variables; absent where the second domain has no such action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_name: Option<u64>,
    /// By positions of parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_position: Option<u64>,
    /// The least over bijections between parameters of the same type; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
}
